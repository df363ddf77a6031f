import { z } from 'zod';
import { DECISIONS, saysOf } from './decisions.ts';
import type { Decided } from './decisions.ts';

const Timestamp = z.iso.datetime();
const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';

/** What its limits or its automation have made of a mail since it was planned: it waits, or it is not sent. */
const LIMITED: Record<string, Decided> = {
  'queued/quiet_hours': 'quiet_hours',
  'queued/frequency_cap': 'frequency_cap',
  'queued/automation_paused': 'automation_paused',
  'cancelled/automation_archived': 'automation_archived',
  'cancelled/automation_deleted': 'automation_deleted',
  'cancelled/frequency_cap': 'frequency_cap_skipped',
  'cancelled/unconfirmed_address': 'unconfirmed_address',
  'cancelled/recipient_cap': 'recipient_cap',
  'cancelled/run_merged': 'merged',
  'cancelled/sent_by_other_run': 'sent_by_other_run',
  'queued/unconfirmed_budget': 'unconfirmed_budget',
};

export const limitedAs = (status: string, reason: string | null): Decided | null =>
  LIMITED[`${status}/${reason}`] ?? null;

const NAMES = Object.keys(DECISIONS) as [Decided, ...Decided[]];

const Entry = z.strictObject({
  decision: z.enum(NAMES),
  says: z.string(),
  at: Timestamp.nullable().meta({ description: 'When it was decided; null of what is so now.' }),
  run_id: z.uuid().nullable(),
  step_id: z.string().nullable(),
  detail: z.record(z.string(), z.string()),
});
export type Entry = z.output<typeof Entry>;

const DRAFT_SHOWN: Entry = {
  decision: 'automation_draft',
  says: DECISIONS.automation_draft.says,
  at: null,
  run_id: null,
  step_id: null,
  detail: {},
};

/** Every decision about somebody in an automation, in order. */
export const Explanation = z
  .strictObject({
    automation_id: z.uuid(),
    profile_id: z.uuid(),
    decisions: z.array(Entry),
    stopped_by: Entry.nullable().meta({
      description: 'The first that stopped what would have followed; null when nothing did.',
    }),
  })
  .meta({
    id: 'Explanation',
    examples: [
      { automation_id: ID, profile_id: ID, decisions: [DRAFT_SHOWN], stopped_by: DRAFT_SHOWN },
    ],
  });

type Given = { at?: Date | null; runId?: string; stepId?: string; detail?: Record<string, string> };

/** One line of an explanation. */
export const toEntry = (decision: Decided, { at, runId, stepId, detail }: Given = {}): Entry => ({
  decision,
  says: saysOf(DECISIONS[decision], detail?.['reason']),
  at: at?.toISOString() ?? null,
  run_id: runId ?? null,
  step_id: stepId ?? null,
  detail: detail ?? {},
});

export const stops = ({ decision }: Entry): boolean => DECISIONS[decision].stops;

/** What a mail of a run that goes on waits for now, if it waits for a better time. */
const holds = ({ decision }: Entry): boolean =>
  decision === 'quiet_hours' || decision === 'frequency_cap';

/** What stops a run until another decision has it continue. */
const ENDED_BY: Partial<Record<Decided, Decided>> = {
  run_failed: 'run_retried',
  merged: 'restored',
};

/** Whether a run continued later: what stopped it then stops nothing any more. */
const isOver = ({ decision }: Entry, at: number, entries: readonly Entry[]): boolean => {
  const ending = ENDED_BY[decision];
  return ending !== undefined && entries.slice(at).some((later) => later.decision === ending);
};

/** Finds what stopped a person the last time that they came: what was before that is over. */
export const findStop = (entries: readonly Entry[]): Entry | null =>
  entries.find((entry, at) => stops(entry) && !isOver(entry, at, entries)) ??
  entries.slice(-1).find(holds) ??
  null;
