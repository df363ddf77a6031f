// What a relay signs, and how it is refused by whoever has another time.
import { mailgunEvent, signAs } from '../feedback/told.ts';
import type { Told } from './client.ts';

/** What Mailgun's webhooks are signed with, in every project here. */
export const SIGNING_KEY = 'the-signing-key-of-the-harness';
const MS_PER_SECOND = 1_000;
const TIMEOUT_MS = 15_000;

const EVENTS: Record<string, object> = {
  bounce: {
    event: 'failed',
    severity: 'permanent',
    reason: 'bounce',
    'delivery-status': { code: 550, message: '5.1.1 unknown' },
  },
  complaint: { event: 'complained' },
  delivered: { event: 'delivered' },
};

/** A post of Mailgun's about somebody, signed now. */
export const signedNotice = (said: string, recipient: string): object => ({
  signature: signAs(SIGNING_KEY),
  'event-data': mailgunEvent({
    ...EVENTS[said],
    recipient,
    timestamp: Date.now() / MS_PER_SECOND,
    message: { headers: { 'message-id': `${crypto.randomUUID()}@mail.shop.test`, to: recipient } },
  }),
});

/** Whether a signed post was refused for its time, and that was said. */
export const isStale = ({ status, body }: Pick<Told, 'status' | 'body'>): boolean =>
  status === 401 &&
  body['error'] === 'invalid_signature' &&
  String(body['detail']).includes('clock');

/** Posts it to one process, once. */
export const postSigned = async (
  port: number,
  projectId: string,
  notice: object,
): Promise<Pick<Told, 'status' | 'body'>> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/webhooks/mailgun/${projectId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(notice),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: response.status, body: (await response.json()) as Told['body'] };
};
