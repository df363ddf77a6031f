import { CALL_LOOK_AGAIN_MS } from '../call_limits.ts';
import type { CallView, Detail, Take, Taken, Walk } from '../world.ts';

const detailOf = ({ callId, httpStatus, reason }: CallView): Detail => ({
  call_id: callId,
  ...(httpStatus === null ? {} : { status: String(httpStatus) }),
  ...(reason === null ? {} : { reason }),
});

/** Until it is known what came of the call; whoever was to make it may be gone, so not for long. */
const lookAgain = ({ now }: Walk): { kind: 'waits'; until: Date } => ({
  kind: 'waits',
  until: new Date(now.getTime() + CALL_LOOK_AGAIN_MS),
});

/** One that did not come through waits for its next time, which is said once. */
const postponed = ({ run, now }: Walk, call: CallView): Taken | null => {
  const { retryAt } = call;
  if (retryAt === null || retryAt <= now) return null;
  if (run.until?.getTime() === retryAt.getTime()) return { kind: 'waits', until: retryAt };
  const detail = { ...detailOf(call), until: retryAt.toISOString() };
  return { kind: 'waits', until: retryAt, decision: 'webhook_postponed', detail };
};

/** Has an endpoint told of the person: once for a step of a run, as often as it takes within `expires_after`. */
export const webhook: Take<'webhook'> = async (walk, step) => {
  const { run, stepId, reader, effects } = walk;
  const { next, on_failure: onFailure = next } = step;
  if (!run.may_call) return { kind: 'goes_on', next, decision: 'webhook_left_out' };
  const call = run.entries > 0 ? await reader.call(stepId) : null;
  if (call === null) {
    const { callId } = await effects.call({ stepId, step });
    return { ...lookAgain(walk), decision: 'webhook_queued', detail: { call_id: callId } };
  }
  if (run.until === null) return { kind: 'goes_on', next, decision: 'webhook_before' };
  if (call.status === 'delivered')
    return { kind: 'goes_on', next, decision: 'webhook_delivered', detail: detailOf(call) };
  if (call.status === 'failed')
    return { kind: 'goes_on', next: onFailure, decision: 'webhook_failed', detail: detailOf(call) };
  const waiting = call.status === 'waiting' ? postponed(walk, call) : null;
  if (waiting !== null) return waiting;
  await effects.call({ stepId, step });
  return lookAgain(walk);
};
