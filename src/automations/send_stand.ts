import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import type { SentRow } from './explain_queries.ts';
import { isDecided, limitedAs } from './explanation.ts';
import type { Decided } from './explanation.ts';
import { heldAs } from './send_explanation.ts';

const UNSUBSCRIBED = 'unsubscribed';

/** What has become of a send by now. */
export const standOf = async (scope: Scope, sent: SentRow): Promise<Decided> => {
  if (sent.complained_at) return 'send_complained';
  if (sent.bounced_at) return 'send_bounced';
  if (sent.delivered_at) return 'send_delivered';
  if (sent.status === 'suppressed' && sent.status_reason === UNSUBSCRIBED)
    return 'send_unsubscribed';
  if (sent.status === 'queued' || sent.status === 'unknown') {
    const { waits_for } = await delivery.readSend(scope, sent.send_id);
    if (waits_for?.because === 'resend') return 'waits_for_resend';
    const hold = waits_for && heldAs(waits_for.because);
    if (hold) return hold;
    if (sent.status === 'queued' && sent.status_reason === 'ramp') return 'waits_for_ramp';
  }
  const limited = limitedAs(sent.status, sent.status_reason);
  if (limited) return limited;
  const named = `send_${sent.status}`;
  return isDecided(named) ? named : 'send_not_sent';
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
