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
import { cancelWaiting, queueAgain, resolveUnknown, wasSentAgain } from './wait_queries.ts';

/** What somebody may find out about a send whose outcome is unknown. */
export const RESOLUTIONS = ['accepted', 'not_sent'] as const;
type Resolution = (typeof RESOLUTIONS)[number];

export const findSend = async (scope: Scope, sendId: string): Promise<SendRow | null> =>
  (await listSends(scope, { limit: 1, sendId }))[0] ?? null;

/** Returns a send. Refuses an id of which the project has none. */
export const getSend = async (scope: Scope, sendId: string): Promise<SendRow> => {
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

/** Why a send is not handed over once more. */
const whyNotAgain = (
  { recipient, shown_status, attempt_count }: SendRow,
  afterAttempt: number,
  wasAsked: boolean,
): { detail?: string } => {
  if (recipient === null) return { detail: 'Its person is erased: there is nobody to send it to.' };
  if (wasAsked)
    return {
      detail: 'It was queued again after that attempt, and cancelled since: nothing is sent.',
    };
  const isOther = shown_status === 'unknown' && attempt_count !== afterAttempt;
  if (!isOther) return {};
  const seen = `${attempt_count}, not ${afterAttempt}`;
  return { detail: `Its \`attempts\` are ${seen}: read it, then say as many as you see.` };
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
  if (isSo && send.shown_status !== 'cancelled') return send;
  throw new Refusal('send_not_unknown', whyNotAgain(send, afterAttempt, isSo));
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

/** Why nothing of a send can be stopped, and what can be done instead. */
const whyNotStopped = ({ shown_status: status }: SendRow): string => {
  if (status === 'handing_off')
    return 'It is being handed over just now. Once it waits to be tried again it can be cancelled.';
  return status === 'unknown'
    ? 'Nobody knows whether it was taken, and nothing sends it again. Say what became of it with resolve.'
    : `It has ended as ${status}: there is nothing to stop.`;
};

/**
 * Ends a send that waits; where it may have been sent, it is unknown again. One that is unknown is not sent again by
 * itself then. Answers how it stands, also said twice.
 */
export const cancel = async (scope: Scope, sendId: string): Promise<SendRow> => {
  const cancelled = await cancelWaiting(scope, sendId);
  if (cancelled) await observeEnded(scope, [cancelled]);
  const send = await getSend(scope, sendId);
  const isSo = send.shown_status === 'cancelled' || send.status_reason === 'cancelled';
  if (!cancelled && !isSo) throw new Refusal('send_not_queued', { detail: whyNotStopped(send) });
  return send;
};
