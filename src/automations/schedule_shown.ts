import { z } from 'zod';
import type { Limit } from '../base/route.ts';
import { RULE_CHARS_MAX, RULE_COUNT_MAX } from './recurrence.ts';
import { PER_HOUR_MAX } from './schedule_schema.ts';
import { OCCURRENCES_SHOWN } from './schedule.ts';
import type { Occurrence } from './schedule.ts';

const Shown = z
  .strictObject({
    occurrence: z.string().meta({ description: 'The local time.' }),
    at: z.iso.datetime(),
  })
  .meta({
    id: 'Occurrence',
    examples: [{ occurrence: '2026-01-31T12:00', at: '2026-01-31T12:00:00.000Z' }],
  });

export const ShownOccurrences = z.array(Shown).meta({
  description: `The next ${OCCURRENCES_SHOWN} occurrences of its schedule at most, while it is active or paused.`,
});

export const toShownOccurrence = ({ occurrence, at }: Occurrence) => ({
  occurrence,
  at: at.toISOString(),
});

export const scheduleLimits: readonly Limit[] = [
  { name: 'Rule of a schedule', value: RULE_CHARS_MAX, unit: 'characters', where: '`rule`' },
  {
    name: 'Occurrences that a rule counts',
    value: RULE_COUNT_MAX,
    unit: 'items',
    where: '`COUNT` in `rule`',
  },
  {
    name: 'People that a schedule starts in an hour',
    value: PER_HOUR_MAX,
    unit: 'items',
    where: '`per_hour`',
  },
];
