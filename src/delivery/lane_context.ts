import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { hint } from '../base/hints.ts';
import { makeAlarms } from './alarms.ts';
import { giveBackShare } from './give_back.ts';
import type { HandOffContext, Prepared } from './hand_off.ts';
import { releaseLeases } from './queries.ts';
import { sendHint } from './send_hint.ts';
import type { Turn } from './turn.ts';

export type LaneContext = HandOffContext & {
  projectId: string;
  providerId: string;
  /** Aborted when the worker stops: what was not begun is given back. */
  signal: AbortSignal;
  /** What this turn knows of the provider. */
  health: {
    failures: number;
    acceptedCount: number;
    startedAt: number;
    /** Whether refusals in a row are recorded, which an acceptance ends. */
    isRefusing: boolean;
    isStopped: boolean;
    /** Whether a rate says when each may start. */
    isPaced: boolean;
    /** How many the next claim takes. */
    claimMax: number;
  };
};

export type ProviderTurn = Turn<Prepared, LaneContext>;

export const within = <T>({ deps, projectId }: LaneContext, work: (scope: Scope) => Promise<T>) =>
  inProject(deps, projectId, work);

/** Hints at the provider's sends once its time has come. */
export const wakeAfter = (
  { deps, projectId, providerId }: Pick<LaneContext, 'deps' | 'projectId' | 'providerId'>,
  ms: number,
): void => {
  const alarms = deps.resources.of(makeAlarms, deps);
  alarms.set(providerId, ms, () => void hint(deps, sendHint(projectId, providerId)));
};

/** Returns the allowance of sends that were not handed over. Another send may probe the provider at once. */
export const giveBack = async (
  context: LaneContext,
  sends: number,
  isProbe: boolean,
): Promise<void> => {
  if (sends === 0 && !isProbe) return;
  const { providerId } = context;
  const isRoomMade = await within(context, (scope) =>
    giveBackShare(scope, providerId, { sends, isProbe }),
  );
  if (isProbe || isRoomMade) wakeAfter(context, 0);
};

/**
 * Releases leases that were not begun, with their allowance. Releases nothing for expired leases: another worker
 * returned their allowance, and a second return would overrun the day's ramp.
 */
export const release = async (
  context: LaneContext,
  items: readonly Pick<Prepared, 'send' | 'isProbe'>[],
): Promise<void> => {
  if (items.length === 0) return;
  const ids = items.map(({ send }) => send.send_id);
  const released = await within(context, (scope) => releaseLeases(scope, ids, context.owner));
  const isProbe = items.some((item) => item.isProbe);
  await giveBack(context, released, isProbe);
};

/** Nothing more of this turn goes to the provider: what waits is given back. */
export const stop = async (context: LaneContext, turn: ProviderTurn, wakeMs: number | null) => {
  context.health.isStopped = true;
  await release(context, turn.drain());
  if (wakeMs !== null) wakeAfter(context, wakeMs);
};
