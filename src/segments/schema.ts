import { z } from 'zod';
import { EventName } from '../ingest/ingest.ts';
import { TAGS } from './tags.ts';
import { after, before, Days, FieldName, Filters, ValueTest, withinLast } from './value_schema.ts';

/** `all`, `any` and `not` inside each other; a definition whose `where` is a plain condition has depth 1. */
export const DEPTH_MAX = 6;
/** Conditions of a definition, those that hold others included. */
export const CONDITIONS_MAX = 50;
export const COUNT_MAX = 1_000_000;

const ofEvent = { event: EventName, where: Filters };

const Trait = z
  .strictObject({ kind: z.literal('trait'), trait: FieldName, test: ValueTest })
  .meta({ description: 'What a trait of theirs is.' });
const EventCount = z
  .strictObject({
    kind: z.literal('event'),
    ...ofEvent,
    count: z
      .strictObject({
        is: z.enum(['at_least', 'at_most', 'exactly']),
        value: z.int().min(0, 'at least 0').max(COUNT_MAX, `at most ${COUNT_MAX}`),
      })
      .default({ is: 'at_least', value: 1 }),
    within_days: Days.optional().meta({
      description:
        'Whole days in UTC, today among them; an event of tomorrow, as a clock may say, counts as one of today. ' +
        'Where a window ends, people enter or leave within the first hour of the day. Left out: ever.',
    }),
  })
  .meta({ description: 'How often they did something.' });
const EventTime = z
  .strictObject({
    kind: z.literal('event_time'),
    ...ofEvent,
    occurrence: z.enum(['first', 'last']),
    test: z.discriminatedUnion('is', [before, after, withinLast]),
  })
  .meta({ description: 'When they did something first, or last.' });
const InSegment = z
  .strictObject({ kind: z.literal('segment'), segment_id: z.uuid() })
  .meta({ description: 'Whether they are a member of another segment.' });
const Tag = z
  .strictObject({ kind: z.literal('tag'), tag: z.enum(TAGS) })
  .meta({ description: 'Whether their profile has a tag.' });
const Suppressed = z
  .strictObject({ kind: z.literal('suppressed') })
  .meta({ description: 'Whether their address is suppressed.' });
const Subscribed = z.strictObject({ kind: z.literal('subscribed') }).meta({
  description: 'Whether they have an address, and have not unsubscribed from marketing mail.',
});

/** What is asked of a person anywhere: in segments, and in automations. */
export const personLeaves = [
  Trait,
  EventCount,
  EventTime,
  InSegment,
  Tag,
  Suppressed,
  Subscribed,
] as const;
export type PersonLeaf = z.output<(typeof personLeaves)[number]>;
export type EventLeaf = z.output<typeof EventCount> | z.output<typeof EventTime>;

/** Not for authors: who was imported into a static segment. */
type Imported = { kind: 'imported'; segment_id: string };
export type Leaf = PersonLeaf | Imported;

/** Conditions inside each other, whose innermost ones are leaves of some kinds. */
export type ConditionOf<L> =
  | { kind: 'all'; of: ConditionOf<L>[] }
  | { kind: 'any'; of: ConditionOf<L>[] }
  | { kind: 'not'; of: ConditionOf<L> }
  | L;
export type Condition = ConditionOf<Leaf>;

type LeafSchema = z.ZodObject<{ kind: z.ZodLiteral<string> }>;

/** Returns the schema of conditions with leaves of some kinds. */
export const makeCondition = <L>(leaves: readonly LeafSchema[], id: string, about: string) => {
  const several = (kind: 'all' | 'any') =>
    z.strictObject({
      kind: z.literal(kind),
      get of(): z.ZodArray<z.ZodType<ConditionOf<L>>> {
        return z
          .array(condition)
          .min(1, 'at least 1')
          .max(CONDITIONS_MAX, `at most ${CONDITIONS_MAX} items`);
      },
    });
  const Not = z.strictObject({
    kind: z.literal('not'),
    get of(): z.ZodType<ConditionOf<L>> {
      return condition;
    },
  });
  const kinds = [several('all'), several('any'), Not, ...leaves] as const;
  const condition = z.discriminatedUnion('kind', kinds).meta({
    id,
    description:
      `${about} \`all\`, \`any\` and \`not\` hold others, ${DEPTH_MAX} levels deep at most; ` +
      `${CONDITIONS_MAX} conditions at most in all.`,
  }) as unknown as z.ZodType<ConditionOf<L>>;
  return condition;
};

const Condition = makeCondition<Leaf>(
  personLeaves,
  'SegmentCondition',
  'What is asked of a person.',
);

type Several<L> = { kind: 'all' | 'any'; of: ConditionOf<L>[] };
type Negated<L> = { kind: 'not'; of: ConditionOf<L> };
type Kinded = { kind: string };

/** The conditions that one holds directly. */
export const partsOf = <L extends Kinded>(condition: ConditionOf<L>): readonly ConditionOf<L>[] => {
  if (condition.kind === 'all' || condition.kind === 'any') return (condition as Several<L>).of;
  return condition.kind === 'not' ? [(condition as Negated<L>).of] : [];
};

type Path = (string | number)[];
/** A condition, and where it is in the tree. */
export type Placed<L> = { condition: ConditionOf<L>; path: Path };

/** Lists every condition of a tree with its place, the outer ones first. */
export const listPlaced = <L extends Kinded>(
  where: ConditionOf<L>,
  path: Path = [],
): Placed<L>[] => [
  { condition: where, path },
  ...partsOf(where).flatMap((part, at) =>
    listPlaced(part, where.kind === 'not' ? [...path, 'of'] : [...path, 'of', at]),
  ),
];

/** Lists every condition of a tree, the outer ones first. */
export const listConditions = <L extends Kinded>(where: ConditionOf<L>): ConditionOf<L>[] =>
  listPlaced(where).map(({ condition }) => condition);

/** How deep conditions are inside each other, however deep that is: walked with a list of our own. */
const isTooDeep = (where: unknown): boolean => {
  const pending = [{ value: where, depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { of } = (next.value ?? {}) as { of?: unknown };
    if (of === undefined) continue;
    if (next.depth === DEPTH_MAX) return true;
    for (const value of Array.isArray(of) ? of : [of])
      pending.push({ value, depth: next.depth + 1 });
  }
  return false;
};

const Shape = z
  .strictObject({
    version: z.literal(1).default(1).meta({ description: 'Of this language.' }),
    include_suppressed: z.boolean().default(false).meta({
      description: 'Whether people with a suppressed address may be members; else they never are.',
    }),
    where: Condition,
  })
  .superRefine(({ include_suppressed, where }, context) => {
    const say = (message: string) => context.addIssue({ code: 'custom', path: ['where'], message });
    const conditions = listConditions(where);
    if (conditions.length > CONDITIONS_MAX) say(`at most ${CONDITIONS_MAX} conditions`);
    if (!include_suppressed && conditions.some(({ kind }) => kind === 'suppressed'))
      say('asks who is suppressed, so say include_suppressed: true');
  });

const TOO_DEEP = `at most ${DEPTH_MAX} levels deep`;

/** Who is in a segment. Parsed in two steps: no depth of nesting may cost us the stack. */
export const Definition = z
  .preprocess((given, context) => {
    const { where } = (given ?? {}) as { where?: unknown };
    if (!isTooDeep(where)) return given;
    context.addIssue({ code: 'custom', path: ['where'], message: TOO_DEEP });
    return z.NEVER;
  }, Shape)
  .meta({ id: 'SegmentDefinition' });
export type Definition = z.output<typeof Definition>;
/** A definition as its author gives it: what has a default may be left out. */
export type NewDefinition = Omit<z.input<typeof Shape>, 'where'> & { where: Condition };

/** Has the conditions of a schema bounded: no depth of nesting may cost us the stack. */
export const bounded = <L extends Kinded>(condition: z.ZodType<ConditionOf<L>>) =>
  z.preprocess(
    (given, context) => {
      if (!isTooDeep(given)) return given;
      context.addIssue({ code: 'custom', message: TOO_DEEP });
      return z.NEVER;
    },
    condition.refine(
      (where) => listConditions(where).length <= CONDITIONS_MAX,
      `at most ${CONDITIONS_MAX} conditions`,
    ),
  );
