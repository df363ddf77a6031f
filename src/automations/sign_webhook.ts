import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

const signatureOf = (secret: string, content: string): string => {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
};

/**
 * The headers by which whoever is told can prove that we said it: the Standard Webhooks scheme, version v1. One
 * signature for each secret, so that a receiver needs one of them.
 */
export const signWebhook = (
  secrets: readonly string[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const content = `${id}.${timestamp}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signatureOf(secret, content)).join(' '),
  };
};
