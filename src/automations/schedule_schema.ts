/// <reference lib="esnext.temporal" />
import { z } from 'zod';
import { Zone } from './time_schema.ts';
import { findRuleFault, nextLocal, RULE_CHARS_MAX } from './recurrence.ts';

export const PER_HOUR_MAX = 1_000_000;
/** Whose clock a schedule goes by. */
export const ZONES = ['automation', 'person'] as const;

const isLocalTime = (text: string): boolean => {
  if (!/^20\d{2}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return false;
  try {
    Temporal.PlainDateTime.from(text);
    return true;
  } catch {
    return false;
  }
};

const LocalTime = z
  .string()
  .refine(isLocalTime, 'must be a local time of this century, such as 2026-01-31T09:00')
  .meta({
    description: 'A local date and time without a zone, such as `2026-01-31T09:00`.',
    examples: ['2026-01-31T09:00'],
  });

const Rule = z
  .string()
  .max(RULE_CHARS_MAX, `at most ${RULE_CHARS_MAX} characters`)
  .superRefine((rule, context) => {
    const fault = findRuleFault(rule);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({
    description:
      'A recurrence rule (RFC 5545, without `RRULE:`), such as `FREQ=MONTHLY;BYDAY=1MO`. `UNTIL` is a local time. ' +
      'Without a rule the schedule has one occurrence.',
    examples: ['FREQ=WEEKLY;BYDAY=MO'],
  });

const ScheduleZone = z.enum(ZONES).default('automation');

/** What the times of a schedule depend on, whatever else its definition still lacks. */
export const ScheduleTimes = z.object({
  trigger: z.object({
    kind: z.literal('schedule'),
    start: LocalTime,
    rule: Rule.optional(),
    zone: ScheduleZone,
  }),
  settings: z.object({ timezone: Zone.default('UTC') }).prefault({}),
});

/** Starts all members of a segment at a time, once or repeatedly. */
export const ScheduleTrigger = z
  .strictObject({
    kind: z.literal('schedule'),
    segment_id: z.uuid(),
    start: LocalTime,
    rule: Rule.optional(),
    zone: ScheduleZone.meta({
      description:
        '`person`: each person starts at the time in their own zone (trait `timezone`, else `settings.timezone`). ' +
        'Membership counts when the first zone reaches the time.',
    }),
    per_hour: z.int().min(1).max(PER_HOUR_MAX, `at most ${PER_HOUR_MAX}`).optional().meta({
      description:
        'The maximum of starts in an hour, evenly. Without it, people start as fast as possible.',
    }),
  })
  .meta({
    description:
      'Starts all members of a segment at a local time, in the zone of the automation or of each person. The first ' +
      'occurrence is the first of the rule from `start` on.',
  });
export type Schedule = z.output<typeof ScheduleTrigger>;

type ScheduleFault = { path: (string | number)[]; message: string };

/** What is wrong with a schedule whose parts are all right. */
export const findScheduleFaults = (trigger: { kind: string } | Schedule): ScheduleFault[] => {
  if (!('start' in trigger)) return [];
  const { start, rule } = trigger;
  const hasTimes = isLocalTime(start) && (rule === undefined || findRuleFault(rule) === null);
  const faults: ScheduleFault[] = [];
  if (trigger.zone === 'person' && trigger.per_hour !== undefined)
    faults.push({
      path: ['trigger', 'per_hour'],
      message:
        'each person has a time of their own: leave per_hour out, or take the zone of the automation',
    });
  if (hasTimes && nextLocal(trigger, start, true) === null)
    faults.push({
      path: ['trigger', 'rule'],
      message: 'this rule has no occurrence: no day is as it says',
    });
  return faults;
};
