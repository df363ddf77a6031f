import type { Scope } from '../base/db.ts';
import { normaliseEmail } from '../base/email_address.ts';
import * as delivery from '../delivery/delivery.ts';
import type { SentTo } from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Observed } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';
import { aboutOf, observedOf } from './on_timeline.ts';
import { meaning } from './notice.ts';
import { insertNotice, isKnown, wasToldBounce } from './queries.ts';
import type { NoticeRow } from './queries.ts';
import { handOffOf, isOfHandOff, saidBy, toldTwiceBy } from './teller.ts';
import { countsAsSoft, judgeSoftBounces } from './soft_bounces.ts';

export { eraser } from './erase.ts';
export { noticeSection } from './export.ts';
export { observeUnsubscribed } from './on_timeline.ts';
export { forgetPosts, POSTS_KEPT_HOURS } from './posts.ts';

export type Recorded = { accepted: number; duplicates: number; ignored: number };

/** Kinds that are kept and change nothing, unless the provider's own list says something of the address. */
const KEPT_ONLY: readonly Notice['kind'][] = [
  'accepted',
  'deferred',
  'rejected',
  'failed',
  'not_spam',
  'unknown',
];

const changesNothing = ({ kind, suppresses, isTest }: Notice): boolean =>
  isTest || (suppresses === null && KEPT_ONLY.includes(kind));

/** Whether a notice may change why an address is left alone, and with it the tags of its people. */
const concernsAddress = (notice: Notice): boolean =>
  !changesNothing(notice) &&
  (notice.suppresses !== null ||
    notice.kind === 'unsubscribed' ||
    notice.kind === 'resubscribed' ||
    countsAsSoft(notice));

const findSend = async (scope: Scope, notice: Notice, addressKey: Buffer) => {
  const ours = notice.messageIds.map(delivery.readMessageId).find((read) => read !== null);
  const send = await delivery.findSentTo(scope, {
    sendId: notice.sendId ?? ours?.sendId ?? null,
    messageIds: notice.messageIds,
    addressKey,
    occurredAt: notice.occurredAt,
  });
  // A notice about another address than the send's was forwarded, or is not about that send. An erased
  // send does not say whom it was for.
  const isOfSend = send !== null && (send.address_key?.equals(addressKey) ?? true);
  return isOfSend ? send : null;
};

/**
 * What a notice is known by: its provider's own id may name the person, so a keyed hash of it is kept,
 * which also outlives them.
 */
const dedupeKeyOf = ({ keys, projectId }: Scope, source: string, { dedupeKey }: Notice): string =>
  keys.hash('notice-dedupe', `${projectId} ${source} ${dedupeKey}`).toString('base64url');

/** The fact that a notice is of its send. Whatever a provider tells of a message by its id, it has the message. */
const factOf = ({ kind, isTest }: Notice, send: SentTo): delivery.Fact | null => {
  if (isTest || kind === 'unknown') return null;
  if (kind === 'delivered' || kind === 'bounced' || kind === 'complained') return kind;
  return send.isById ? 'taken' : null;
};

type Told = { source: string; notice: Notice; send: SentTo | null };

/** What follows from a notice that is new. */
const takeEffect = async (scope: Scope, { source, notice, send }: Told): Promise<void> => {
  const { email, kind, suppresses, occurredAt } = notice;
  // As addresses are compared: which of several spellings came last does not matter.
  const said = { email: normaliseEmail(email), source: saidBy(source, notice), at: occurredAt };
  if (suppresses && !changesNothing(notice))
    await suppression.suppress(scope, { ...said, reason: suppresses });
  if (kind === 'unsubscribed' && !notice.isTest) await suppression.unsubscribe(scope, said);
  if (kind === 'resubscribed' && !notice.isTest) await suppression.resubscribe(scope, said);
  const fact = send && factOf(notice, send);
  // What was refused was not taken: no proof of anything but itself.
  if (send && isOfHandOff(source)) await delivery.noteRefused(scope, send.send_id, occurredAt);
  else if (send && fact) await delivery.recordFact(scope, send.send_id, fact, occurredAt);
};

/** What was said while the message was handed over, and is told by a webhook too, happened once. */
const isOnTimeline = (scope: Scope, { source, notice, send }: Told, row: NoticeRow) =>
  send !== null && notice.kind === 'bounced'
    ? wasToldBounce(scope, { ...row, source, sendId: send.send_id }, toldTwiceBy(source))
    : Promise.resolve(false);

type Outcome = { outcome: keyof Recorded; observed: Observed[] };

const recordOne = async (scope: Scope, source: string, notice: Notice): Promise<Outcome> => {
  const dedupeKey = dedupeKeyOf(scope, source, notice);
  if (await isKnown(scope, source, dedupeKey)) return { outcome: 'duplicates', observed: [] };

  const addressKey = suppression.addressKey(scope, notice.email);
  const send = await findSend(scope, notice, addressKey);
  const isErased = await suppression.holdAddress(scope, addressKey);
  const told = isErased ? { ...notice, addressKey: null, reason: null } : { ...notice, addressKey };
  const row = { ...told, dedupeKey, source, sendId: send?.send_id ?? null };
  if (!(await insertNotice(scope, row))) return { outcome: 'duplicates', observed: [] };

  await takeEffect(scope, { source, notice, send });
  if (changesNothing(notice)) return { outcome: 'ignored', observed: [] };
  if (isErased) return { outcome: 'accepted', observed: [] };
  if (await isOnTimeline(scope, { source, notice, send }, row))
    return { outcome: 'accepted', observed: [] };
  if (countsAsSoft(notice)) await judgeSoftBounces(scope, normaliseEmail(notice.email));
  return { outcome: 'accepted', observed: await observedOf(scope, source, notice, aboutOf(send)) };
};

const lockKey = ({ email, dedupeKey }: Notice): string => `${email.toLowerCase()} ${dedupeKey}`;

/**
 * Keeps notices and does what they call for, in the transaction of `scope`: both or neither. All people whom they
 * may concern are locked first, then all addresses, each kind in its own order: so does whoever hands over mail.
 * What else is to be written in that transaction, `onceHeld` writes.
 */
export const record = async (
  scope: Scope,
  source: string,
  notices: readonly Notice[],
  onceHeld: (scope: Scope) => Promise<void> = () => Promise.resolve(),
): Promise<Recorded> => {
  const recorded: Recorded = { accepted: 0, duplicates: 0, ignored: 0 };
  const inLockOrder = notices.toSorted((a, b) => (lockKey(a) < lockKey(b) ? -1 : 1));
  const observed: Observed[] = [];
  const concerned = inLockOrder.filter(concernsAddress).map(({ email }) => email);
  await profiles.changeAddresses(scope, [...new Set(concerned)], async (inner) => {
    const keys = inLockOrder.map(({ email }) => suppression.addressKey(inner, email));
    await suppression.holdAddresses(inner, keys);
    await onceHeld(inner);
    for (const notice of inLockOrder) {
      const one = await recordOne(inner, source, notice);
      recorded[one.outcome] += 1;
      observed.push(...one.observed);
    }
  });
  await ingest.observe(scope, observed);
  return recorded;
};

/**
 * A bounce that was said while the message was handed over: as good as one that a webhook tells. It counts from
 * when that hand-off began: what somebody lifts while it goes on stays lifted.
 */
export const takeBounce: delivery.TakeBounce = async (scope, bounce, writeOutcome) => {
  const { sendId, attempt, email, provider, type, codes } = bounce;
  const occurredAt = await delivery.getBegunAt(scope, sendId, attempt);
  const notice: Notice = {
    ...meaning('bounced', type),
    email,
    occurredAt,
    sendId,
    messageIds: [],
    reason: codes,
    isTest: false,
    dedupeKey: `${sendId} ${attempt}`,
  };
  await record(scope, handOffOf(provider), [notice], writeOutcome);
};
