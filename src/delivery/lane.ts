import type { SendOutcome } from '../providers/providers.ts';
import { handOff } from './hand_off.ts';
import type { Prepared } from './hand_off.ts';
import { giveBack, release, within } from './lane_context.ts';
import type { LaneContext, ProviderTurn } from './lane_context.ts';
import { noteOutcome } from './note_outcome.ts';
import { postponeSend } from './queries.ts';
import { retryAfterSeconds } from './retry.ts';

/** Puts a send back that could not be given to anybody: it waits for its next try. */
const postpone = async (
  context: LaneContext,
  { send }: Prepared,
  reason: string,
): Promise<void> => {
  const post = { reason, retryAfterSeconds: retryAfterSeconds(send.attempt) };
  const postponed = await within(context, (scope) =>
    postponeSend(scope, send.send_id, context.owner, post),
  );
  // What it found out of the provider counts as the probe's answer.
  await giveBack(context, postponed, false);
};

const reasonOf = (outcome: SendOutcome): string =>
  'reason' in outcome ? outcome.reason : 'connection_failed';

/** Hands over one send, and passes on what that says of the provider. */
export const handOverNext = async (item: Prepared, turn: ProviderTurn): Promise<void> => {
  const { context } = turn;
  const { signal, health } = context;
  if (signal.aborted || health.isStopped) return release(context, [item, ...turn.drain()]);
  const handed = await handOff(context, item);
  // Written together with the next that begins.
  if ('written' in handed) turn.track(handed.written);
  if (handed.kind === 'not_begun' || handed.kind === 'held_up')
    return giveBack(context, 1, item.isProbe);
  if (handed.kind === 'unreachable') await postpone(context, item, reasonOf(handed.outcome));
  return noteOutcome(context, turn, { item, outcome: handed.outcome });
};
