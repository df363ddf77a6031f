import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import type { SentRow } from './explain_queries.ts';
import { isDecided } from './decisions.ts';
import type { Decided } from './decisions.ts';
import { limitedAs } from './explanation.ts';
import { findOtherSpelling } from './other_spelling.ts';
import type { OtherSpelling } from './other_spelling.ts';
import { heldAs } from './send_explanation.ts';

const UNSUBSCRIBED = 'unsubscribed';

/** How a send stands, why and what to do about it, and whether another spelling of its mailbox stops it. */
type Stand = {
  decision: Decided;
  detail: Record<string, string>;
  other: OtherSpelling | null;
};

/** Returns why a send stands so and what to do about it, as far as there is anything to say. */
const toDetail = (told: Record<'reason' | 'fix', string | null> & { answer?: string | null }) =>
  Object.fromEntries(
    Object.entries(told).filter((one): one is [string, string] => (one[1] ?? null) !== null),
  );

/** How a send stands that came to an end, or waits for nothing but its turn. */
const decisionOf = (sent: SentRow): Decided => {
  if (sent.complained_at) return 'send_complained';
  if (sent.bounced_at) return 'send_bounced';
  if (sent.delivered_at) return 'send_delivered';
  if (sent.status === 'suppressed' && sent.status_reason === UNSUBSCRIBED)
    return 'send_unsubscribed';
  if (sent.status === 'queued' && sent.status_reason === 'ramp') return 'waits_for_ramp';
  const limited = limitedAs(sent.status, sent.status_reason);
  if (limited) return limited;
  const named = `send_${sent.status}`;
  return isDecided(named) ? named : 'send_not_sent';
};

/** What has become of a send by now. */
export const standOf = async (scope: Scope, sent: SentRow): Promise<Stand> => {
  const { status_reason: reason } = sent;
  const isOpen = sent.status === 'queued' || sent.status === 'unknown';
  if (!isOpen || sent.complained_at || sent.bounced_at || sent.delivered_at) {
    const other = await findOtherSpelling(scope, sent.send_id, { status: sent.status, reason });
    const detail = toDetail({ reason, fix: delivery.fixOfEnded(reason) });
    return { decision: decisionOf(sent), detail, other };
  }
  const { waits_for, status_fix } = await delivery.readSend(scope, sent.send_id);
  const other = null;
  if (waits_for?.because === 'resend')
    return {
      decision: 'waits_for_resend',
      detail: toDetail({ reason, fix: waits_for.fix }),
      other,
    };
  const hold = waits_for && heldAs(waits_for.because);
  if (!hold)
    return { decision: decisionOf(sent), detail: toDetail({ reason, fix: status_fix }), other };
  const { fix, reason: failure } = waits_for;
  const answer = delivery.inOneLine(waits_for.answer);
  return { decision: hold, detail: toDetail({ reason: failure ?? reason, fix, answer }), other };
};

/** When a send came to stand as it does now, where that is known. */
export const timeOf = (now: Decided, sent: SentRow): Date | null => {
  const { accepted_at, delivered_at, bounced_at, complained_at } = sent;
  const times: Partial<Record<Decided, Date | null>> = {
    send_accepted: accepted_at,
    send_delivered: delivered_at,
    send_bounced: bounced_at,
    send_complained: complained_at,
  };
  return times[now] ?? null;
};
