// Automations of any shape over a few events, traits and segments, for tests that draw them.
import fc from 'fast-check';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { duration, filters, match, number, stepOf, time, ZONES } from './any_step.ts';
import type { Named, Step } from './any_step.ts';

type Settings = NonNullable<NewDefinition['settings']>;

const KINDS = [
  'send_email',
  'send_email',
  'delay',
  'delay_until',
  'wait_for_event',
  'branch',
  'branch',
  'split',
  'update_profile',
  'webhook',
] as const;

const settings = ({ segmentIds }: Named, hasEvent: boolean): fc.Arbitrary<Settings> =>
  fc.record({
    re_entry: fc.oneof(
      fc.constantFrom('once' as const, 'every_time' as const),
      duration.map((once_per) => ({ once_per })),
      ...(hasEvent ? [fc.constant({ by_property: 'plan' })] : []),
    ),
    goal: fc.oneof(
      { weight: 2, arbitrary: fc.constant(null) },
      match,
      fc.constantFrom(...segmentIds).map((segment_id) => ({ segment_id })),
    ),
    exit_on_unsubscribe: fc.boolean(),
    late_events: fc.constantFrom('PT24H', 'PT2H'),
    quiet_hours: fc.option(
      fc.tuple(time, time).map(([from, to]) => ({ from, to: to === from ? '12:34' : to })),
    ),
    frequency_cap: fc.option(
      fc.record({
        sends: number(2),
        per: fc.constantFrom('PT20H', 'P1D', 'P3D', 'P1M'),
        of: fc.constantFrom('automation' as const, 'project' as const),
        over: fc.constantFrom('defer' as const, 'skip' as const),
      }),
    ),
    category: fc.constantFrom('marketing' as const, 'marketing' as const, 'transactional' as const),
    timezone: fc.constantFrom(...ZONES),
    expires_after: fc.constantFrom('PT1H', 'PT72H'),
  });

const stepsOf = (
  kinds: readonly string[],
  named: Named,
  hasEvent: boolean,
): fc.Arbitrary<Record<string, Step>> => {
  const mails = kinds.flatMap((kind, at) => (kind === 'send_email' ? [`s${at}`] : []));
  return fc
    .tuple(
      ...kinds.map((kind, at) => {
        const next = at + 1 < kinds.length ? `s${at + 1}` : null;
        const targets = kinds.flatMap((_, to) => (to > at ? [`s${to}`] : []));
        const later = fc.constantFrom<(string | null)[]>(null, ...targets);
        return stepOf(kind, { named, at, mails, hasEvent, later }, next);
      }),
    )
    .map((steps) => Object.fromEntries(steps.map((step, at) => [`s${at}`, step])));
};

/** Any definition that is no circle: all triggers that come by themselves, all kinds of steps, all settings. */
export const anyDefinition = (named: Named): fc.Arbitrary<NewDefinition> =>
  fc
    .tuple(
      fc.oneof(
        {
          weight: 3,
          arbitrary: filters.map((given) => ({
            kind: 'event' as const,
            event: 'go',
            where: given,
          })),
        },
        fc
          .tuple(
            fc.constantFrom('segment_entered' as const, 'segment_left' as const),
            fc.constantFrom(...named.segmentIds),
          )
          .map(([kind, segment_id]) => ({ kind, segment_id })),
      ),
      fc.array(fc.constantFrom(...KINDS), { minLength: 2, maxLength: 6 }),
      fc.boolean(),
    )
    .chain(([trigger, kinds, exits]) => {
      const hasEvent = trigger.kind === 'event';
      const all = exits ? [...kinds, 'exit'] : kinds;
      return fc.record({
        trigger: fc.constant(trigger),
        settings: settings(named, hasEvent),
        entry: fc.constant('s0'),
        steps: stepsOf(all, named, hasEvent),
      });
    });
