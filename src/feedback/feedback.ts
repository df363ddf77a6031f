import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import * as suppression from '../suppression/suppression.ts';
import type { SuppressionReason } from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';
import { insertNotice, isKnown } from './queries.ts';

export { eraser } from './erase.ts';
export { noticeSection } from './export.ts';

export type Recorded = { accepted: number; duplicates: number; ignored: number };

type Effect = {
  fact: 'delivered' | 'bounced' | 'complained';
  suppress: { reason: SuppressionReason; tag: string } | null;
};

/** What a notice does to its send, its address and its person; null for those that are only kept. */
const effectOf = ({ kind, bounceType }: Notice): Effect | null => {
  switch (kind) {
    case 'delivered':
      return { fact: 'delivered', suppress: null };
    case 'bounced': {
      const isHard = bounceType === 'hard';
      return {
        fact: 'bounced',
        suppress: isHard ? { reason: 'hard_bounce', tag: 'hard_bounced' } : null,
      };
    }
    case 'complained':
      return { fact: 'complained', suppress: { reason: 'complaint', tag: 'complained' } };
    default:
      return null;
  }
};

const findSend = (scope: Scope, notice: Notice, addressKey: Buffer) => {
  const ours = notice.messageId === null ? null : delivery.readMessageId(notice.messageId);
  return delivery.findSentTo(scope, {
    sendId: notice.sendId ?? ours?.sendId ?? null,
    messageId: notice.messageId,
    addressKey,
    occurredAt: notice.occurredAt,
  });
};

/**
 * What a notice is known by: its provider's own id may name the person, so a keyed hash of it is kept,
 * which also outlives them.
 */
const dedupeKeyOf = ({ keys, projectId }: Scope, source: string, { dedupeKey }: Notice): string =>
  keys.hash('notice-dedupe', `${projectId} ${source} ${dedupeKey}`).toString('base64url');

const recordOne = async (scope: Scope, source: string, notice: Notice): Promise<keyof Recorded> => {
  const dedupeKey = dedupeKeyOf(scope, source, notice);
  if (await isKnown(scope, source, dedupeKey)) return 'duplicates';

  const addressKey = suppression.addressKey(scope, notice.email);
  const send = await findSend(scope, notice, addressKey);
  // A notice about another address than the send's was forwarded, or is not about that send. An erased
  // send does not say whom it was for.
  const isOfSend = send !== null && (send.address_key?.equals(addressKey) ?? true);
  const sendId = isOfSend ? send.send_id : null;

  const effect = effectOf(notice);
  // People before addresses, as everywhere: db/README.md has the order.
  if (effect?.suppress) await profiles.tagAddress(scope, notice.email, effect.suppress.tag);
  const isErased = await suppression.holdAddress(scope, addressKey);
  const told = isErased ? { ...notice, addressKey: null, reason: null } : { ...notice, addressKey };
  if (!(await insertNotice(scope, { ...told, dedupeKey, source, sendId }))) return 'duplicates';

  if (!effect) return 'ignored';
  if (effect.suppress) {
    const { reason } = effect.suppress;
    await suppression.suppress(scope, { email: notice.email, reason, source: `webhook/${source}` });
  }
  if (sendId) await delivery.recordFact(scope, sendId, effect.fact, notice.occurredAt);
  return 'accepted';
};

const lockKey = ({ email, dedupeKey }: Notice): string => `${email.toLowerCase()} ${dedupeKey}`;

/**
 * Keeps notices and does what they call for, in the transaction of `scope`: both or neither.
 * Taken in the order of their addresses and keys, so that two webhooks cannot deadlock.
 */
export const record = async (
  scope: Scope,
  source: string,
  notices: Notice[],
): Promise<Recorded> => {
  const recorded: Recorded = { accepted: 0, duplicates: 0, ignored: 0 };
  const inLockOrder = notices.toSorted((a, b) => (lockKey(a) < lockKey(b) ? -1 : 1));
  for (const notice of inLockOrder) recorded[await recordOne(scope, source, notice)] += 1;
  return recorded;
};
