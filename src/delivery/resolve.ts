import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import { listSends } from './log_queries.ts';
import type { SendRow } from './log_queries.ts';
import { observeEnded } from './observe.ts';
import { cancelQueued, resolveUnknown } from './wait_queries.ts';

/** What somebody may find out about a send whose outcome is unknown. */
export const RESOLUTIONS = ['accepted', 'not_sent'] as const;
type Resolution = (typeof RESOLUTIONS)[number];

export const findSend = async (scope: Scope, sendId: string): Promise<SendRow | null> =>
  (await listSends(scope, { limit: 1, sendId }))[0] ?? null;

const getSend = async (scope: Scope, sendId: string): Promise<SendRow> => {
  const send = await findSend(scope, sendId);
  if (!send) throw new Refusal('not_found');
  return send;
};

/** Ends an unknown send as what it was found to be. Answers it as it stands when that was said before. */
export const resolve = async (
  scope: Scope,
  sendId: string,
  outcome: Resolution,
): Promise<SendRow> => {
  const resolved = await resolveUnknown(scope, sendId, outcome);
  if (resolved) await observeEnded(scope, [resolved]);
  const send = await getSend(scope, sendId);
  const isSo =
    outcome === 'accepted' ? send.accepted_at !== null : send.shown_status === 'not_sent';
  if (!resolved && !isSo) throw new Refusal('send_not_unknown');
  return send;
};

/** Ends a send that waits; where it may have been sent, it is unknown again. Answers how it stands, also said twice. */
export const cancel = async (scope: Scope, sendId: string): Promise<SendRow> => {
  const cancelled = await cancelQueued(scope, sendId);
  if (cancelled) await observeEnded(scope, [cancelled]);
  const send = await getSend(scope, sendId);
  const isSo = send.shown_status === 'cancelled' || send.status_reason === 'cancelled';
  if (!cancelled && !isSo) throw new Refusal('send_not_queued');
  return send;
};
