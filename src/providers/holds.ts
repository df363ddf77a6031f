import type { Scope } from '../base/db.ts';
import type { AccountAnswer } from './account_answer.ts';
import { fixOf, toParked } from './failures.ts';
import { findState } from './pace_state.ts';
import type { PaceState } from './pace_state.ts';
import { findProvider } from './queries.ts';
import type { ProviderRow } from './queries.ts';
import { dayOf, nextDayAt } from './ramp.ts';

/** What of a provider makes its sends wait. */
export const HOLDS = [
  'provider_parked',
  'circuit_open',
  'provider_paused',
  'identical_refusals',
  'ramp',
  'rate',
] as const;

export type Hold = {
  because: (typeof HOLDS)[number];
  /** The class of the failure for which it is parked or paused. */
  reason: string | null;
  /** What the provider answered then. */
  answer: AccountAnswer | null;
  until: Date | null;
  fix: string;
};

const parkedFor = (
  reason: Parameters<typeof toParked>[0],
  { parked_answer: answer }: ProviderRow,
): Hold => ({
  because: 'provider_parked',
  reason,
  answer,
  until: null,
  fix: toParked(reason).fix,
});

const IDENTICAL_REFUSALS = 'identical_refusals';

const ENDS =
  'Trunkline tries one send again by itself. A test message that the provider takes ends the pause at once, as does ' +
  'saving its connection again.';

/** What to do about a provider that is held for a reason. */
export const fixOfPause = (reason: string): string => `${fixOf(reason) ?? ''} ${ENDS}`.trim();

type Paused = Pick<Hold, 'answer' | 'until'> & { reason: string };

/** The same answer to several recipients is a hold of its own: its cause may be the emails. */
const pausedFor = ({ reason, answer, until }: Paused): Hold => ({
  because: reason === IDENTICAL_REFUSALS ? reason : 'provider_paused',
  reason,
  answer,
  until,
  fix: fixOfPause(reason),
});

/** Of a hold that is no answer of the provider. */
const UNSAID = { reason: null, answer: null } as const;

/** What to do about a provider whose circuit is open. */
export const CIRCUIT_FIX =
  'The provider failed several times in a row. It is tried again by itself; a test message finds out at once.';

const pacedBy = ({ circuit, openUntil, heldReason, ...state }: PaceState): Hold | null => {
  const { heldAnswer: answer, pause, rampToday, rate } = state;
  if (heldReason !== null) return pausedFor({ reason: heldReason, answer, until: openUntil });
  if (circuit !== 'closed')
    return { ...UNSAID, because: 'circuit_open', until: openUntil, fix: CIRCUIT_FIX };
  if (pause) return pausedFor({ ...UNSAID, reason: 'throttled', until: new Date(pause.until) });
  if (rampToday && rampToday.used >= rampToday.allowed) {
    const until = new Date(nextDayAt(dayOf(Date.now())));
    const fix = 'The warm-up allows no more today (UTC). Raise or end the ramp of the provider.';
    return { ...UNSAID, because: 'ramp', until, fix };
  }
  if (rate === null) return null;
  const fix = `The provider is given ${rate.toLocaleString('en')} sends a second at most; it has its turn by itself.`;
  return { ...UNSAID, because: 'rate', until: null, fix };
};

/** What makes sends of a provider wait just now, whatever they wait for themselves; null where nothing does. */
export const findHold = async (scope: Scope, providerId: string): Promise<Hold | null> => {
  const row = await findProvider(scope, providerId);
  if (!row) return null;
  if (row.parked_reason !== null) return parkedFor(row.parked_reason, row);
  const state = await findState(scope, providerId);
  return state && pacedBy(state);
};
