import type { Scope } from '../base/db.ts';
import { fixOf, toParked } from './failures.ts';
import { findState } from './pace.ts';
import type { PaceState } from './pace.ts';
import { findProvider } from './queries.ts';
import { dayOf, nextDayAt } from './ramp.ts';

/** What of a provider makes its sends wait. */
export const HOLDS = [
  'provider_parked',
  'circuit_open',
  'provider_paused',
  'ramp',
  'rate',
] as const;

export type Hold = {
  because: (typeof HOLDS)[number];
  /** The class of the failure for which it is parked or paused. */
  reason: string | null;
  until: Date | null;
  fix: string;
};

const parkedFor = (reason: Parameters<typeof toParked>[0]): Hold => ({
  because: 'provider_parked',
  reason,
  until: null,
  fix: toParked(reason).fix,
});

const ENDS =
  'Trunkline tries one send again by itself. A test message that the provider takes ends the pause at once, as does ' +
  'saving its connection again.';

/** What to do about a provider that is held for a reason. */
export const fixOfPause = (reason: string): string => `${fixOf(reason) ?? ''} ${ENDS}`.trim();

const pausedFor = (reason: string, until: Date | null): Hold => ({
  because: 'provider_paused',
  reason,
  until,
  fix: fixOfPause(reason),
});

/** What to do about a provider whose circuit is open. */
export const CIRCUIT_FIX =
  'The provider failed several times in a row. It is tried again by itself; a test message finds out at once.';

const pacedBy = ({ circuit, openUntil, heldReason, ...state }: PaceState): Hold | null => {
  const { pause, rampToday, rate } = state;
  if (heldReason !== null) return pausedFor(heldReason, openUntil);
  if (circuit !== 'closed')
    return { because: 'circuit_open', reason: null, until: openUntil, fix: CIRCUIT_FIX };
  if (pause) return pausedFor('throttled', new Date(pause.until));
  if (rampToday && rampToday.used >= rampToday.allowed) {
    const until = new Date(nextDayAt(dayOf(Date.now())));
    const fix = 'The warm-up allows no more today (UTC). Raise or end the ramp of the provider.';
    return { because: 'ramp', reason: null, until, fix };
  }
  if (rate === null) return null;
  const fix = `The provider is given ${rate.toLocaleString('en')} sends a second at most; it has its turn by itself.`;
  return { because: 'rate', reason: null, until: null, fix };
};

/** What makes sends of a provider wait just now, whatever they wait for themselves; null where nothing does. */
export const findHold = async (scope: Scope, providerId: string): Promise<Hold | null> => {
  const row = await findProvider(scope, providerId);
  if (!row) return null;
  if (row.parked_reason !== null) return parkedFor(row.parked_reason);
  const state = await findState(scope, providerId);
  return state && pacedBy(state);
};
