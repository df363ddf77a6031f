import { exitsOf, newStep } from './exits.ts';
import type { Condition, Definition, Kind, Place, Step } from './exits.ts';

/** What each kind is called where it gets a name of its own. */
const FIRST_NAMES: Record<Kind, string> = {
  send_email: 'mail',
  delay: 'delay',
  delay_until: 'until',
  wait_for_event: 'wait',
  branch: 'branch',
  split: 'split',
  update_profile: 'update',
  webhook: 'webhook',
  exit: 'exit',
};

const freshId = ({ steps }: Definition, kind: Kind): string => {
  const base = FIRST_NAMES[kind];
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}_${count}`;
    if (!Object.hasOwn(steps, id)) return id;
  }
};

const withStep = (definition: Definition, id: string, step: Step): Definition => ({
  ...definition,
  steps: { ...definition.steps, [id]: step },
});

/** Where people who come to a place go on from there. */
export const nextAt = (definition: Definition, place: Place): string | null => {
  if (place.after === null) return definition.entry === '' ? null : definition.entry;
  const step = definition.steps[place.after];
  return (step && exitsOf(step)[place.exit]?.next) ?? null;
};

/** Leads a way on elsewhere. */
export const leadTo = (definition: Definition, place: Place, next: string | null): Definition => {
  if (place.after === null) return { ...definition, entry: next ?? '' };
  const step = definition.steps[place.after];
  const exit = step && exitsOf(step)[place.exit];
  return exit ? withStep(definition, place.after, exit.to(next)) : definition;
};

export type Inserted = { definition: Definition; id: string };

/** Puts a new step where people come by. */
export const insertAt = (
  definition: Definition,
  place: Place,
  kind: Kind,
  providerId?: string,
): Inserted => {
  const id = freshId(definition, kind);
  const step = newStep(kind, nextAt(definition, place), providerId);
  return { definition: leadTo(withStep(definition, id, step), place, id), id };
};

/** Leads everything that led to one step to another. */
const leadAll = (definition: Definition, from: string, to: string | null): Definition => {
  const steps = Object.fromEntries(
    Object.entries(definition.steps).map(([id, step]) => [
      id,
      exitsOf(step).reduce<Step>(
        (known, { next }, at) => (next === from ? (exitsOf(known)[at]?.to(to) ?? known) : known),
        step,
      ),
    ]),
  );
  return { ...definition, steps, entry: definition.entry === from ? (to ?? '') : definition.entry };
};

/** The steps that people can come to, in the order in which they do. */
export const listReached = ({ entry, steps }: Definition): string[] => {
  const reached: string[] = [];
  const visit = (id: string | null): void => {
    const step = id === null || !Object.hasOwn(steps, id) ? undefined : steps[id];
    if (!step || id === null || reached.includes(id)) return;
    reached.push(id);
    for (const { next } of exitsOf(step)) visit(next);
  };
  visit(entry);
  return reached;
};

const without = (definition: Definition, ids: readonly string[]): Definition => ({
  ...definition,
  steps: Object.fromEntries(Object.entries(definition.steps).filter(([id]) => !ids.includes(id))),
});

/** Takes away what could be come to before, and cannot any more. */
export const withoutLost = (before: Definition, after: Definition): Definition => {
  const reached = new Set(listReached(after));
  const lost = listReached(before).filter((id) => !reached.has(id));
  return without(after, lost);
};

/** Takes a step out: who would have come to it goes on to the step after it. */
export const removeStep = (definition: Definition, id: string): Definition => {
  const step = definition.steps[id];
  if (!step) return definition;
  const next = exitsOf(step)[0]?.next ?? null;
  const led = leadAll(definition, id, next === id ? null : next);
  return without(withoutLost(definition, led), [id]);
};

const findBefore = ({ steps }: Definition, id: string): { before: string; exit: number } | null => {
  for (const [before, step] of Object.entries(steps)) {
    const exit = exitsOf(step).findIndex(({ next }) => next === id);
    if (exit >= 0 && before !== id) return { before, exit };
  }
  return null;
};

/** Puts a step before the one that leads to it. */
export const moveEarlier = (definition: Definition, id: string): Definition => {
  const found = findBefore(definition, id);
  const step = definition.steps[id];
  const after = step && exitsOf(step)[0];
  if (!found || !after || after.next === found.before) return definition;
  const { before, exit } = found;
  const led = leadAll(definition, before, id);
  const onward = leadTo(led, { after: before, exit }, after.next);
  return leadTo(onward, { after: id, exit: 0 }, before);
};

/** Puts a step behind the one that it leads to. */
export const moveLater = (definition: Definition, id: string): Definition => {
  const step = definition.steps[id];
  const next = step && exitsOf(step)[0]?.next;
  if (!next || !definition.steps[next] || exitsOf(definition.steps[next]).length === 0)
    return definition;
  const after = exitsOf(definition.steps[next])[0]?.next ?? null;
  const led = leadAll(definition, id, next);
  return leadTo(leadTo(led, { after: id, exit: 0 }, after), { after: next, exit: 0 }, id);
};

const renameInCondition = (condition: Condition, id: string, to: string): Condition => {
  if (condition.kind === 'email')
    return condition.step === id ? { ...condition, step: to } : condition;
  if (condition.kind === 'not')
    return { ...condition, of: renameInCondition(condition.of, id, to) };
  return condition.kind === 'all' || condition.kind === 'any'
    ? { ...condition, of: condition.of.map((one) => renameInCondition(one, id, to)) }
    : condition;
};

/** Gives a step another name, wherever it is named. */
export const renameStep = (definition: Definition, id: string, to: string): Definition => {
  if (id === to || Object.hasOwn(definition.steps, to)) return definition;
  const led = leadAll(definition, id, to);
  const steps = Object.fromEntries(
    Object.entries(led.steps).map(([key, step]) => [
      key === id ? to : key,
      step.kind === 'branch'
        ? {
            ...step,
            branches: step.branches.map((branch) => ({
              ...branch,
              when: renameInCondition(branch.when, id, to),
            })),
          }
        : step,
    ]),
  );
  return { ...led, steps };
};

export const setStep = withStep;
