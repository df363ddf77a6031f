import { z } from 'zod';
import { ASSUMPTION_NAMES, ASSUMPTIONS } from './assumed.ts';
import { OUTCOMES } from './world.ts';

/** How far back a simulation begins. */
export const SIMULATION_DAYS_MAX = 90;
/** How many entries one simulation follows, the newest; and how long it may take. */
export const SIMULATED_RUNS_MAX = 2_000;
export const SIMULATION_TIME_MAX_MS = 10_000;
export const SAMPLE_PEOPLE_MAX = 20;

const Count = z.int().nonnegative();
const Counts = z.record(z.string(), Count);

/** What would have been. */
export const Simulation = z
  .strictObject({
    automation_id: z.uuid(),
    version: z.int(),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    is_partial: z.boolean().meta({
      description:
        `Whether there was more than was followed: ${SIMULATED_RUNS_MAX} entries ` +
        `or ${SIMULATION_TIME_MAX_MS / 1_000} seconds.`,
    }),
    triggered: Count.meta({
      description:
        'What the trigger let through: events that pass its filters, or who came into a segment, or went.',
    }),
    entered: Count,
    kept_out: z.strictObject({ late: Count, re_entry: Count }),
    reached: Counts.meta({ description: 'How many came to each step.' }),
    sent: Counts.meta({ description: 'How many mails each step would have sent.' }),
    called: Counts.meta({ description: 'How many calls each webhook step would have made.' }),
    skipped: Counts.meta({ description: 'How many were not sent, by the reason.' }),
    outcomes: z.partialRecord(z.enum([...OUTCOMES, 'inside']), Count),
    converted_before: Counts.meta({
      description: 'Of those who reached the goal: before which step they had not come to.',
    }),
    assumed: z
      .array(
        z.strictObject({
          what: z.enum(ASSUMPTION_NAMES),
          says: z.string(),
          name: z
            .string()
            .nullable()
            .meta({ description: 'Which trait, or the id of which segment.' }),
          runs: Count.nullable().meta({
            description: 'Of how many runs some decision rests on it; null where it may be any.',
          }),
        }),
      )
      .meta({ description: 'What cannot be known of the past, and what counts instead.' }),
    sample: z
      .array(
        z.strictObject({
          profile_id: z.uuid(),
          entered_at: z.iso.datetime(),
          outcome: z.enum([...OUTCOMES, 'inside']),
          traits_of_today: z.array(z.string()).meta({
            description: 'Traits that it asked for and that were told anew since.',
          }),
          decisions: z.array(
            z.strictObject({
              at: z.iso.datetime(),
              step_id: z.string(),
              decision: z.string(),
            }),
          ),
        }),
      )
      .max(SAMPLE_PEOPLE_MAX),
  })
  .meta({
    id: 'Simulation',
    examples: [
      {
        automation_id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
        version: 1,
        from: '2026-01-01T12:00:00.000Z',
        to: '2026-01-31T12:00:00.000Z',
        is_partial: false,
        triggered: 1,
        entered: 1,
        kept_out: { late: 0, re_entry: 0 },
        reached: { welcome: 1, first_step: 1 },
        sent: { welcome: 1 },
        called: {},
        skipped: {},
        outcomes: { inside: 1 },
        converted_before: {},
        assumed: [
          {
            what: 'trait_of_today',
            says: ASSUMPTIONS.trait_of_today,
            name: 'email',
            runs: 1,
          },
        ],
        sample: [],
      },
    ],
  });
export type Simulation = z.output<typeof Simulation>;
