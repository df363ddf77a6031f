import { earlier, firstZone } from './clock.ts';
import { STEPS_MAX } from './schema.ts';
import { takeStep } from './steps.ts';
import type { EventMatch } from './condition_schema.ts';
import type { Goal, Step } from './step_schema.ts';
import type { Detail, Effects, Outcome, PersonView, Reader, Run, Taken, Walk } from './world.ts';

export type Logged = { stepId: string; decision: string; detail: Detail };

/** Where a run is after a walk: it has ended, or it waits at a step. */
export type Stand =
  | { kind: 'ended'; outcome: Outcome }
  | {
      kind: 'waiting';
      stepId: string;
      until: Date;
      /** The event that it waits for. */
      for: EventMatch | null;
      /** A change of one of these traits moves `until`. */
      follows: readonly string[];
    };
export type Walked = { log: Logged[]; stand: Stand };

/** How much is decided in one run, however long it lives: a circle with delays ends, too. */
export const RUN_DECISIONS_MAX = 1_000;

export type Surroundings = {
  now: Date;
  /** When it was to be walked: what is done too late is not done. */
  dueAt: Date;
  /** Whether that was before a backup was restored: what it was to do may have been done since the backup. */
  isRestored?: boolean;
  reader: Reader;
  effects: Effects;
};

/** The zone of the person's own clock, or the one that the automation takes for people without. */
const zoneOf = ({ definition }: Run, person: PersonView): string =>
  firstZone(person.traits['timezone'], definition.settings.timezone);

const left = (outcome: Outcome, decision: string, detail?: Detail): Taken => ({
  kind: 'leaves',
  outcome,
  decision,
  ...(detail ? { detail } : {}),
});

/** How the goal was reached by now, if it was. */
const findReached = async (goal: Goal, reader: Reader, now: Date): Promise<Detail | null> => {
  if ('segment_id' in goal) {
    const entered = await reader.entered(goal.segment_id, now);
    return entered && { segment_id: goal.segment_id, entry: String(entered.entry) };
  }
  const came = await reader.firstEvent(goal, now);
  return came && { event: goal.event, event_id: came.event_id };
};

/** Why the person leaves before whatever comes next, if they do. */
const findLeaving = async ({ run, now, person, reader }: Walk): Promise<Taken | null> => {
  const { goal, exit_on_unsubscribe, category } = run.definition.settings;
  const reached = goal && (await findReached(goal, reader, now));
  if (reached) return left('converted', 'goal_reached', reached);
  // Who enters may be about to bring another address: of a new run delivery decides, by the address.
  const isInside = run.entries > 0;
  if (
    isInside &&
    exit_on_unsubscribe &&
    category === 'marketing' &&
    person.tags.includes('unsubscribed')
  )
    return left('unsubscribed', 'unsubscribed');
  return null;
};

const findStep = ({ run, stepId }: Walk): Step | undefined => {
  const { steps } = run.definition;
  return Object.hasOwn(steps, stepId) ? steps[stepId] : undefined;
};

const goOn = async (walk: Walk): Promise<Taken> => {
  const step = findStep(walk);
  return step ? takeStep(walk, step) : left('step_missing', 'step_missing');
};

const isOverdue = ({ run, now, zone }: Walk, dueAt: Date): boolean =>
  dueAt < earlier(now, run.definition.settings.expires_after, zone);

/**
 * What comes of a step that was due too long ago: it is not done any more. One that was woken before its time may have
 * nothing to do yet, and waits on.
 */
const takeOverdue = async (walk: Walk, detail: Detail): Promise<Taken> => {
  const { until } = walk.run;
  // The date that it waits for may have moved, and this step has no effects.
  const mayMove = findStep(walk)?.kind === 'delay_until';
  const taken = until !== null && (walk.now < until || mayMove) ? await goOn(walk) : null;
  return taken?.kind === 'waits' ? taken : left('expired', 'step_expired', detail);
};

/** What a walk begins with: somebody may leave, or the step may be too old. */
const begin = async (walk: Walk, { dueAt, isRestored }: Surroundings): Promise<Taken> => {
  const leaving = await findLeaving(walk);
  if (leaving) return leaving;
  const due = { due_at: dueAt.toISOString() };
  if (isRestored) return takeOverdue(walk, { ...due, because: 'restored' });
  return isOverdue(walk, dueAt) ? takeOverdue(walk, due) : goOn(walk);
};

const toLogged = (stepId: string, taken: Taken): Logged[] =>
  taken.decision === undefined
    ? []
    : [{ stepId, decision: taken.decision, detail: taken.detail ?? {} }];

/**
 * Walks a run until it waits or ends. A function of the run, the clock and what may be asked and done: so the
 * same code walks the past of a simulation.
 */
export const walk = async (run: Run, around: Surroundings): Promise<Walked> => {
  const { now, reader, effects } = around;
  const log: Logged[] = [];
  let stand: Run = run;
  const ended = (outcome: Outcome): Walked => ({ log, stand: { kind: 'ended', outcome } });
  for (;;) {
    const person = await reader.person();
    if (person === null) return ended('erased');
    const at: Walk = {
      run: stand,
      stepId: stand.step_id,
      now,
      dueAt: around.dueAt,
      person,
      zone: zoneOf(run, person),
      reader,
      effects,
    };
    const taken = log.length === 0 ? await begin(at, around) : await goOn(at);
    log.push(...toLogged(stand.step_id, taken));
    if (taken.kind === 'leaves') return ended(taken.outcome);
    if (taken.kind === 'waits') {
      const { until, for: match = null, follows = [] } = taken;
      return { log, stand: { kind: 'waiting', stepId: stand.step_id, until, for: match, follows } };
    }
    if (taken.next === null) return ended('completed');
    if (log.length > STEPS_MAX || run.entries + log.length >= RUN_DECISIONS_MAX)
      return ended('went_in_circles');
    stand = { ...stand, step_id: taken.next, until: null };
  }
};
