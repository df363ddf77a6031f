import type { Deps } from '../base/deps.ts';
import { hint } from '../base/hints.ts';
import { watchQueue } from '../base/memory_queues.ts';
import * as providers from '../providers/providers.ts';
import type { Prepared } from './hand_off.ts';
import type { LaneContext } from './lane_context.ts';
import { sendHint } from './send_hint.ts';
import { TRACKED_PER_LANE_MAX } from './turn.ts';
import { Turns, TURNS_MAX } from './turns.ts';

/** How many sends one claim takes. */
export const CLAIM_SENDS_MAX = 100;
/** How many sends one claim takes that only lets transactional email overtake what waits already. */
export const OVERTAKING_SENDS_MAX = 20;
/** More is claimed when only so many of a turn wait. */
export const WAITING_SENDS_LOW = 100;

/** Half of a worker's jobs: relays that hang must not stop events from being processed. */
export const makeTurns = (own: Pick<Deps, 'config' | 'resources'>) => {
  const turns = new Turns<Prepared, LaneContext>({
    fedMax: Math.max(1, Math.floor(own.config.workerConcurrency / 2)),
    onLate: (turn) => {
      const { deps, projectId, providerId } = turn.context;
      for (const error of turn.takeErrors())
        deps.log.error({ err: error, provider_id: providerId }, 'hand-off failed');
      void hint(deps, sendHint(projectId, providerId));
    },
  });
  const lanesMax = TURNS_MAX * providers.LINKS_PER_PROVIDER_MAX;
  // What was claimed before may wait yet when more is claimed.
  const sendsMax = TURNS_MAX * (WAITING_SENDS_LOW + CLAIM_SENDS_MAX + OVERTAKING_SENDS_MAX);
  watchQueue(own, 'hand_offs', { size: () => turns.load.busy, max: lanesMax });
  watchQueue(own, 'sends', { size: () => turns.load.waiting, max: sendsMax });
  const outcomesMax = TRACKED_PER_LANE_MAX * lanesMax;
  watchQueue(own, 'outcomes', { size: () => turns.load.tracked, max: outcomesMax });
  return turns;
};
