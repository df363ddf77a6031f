import { z } from 'zod';
import { isDuration, isSignedDuration, isZone, WEEKDAYS } from './clock.ts';
import { FieldName } from '../segments/segments.ts';

export const Duration = z
  .string()
  .refine(isDuration, 'must be an ISO 8601 duration such as PT2H, P3D or P1M, at most a year')
  .meta({
    id: 'Duration',
    description:
      'An ISO 8601 duration, longer than nothing and at most a year: `PT2H` is two hours, `P3D` three days, ' +
      '`P1M` a month. Days, weeks and months are those of a calendar.',
    examples: ['PT2H', 'P3D', 'P1M'],
  });
export const Zone = z
  .string()
  .refine(isZone, 'must be a time zone of the IANA database, such as Europe/Berlin')
  .meta({
    id: 'TimeZone',
    description: 'A time zone of the IANA database, such as `Europe/Berlin`.',
    examples: ['Europe/Berlin', 'UTC'],
  });
export const TimeOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:00')
  .meta({ id: 'TimeOfDay', description: 'A time of day such as `09:00`.' });

const AtTime = z
  .strictObject({
    time: TimeOfDay,
    weekdays: z
      .array(z.enum(WEEKDAYS))
      .min(1, 'at least one weekday')
      .optional()
      .meta({ description: 'Any day, if they are left out.' }),
  })
  .meta({ description: 'The next time that it is so late.' });

const AtDate = z
  .strictObject({
    trait: FieldName.meta({
      description: 'Whose value is a date, `2026-01-31`, or a moment, `2026-01-31T12:00:00Z`.',
    }),
    offset: z
      .string()
      .refine(isSignedDuration, 'must be an ISO 8601 duration such as -P3D, at most a year')
      .meta({
        description: 'So long after the date, or before it: an ISO 8601 duration such as `-P3D`.',
        examples: ['-P3D', 'PT2H'],
      })
      .optional(),
    time: TimeOfDay.optional().meta({ description: 'At which time on that day.' }),
    repeats: z
      .literal('yearly')
      .optional()
      .meta({ description: 'Whether the day comes each year, as a birthday does.' }),
  })
  .meta({ description: 'A date of the person’s, which is a trait.' });

/** What a person may wait for without anything happening. */
export const Until = z.union([AtTime, AtDate]);
