// How somebody says something about an address: with a server key, or as a relay.
import type { Asked, Told } from './client.ts';
import type { Said } from './journal.ts';
import { isStale, signedNotice } from './signed.ts';
import type { Within } from './story.ts';

const SIGNED_CHANCE = 0.5;

/** How somebody with a server key says what about an address; the rest is what relays tell. */
export const BY_HAND: Partial<Record<Said, (email: string) => [path: string, body: object]>> = {
  suppress: (email) => ['/v1/suppressions', { email, note: 'harness' }],
  lift: (email) => [`/v1/suppressions/${encodeURIComponent(email)}/lift`, { reason: 'harness' }],
  unsubscribe: (email) => ['/v1/unsubscribes', { email, note: 'harness' }],
  resubscribe: (email) => [`/v1/unsubscribes/${encodeURIComponent(email)}/resubscribe`, {}],
};

type Notice = { said: Said; email: string; isSigned: boolean };

/** What a relay posts of an address: with the project's token, or signed. */
export const hookOf = (
  { project, random, isClockOff }: Pick<Within, 'project' | 'random' | 'isClockOff'>,
  { said, email, isSigned }: Notice,
): Asked => {
  const { project_id: projectId, hook_token: token } = project;
  if (isSigned || random.isLucky(SIGNED_CHANCE)) {
    const isAgain = (told: Pick<Told, 'status' | 'body'>) => isClockOff() && isStale(told);
    const path = `/v1/webhooks/mailgun/${projectId}`;
    return { kind: `${said}, signed`, path, body: signedNotice(said, email), isAgain };
  }
  const body = {
    event: said,
    ...(said === 'bounce' ? { bounce_type: 'hard' } : {}),
    recipient: email,
    event_id: crypto.randomUUID(),
  };
  return { kind: said, path: `/v1/webhooks/smtp/${projectId}`, token, body };
};
