import { z } from 'zod';
import { AccountAnswer } from './account_answer.ts';
import { RAMP_STAGES_DEFAULT } from './ramp.ts';

export const RATE_MIN = 0.01;
export const RATE_MAX = 1_000;
export const RAMP_STAGES_MAX = 14;
const STAGE_MAX = 10_000_000;
/** Whatever began before has ended. */
const STARTED_MIN = '2000-01-01';

/** A warm-up that begins later than this has a wrong year. */
export const RAMP_STARTS_WITHIN_DAYS_MAX = 366;
const DAY_MS = 86_400_000;

const isSoonEnough = (day: string): boolean =>
  day <= new Date(Date.now() + RAMP_STARTS_WITHIN_DAYS_MAX * DAY_MS).toISOString().slice(0, 10);

const Rate = z.number().min(RATE_MIN).max(RATE_MAX);
const Started = z.iso
  .date()
  .refine((day) => day >= STARTED_MIN, `not before ${STARTED_MIN}`)
  .refine(isSoonEnough, `at most ${RAMP_STARTS_WITHIN_DAYS_MAX} days ahead`);
const Stages = z.array(z.int().min(1).max(STAGE_MAX)).min(1).max(RAMP_STAGES_MAX);

const RATE =
  'Sends a second at most; kept to six digits. Without it, as many as the provider takes.';
const RAMP =
  'A warm-up over two weeks. What exceeds its day waits for the next one; the last tenth is for transactional email.';
const STARTED_ON = 'Its first day, in UTC.';
const STAGES =
  'Sends a day, from its first day to its last, evenly spread; after that there is no limit.';

/** How fast a provider may be used, as its record is given. */
export const PLAN_INPUT = {
  rate_per_second: Rate.nullish().meta({ description: RATE }),
  ramp: z
    .strictObject({
      started_on: Started.meta({ description: STARTED_ON }),
      stages: Stages.default([...RAMP_STAGES_DEFAULT]).meta({ description: STAGES }),
    })
    .nullish()
    .meta({ description: RAMP }),
};

/** The same, as its record is shown. */
export const PLAN_SHOWN = {
  rate_per_second: z.number().nullable().meta({ description: RATE }),
  ramp: z
    .strictObject({
      started_on: z.iso.date().meta({ description: STARTED_ON }),
      stages: z.array(z.int()).meta({ description: STAGES }),
    })
    .nullable()
    .meta({ description: RAMP }),
};

/** How a provider is used just now. */
export const PACE_SHOWN = z
  .strictObject({
    circuit: z.enum(['closed', 'open', 'probing']).meta({
      description:
        '`closed`: used as usual. `open`: it fails, and is left alone until `open_until`. `probing`: one finds out.',
    }),
    open_until: z.iso.datetime().nullable(),
    paused: z
      .strictObject({
        reason: z.string().meta({ description: 'The class of the failure, as of a test.' }),
        cause: z.string(),
        fix: z.string(),
        answer: AccountAnswer.nullable(),
        until: z.iso.datetime().nullable().meta({
          description: 'When one send is tried; null while one is.',
        }),
      })
      .nullable()
      .meta({
        description:
          'The provider takes nothing of this account for now: a limit is used up, sending is paused, or it ' +
          'throttled. The queue waits. A test message that it takes, or saving its connection, ends that.',
      }),
    rate_per_second: z.number().nullable().meta({
      description: 'What is in effect; null is as many as the provider takes.',
    }),
    is_rate_learned: z.boolean().meta({
      description: 'The provider throttled: it is less than `rate_per_second` says, for a while.',
    }),
    ramp_today: z
      .strictObject({ allowed: z.int(), used: z.int() })
      .nullable()
      .meta({ description: 'What the warm-up allows today, in UTC; null when it does not limit.' }),
  })
  .meta({ description: 'How it is used just now.' });

/** The same of a provider that nothing holds up. */
export const UNPACED: z.output<typeof PACE_SHOWN> = {
  circuit: 'closed',
  open_until: null,
  paused: null,
  rate_per_second: null,
  is_rate_learned: false,
  ramp_today: null,
};
