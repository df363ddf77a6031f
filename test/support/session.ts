// Tests write a session as one text, like programs do: `trunkline_session=<token>.<proof>`.
import { inHalves } from '../../src/admin/cookie_names.ts';

export { inHalves };

/** Returns headers with each session in them split into its halves. */
export const withHalves = <T extends object>(headers: T): T => {
  const { cookie } = headers as { cookie?: unknown };
  return typeof cookie === 'string' ? { ...headers, ...inHalves(cookie) } : headers;
};

type Opened = { result: { data: { proof: string } } };

/** Returns the session that an answer opened, from its cookie and its body. */
export const sessionOf = (setCookie: readonly string[], body: unknown): string => {
  const cookie = setCookie.find((line) => line.includes('_session='))?.split(';')[0] ?? '';
  return `${cookie}.${(body as Opened).result.data.proof}`;
};
