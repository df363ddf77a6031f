import type { Scope } from '../base/db.ts';
import { normaliseEmail } from '../base/email_address.ts';
import * as delivery from '../delivery/delivery.ts';
import type { SentTo } from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Observed } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as suppression from '../suppression/suppression.ts';
import type { ReadNotice } from './dialects/dialect.ts';
import type { Notice } from './notice.ts';
import { aboutOf, observedOf } from './on_timeline.ts';
import { meaning } from './notice.ts';
import { addRecipients } from './recipients.ts';
import { withinBounds } from './engagement.ts';
import { separateForeign } from './foreign.ts';
import { keepForeign, keepNew } from './keep.ts';
import type { Told } from './keep.ts';
import { listToldTwice } from './queries.ts';
import { handOffOf, isOfHandOff, saidBy, toldTwiceBy } from './teller.ts';
import { countsAsSoft, judgeSoftBounces } from './soft_bounces.ts';

export type Recorded = { accepted: number; duplicates: number; ignored: number };

/** Kinds that are kept and change nothing, unless the provider's own list says something of the address. */
const KEPT_ONLY: readonly Notice['kind'][] = [
  'accepted',
  'deferred',
  'rejected',
  'failed',
  'not_spam',
  'auto_reply',
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

/**
 * Returns the fact that an event is of its send. A soft bounce may be followed by a delivery, any other bounce is
 * final. Whatever a provider reports about a message by its id, it has the message.
 */
const factOf = ({ kind, bounceType, isTest }: Notice, send: SentTo): delivery.Fact | null => {
  if (isTest || kind === 'unknown') return null;
  if (kind === 'bounced') return bounceType === 'soft' ? 'soft_bounced' : 'bounced';
  if (kind === 'delivered' || kind === 'complained') return kind;
  if (!send.isById) return null;
  return kind === 'opened' || kind === 'clicked' ? kind : 'taken';
};

/** What follows from notices that are new, whatever stands on timelines. */
const takeEffect = async (scope: Scope, source: string, told: readonly Told[]): Promise<void> => {
  const inEarnest = told.filter(({ notice }) => !notice.isTest);
  // As addresses are compared: which of several spellings came last does not matter.
  const saidIn = ({ notice }: Told) => ({
    email: normaliseEmail(notice.email),
    source: saidBy(source, notice),
    at: notice.occurredAt,
  });
  await suppression.suppressAll(
    scope,
    inEarnest.flatMap((one) =>
      one.notice.suppresses ? [{ ...saidIn(one), reason: one.notice.suppresses }] : [],
    ),
  );
  await suppression.changeSubscriptionsOf(
    scope,
    inEarnest.flatMap((one) => {
      const { kind } = one.notice;
      const isSaid = kind === 'unsubscribed' || kind === 'resubscribed';
      return isSaid ? [{ ...saidIn(one), change: kind }] : [];
    }),
  );
  const facts = told.flatMap(({ notice, send }) => {
    const { occurredAt } = notice;
    const fact = send && factOf(notice, send);
    return send ? [{ sendId: send.send_id, fact, occurredAt }] : [];
  });
  if (!isOfHandOff(source))
    return delivery.recordFacts(
      scope,
      facts.flatMap(({ fact, ...one }) => (fact ? [{ ...one, fact }] : [])),
    );
  // What was refused was not taken: no proof of anything but itself.
  await delivery.recordRefused(scope, facts);
};

/** Leaves out bounces that another source reported, too: the hand-off and a webhook report one bounce. */
const withoutToldTwice = async (scope: Scope, source: string, told: readonly Told[]) => {
  const bounces = told.filter(({ notice, send }) => send !== null && notice.kind === 'bounced');
  if (bounces.length === 0) return told;
  const rows = bounces.map(({ row }) => row);
  const twice = await listToldTwice(scope, rows, toldTwiceBy(source));
  const keys = new Set(twice.map(({ dedupe_key }) => dedupe_key));
  return told.filter(({ row }) => !keys.has(row.dedupeKey));
};

type Taken = { recorded: Recorded; observed: Observed[] };

/**
 * Keeps notices about addresses that are held: as many statements for all of them as for one, but for what
 * soft bounces come to, which is judged by fifties. Which send each is about is found before any of them has an effect.
 */
const takeAll = async (
  scope: Scope,
  source: string,
  notices: readonly Notice[],
): Promise<Taken> => {
  const told = await keepNew(scope, source, notices);
  await takeEffect(scope, source, told);
  const accepted = told.filter(({ notice }) => !changesNothing(notice));
  const living = accepted.filter(({ row }) => row.addressKey !== null);
  const fresh = await withinBounds(scope, await withoutToldTwice(scope, source, living));
  const counted = fresh.filter(({ notice }) => countsAsSoft(notice));
  await judgeSoftBounces(
    scope,
    counted.map(({ notice }) => normaliseEmail(notice.email)),
  );
  return {
    recorded: {
      accepted: accepted.length,
      duplicates: notices.length - told.length,
      ignored: told.length - accepted.length,
    },
    observed: await observedOf(
      scope,
      source,
      fresh
        .filter(({ notice }) => notice.isRepeat !== true)
        .map(({ notice, send }) => ({ notice, about: aboutOf(send) })),
    ),
  };
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
  notices: readonly ReadNotice[],
  onceHeld: (scope: Scope) => Promise<void> = () => Promise.resolve(),
): Promise<Recorded> => {
  const { addressed, unaddressed } = await addRecipients(scope, notices);
  const { own, foreign } = await separateForeign(scope, source, addressed);
  const inLockOrder = own.toSorted((a, b) => (lockKey(a) < lockKey(b) ? -1 : 1));
  const concerned = inLockOrder.filter(concernsAddress).map(({ email }) => email);
  const { recorded, observed } = await profiles.changeAddresses(
    scope,
    [...new Set(concerned)],
    async (inner) => {
      const keys = inLockOrder.map(({ email }) => suppression.addressKey(inner, email));
      await suppression.holdAddresses(inner, keys);
      await onceHeld(inner);
      return takeAll(inner, source, inLockOrder);
    },
  );
  await ingest.observe(scope, observed);
  const { duplicates, ignored } = await keepForeign(scope, source, [...foreign, ...unaddressed]);
  return {
    accepted: recorded.accepted,
    duplicates: recorded.duplicates + duplicates,
    ignored: recorded.ignored + ignored,
  };
};

/**
 * Records a bounce that the provider reported during the hand-off, as if a webhook had reported it. It counts from the
 * start of that hand-off, so a suppression that a person lifts meanwhile stays lifted.
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
