import type { Presented } from './notice.ts';

const BEARER = /^Bearer +(\S+) *$/i;
const BASIC = /^Basic +([A-Za-z0-9+/=]+) *$/i;

const basicPassword = (encoded: string): string => {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
};

/**
 * The project's webhook token: Bearer, Basic password, X-Webhook-Token, or as a last resort ?token=
 * (providers that can only be given a URL; it is kept out of the logs).
 */
export const readHookToken = ({ headers, query }: Presented): string | null => {
  const authorization = headers.authorization ?? '';
  const [, bearer] = BEARER.exec(authorization) ?? [];
  if (bearer) return bearer;
  const [, basic] = BASIC.exec(authorization) ?? [];
  if (basic) return basicPassword(basic);
  const header = headers['x-webhook-token'];
  return typeof header === 'string' ? header : query.get('token');
};
