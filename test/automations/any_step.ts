// Steps of any kind over a few events, traits and segments, for tests that draw them.
import fc from 'fast-check';
import { SEND_FACTS } from '../../src/automations/condition_schema.ts';
import type { ConditionLeaf } from '../../src/automations/condition_schema.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import type { PersonLeaf, ConditionOf } from '../../src/segments/schema.ts';
import type { Filter } from '../../src/segments/value_schema.ts';
import { mail } from './journeys.ts';

type Condition = ConditionOf<PersonLeaf>;
type Steps = NewDefinition['steps'];
export type Step = Steps[string];
type DelayUntil = Extract<Step, { kind: 'delay_until' }>['until'];
type EventLeaf = Extract<Condition, { kind: 'event' }>;

/** What a definition may name. */
export type Named = { segmentIds: readonly string[]; endpointId: string };

/** The last is a reserved name: what clients once sent of it never counts. */
export const EVENTS = ['go', 'paid', 'seen', 'email_clicked'] as const;
export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
] as const;

export const number = (max: number) => fc.integer({ min: 1, max });
export const duration = fc.oneof(
  number(50).map((hours) => `PT${hours}H`),
  number(90).map((minutes) => `PT${minutes}M`),
  number(6).map((days) => `P${days}D`),
  fc.constant('P1M'),
);
export const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '15', '30', '59'))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${minute}`);
export const filters: fc.Arbitrary<Filter[]> = fc.constantFrom<Filter[][]>(
  [],
  [{ property: 'total', test: { is: 'at_least', value: 3 } }],
  [{ property: 'plan', test: { is: 'equals', value: 'pro' } }],
);
export const match = fc.record({
  event: fc.constantFrom('paid', 'seen', 'email_clicked'),
  where: filters,
});

const leaf = ({ segmentIds }: Named): fc.Arbitrary<Condition> =>
  fc.oneof(
    fc.constantFrom(...segmentIds).map((segment_id) => ({ kind: 'segment' as const, segment_id })),
    fc.record({
      kind: fc.constant('event' as const),
      event: fc.constantFrom(...EVENTS),
      where: fc.constantFrom<EventLeaf['where'][]>(
        [],
        [{ property: 'total', test: { is: 'at_least', value: 3 } }],
      ),
      count: fc.record({
        is: fc.constantFrom('at_least' as const, 'at_most' as const),
        value: number(3),
      }),
      within_days: number(7),
    }),
    fc.record({
      kind: fc.constant('event_time' as const),
      event: fc.constantFrom(...EVENTS),
      where: fc.constant<EventLeaf['where']>([]),
      occurrence: fc.constantFrom('first' as const, 'last' as const),
      test: number(5).map((days) => ({ is: 'within_last' as const, days })),
    }),
    fc.constantFrom<Condition>(
      { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } },
      { kind: 'trait', trait: 'email', test: { is: 'exists' } },
      { kind: 'trait', trait: 'plan', test: { is: 'none_of', values: ['pro', 'gold'] } },
    ),
    fc.constantFrom<Condition>({ kind: 'subscribed' }, { kind: 'suppressed' }),
    fc.constantFrom<Condition>(
      { kind: 'tag', tag: 'unsubscribed' },
      { kind: 'tag', tag: 'suppressed' },
    ),
  );
const where = (named: Named): fc.Arbitrary<Condition> =>
  fc.oneof(
    { weight: 3, arbitrary: leaf(named) },
    leaf(named).map((of): Condition => ({ kind: 'not', of })),
    fc
      .array(leaf(named), { minLength: 2, maxLength: 3 })
      .chain((of) => fc.constantFrom<Condition>({ kind: 'all', of }, { kind: 'any', of })),
  );

type Place = {
  named: Named;
  at: number;
  mails: readonly string[];
  hasEvent: boolean;
  later: fc.Arbitrary<string | null>;
};

/** What only a run can be asked. */
const runLeaf = ({ mails, hasEvent }: Place) =>
  fc.oneof(
    match.map((given) => ({ kind: 'event_since' as const, ...given })),
    ...(hasEvent ? [filters.map((given) => ({ kind: 'trigger' as const, where: given }))] : []),
    ...(mails.length > 0
      ? [
          fc.record({
            kind: fc.constant('email' as const),
            step: fc.constantFrom(...mails),
            became: fc.constantFrom(...SEND_FACTS),
          }),
        ]
      : []),
  );

const condition = (place: Place): fc.Arbitrary<ConditionOf<ConditionLeaf>> => {
  const one = fc.oneof({ weight: 3, arbitrary: where(place.named) }, runLeaf(place));
  return fc.oneof(
    { weight: 3, arbitrary: one },
    one.map((of) => ({ kind: 'not' as const, of })),
    fc
      .array(one, { minLength: 2, maxLength: 3 })
      .chain((of) => fc.constantFrom({ kind: 'all' as const, of }, { kind: 'any' as const, of })),
  );
};

/** A step of a kind; whatever other ways there are lead to later steps. */
export const stepOf = (kind: string, place: Place, next: string | null): fc.Arbitrary<Step> => {
  const { later, named } = place;
  switch (kind) {
    case 'send_email':
      return fc.constant(mail(next));
    case 'delay':
      return duration.map((given) => ({ kind: 'delay', duration: given, next }));
    case 'delay_until':
      return fc.record({
        kind: fc.constant('delay_until' as const),
        until: fc.oneof(
          time.map((given) => ({ time: given })),
          time.map((given) => ({
            time: given,
            weekdays: ['monday' as const, 'thursday' as const],
          })),
          fc.record({
            trait: fc.constant('ends_at'),
            time,
            offset: fc.constantFrom('-P3D', 'P1D', '-PT5H'),
          }),
          fc.record({ trait: fc.constant('born'), time, repeats: fc.constant('yearly' as const) }),
        ) as fc.Arbitrary<DelayUntil>,
        otherwise: later,
        next: fc.constant(next),
      });
    case 'wait_for_event':
      return fc
        .tuple(match, duration, later)
        .map(
          ([given, timeout, on_timeout]) => ({ kind, ...given, timeout, next, on_timeout }) as Step,
        );
    case 'branch':
      return fc
        .tuple(fc.array(fc.tuple(condition(place), later), { minLength: 1, maxLength: 3 }))
        .map(
          ([ways]) =>
            ({
              kind,
              branches: ways.map(([when, to]) => ({ when, next: to })),
              otherwise: next,
            }) as Step,
        );
    case 'split':
      return fc.tuple(later, fc.boolean()).map(([other, is_holdout]) => ({
        kind: 'split',
        ways: [
          { name: 'a', weight: 3, next },
          { name: 'b', weight: 2, next: other },
          { name: 'c', weight: 1, next: null, is_holdout },
        ],
      }));
    case 'update_profile':
      return fc.constant({
        kind: 'update_profile',
        traits: { stage: `at_${place.at}` },
        traits_from_event: place.hasEvent ? { last_total: 'total' } : {},
        next,
      });
    case 'webhook':
      return fc.constant({ kind: 'webhook', endpoint_id: named.endpointId, next });
    default:
      return fc.constant({ kind: 'exit' });
  }
};
