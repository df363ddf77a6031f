import * as segments from '../segments/segments.ts';
import { RUN_KINDS } from './condition_schema.ts';
import type { Condition, ConditionLeaf, RunLeaf } from './condition_schema.ts';
import type { Walk } from './world.ts';

type PersonCondition = segments.Condition;

const isOfRun = (leaf: ConditionLeaf): leaf is RunLeaf =>
  RUN_KINDS.some((kind) => kind === leaf.kind);

const isLeaf = (condition: Condition): condition is ConditionLeaf => !('of' in condition);

type PlacedLeaf = { leaf: ConditionLeaf; path: (string | number)[] };

/** Lists the innermost conditions, each with its place. */
export const listLeaves = (condition: Condition): PlacedLeaf[] =>
  segments
    .listPlaced<ConditionLeaf>(condition)
    .flatMap(({ condition: leaf, path }) => (isLeaf(leaf) ? [{ leaf, path }] : []));

/** Lists the innermost conditions that a segment can be asked, too. */
export const listPersonLeaves = (condition: Condition): segments.PersonLeaf[] =>
  listLeaves(condition).flatMap(({ leaf }) => (isOfRun(leaf) ? [] : [leaf]));

/** Lists the innermost conditions that only a run can be asked. */
export const listRunLeaves = (condition: Condition): RunLeaf[] =>
  listLeaves(condition).flatMap(({ leaf }) => (isOfRun(leaf) ? [leaf] : []));

const isTrueOfRun = async ({ reader, now }: Walk, leaf: RunLeaf): Promise<boolean> => {
  switch (leaf.kind) {
    case 'trigger': {
      const event = await reader.triggerEvent();
      return event !== null && segments.findFailing(leaf.where, event.properties) === null;
    }
    case 'event_since':
      return (await reader.firstEvent(leaf, now)) !== null;
    case 'email':
      return (await reader.sends()).some(
        ({ step_id, facts }) => step_id === leaf.step && facts.includes(leaf.became),
      );
  }
};

/** Decides the parts of `all` or `any`. A part that is `settling` decides all of them. */
const decideParts = async (
  walk: Walk,
  { kind, of }: { kind: 'all' | 'any'; of: Condition[] },
): Promise<boolean | PersonCondition> => {
  const settling = kind === 'any';
  const left: PersonCondition[] = [];
  for (const part of of) {
    const decided = await decide(walk, part);
    if (decided === settling) return settling;
    if (typeof decided !== 'boolean') left.push(decided);
  }
  const [first, ...others] = left;
  if (first === undefined) return !settling;
  return others.length === 0 ? first : { kind, of: left };
};

/** Decides a condition by the run and by what is known of its person. Returns what they leave open. */
const decide = async (walk: Walk, condition: Condition): Promise<boolean | PersonCondition> => {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return decideParts(walk, condition);
    case 'not': {
      const decided = await decide(walk, condition.of);
      return typeof decided === 'boolean' ? !decided : { kind: 'not', of: decided };
    }
    case 'trigger':
    case 'event_since':
    case 'email':
      return isTrueOfRun(walk, condition);
    default:
      return segments.decideLeaf(condition, walk.person, walk.now) ?? condition;
  }
};

/** Whether a condition holds in a run. It asks once, for all that the run and its person do not decide. */
export const isTrue = async (walk: Walk, condition: Condition): Promise<boolean> => {
  const decided = await decide(walk, condition);
  return typeof decided === 'boolean' ? decided : walk.reader.holds(decided);
};
