import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { hint } from '../base/hints.ts';
import { Refusal } from '../base/refusal.ts';
import { listSends } from './log_queries.ts';
import type { SendRow } from './log_queries.ts';
import { observeEnded } from './observe.ts';
import { EXPIRES_AFTER_HOURS_DEFAULT } from './retry.ts';
import { sendHint } from './send_hint.ts';
import { cancelQueued, queueAgain, resolveUnknown, wasSentAgain } from './wait_queries.ts';

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

/**
 * Hands an unknown send over once more, after the attempt that somebody has found not to be taken. Said again it
 * changes nothing, whatever has become of that hand-off by then. After the commit, hint at its provider.
 */
export const sendAgain = async (
  scope: Scope,
  sendId: string,
  afterAttempt: number,
): Promise<SendRow> => {
  const asked = { afterAttempt, expiresAfterHours: EXPIRES_AFTER_HOURS_DEFAULT };
  const again = await queueAgain(scope, sendId, asked);
  const send = await getSend(scope, sendId);
  const isSo = again !== null || (await wasSentAgain(scope, sendId, afterAttempt));
  if (!isSo && send.recipient === null)
    throw new Refusal('send_not_unknown', {
      detail: 'Its person is erased: there is nobody to send it to.',
    });
  if (!isSo) throw new Refusal('send_not_unknown');
  return send;
};

export type Found = { outcome: Resolution; send_again_after?: number | undefined };

/** What somebody has found out about an unknown send, and whether it is to be sent again. */
export const resolveOrRepeat = async (
  deps: Deps,
  projectId: string,
  sendId: string,
  { outcome, send_again_after }: Found,
): Promise<SendRow> => {
  const send = await inProject(deps, projectId, (scope) =>
    send_again_after === undefined
      ? resolve(scope, sendId, outcome)
      : sendAgain(scope, sendId, send_again_after),
  );
  if (send.shown_status === 'queued') await hint(deps, sendHint(projectId, send.provider_id));
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
