import { z } from 'zod';
import { EmailAddress } from '../base/email_address.ts';
import type { Limit } from '../base/route.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { FILTERS_MAX } from '../segments/segments.ts';
import { RUN_STATUSES } from './erase_queries.ts';
import { PersonRef } from './person_ref.ts';
import type { Command } from './commands/queries.ts';
import { ShownCommand, toShownCommands } from './commands/shown.ts';
import { AUTOMATION_STATUSES } from './queries.ts';
import type { Kept } from './queries.ts';
import { ShownOccurrences, toShownOccurrence } from './schedule_shown.ts';
import type { Occurrence } from './schedule.ts';
import { Definition, STEPS_MAX } from './schema.ts';
import { OUTCOMES } from './world.ts';
import type { ShownRun } from './shown_queries.ts';
import { BRANCHES_MAX, WAYS_MAX } from './step_schema.ts';

export const NAME_OF_AUTOMATION_CHARS_MAX = 200;
export const DEFINITION_BYTES_MAX = 256 * 1024;

const Timestamp = z.iso.datetime();
const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const NOW = '2026-01-31T12:00:00.000Z';

export const AutomationParams = z.object({
  id: z.uuid().meta({ description: "The automation's id." }),
});

/** A welcome mail, and a nudge three days later for whoever has done nothing by then. */
export const DEFINITION_SHOWN: z.input<typeof Definition> = {
  trigger: { kind: 'event', event: 'user_signed_up', where: [] },
  settings: { re_entry: 'once', goal: { event: 'order_placed', where: [] } },
  entry: 'welcome',
  steps: {
    welcome: {
      kind: 'send_email',
      provider_id: ID,
      template_id: ID,
      template_version: 1,
      next: 'first_step',
    },
    first_step: {
      kind: 'wait_for_event',
      event: 'project_created',
      where: [],
      timeout: 'P3D',
      next: null,
      on_timeout: 'nudge',
    },
    nudge: {
      kind: 'send_email',
      provider_id: ID,
      template_id: ID,
      template_version: 1,
      next: null,
    },
  },
};
const PARSED_SHOWN = Definition.parse(DEFINITION_SHOWN);

const listed = {
  id: z.uuid(),
  name: z.string(),
  status: z.enum(AUTOMATION_STATUSES),
  active_version: z
    .int()
    .nullable()
    .meta({ description: 'What whoever comes now follows; null until it is activated.' }),
  latest_version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
};
const LISTED_SHOWN = {
  id: ID,
  name: 'Welcome',
  status: 'draft' as const,
  active_version: null,
  latest_version: 1,
  created_at: NOW,
  updated_at: NOW,
};

const WHOLE_SHOWN = { ...LISTED_SHOWN, definition: PARSED_SHOWN, commands: [], occurrences: [] };

export const Listed = z
  .strictObject(listed)
  .meta({ id: 'AutomationListed', examples: [LISTED_SHOWN] });

export const Automation = z
  .strictObject({
    ...listed,
    definition: z.unknown().meta({
      type: 'object',
      description:
        'The latest version: a trigger, settings, and steps that name the ones after them.',
    }),
    commands: z.array(ShownCommand).meta({
      description: 'Commands that count for everyone inside already, and that a job still writes.',
    }),
    occurrences: ShownOccurrences,
  })
  .meta({
    id: 'Automation',
    description: 'What should follow when something happens.',
    examples: [WHOLE_SHOWN],
  });

export const AutomationDeleted = z
  .strictObject({ id: z.uuid(), deleted: z.literal(true) })
  .meta({ id: 'AutomationDeleted', examples: [{ id: ID, deleted: true }] });

/** The automation of the examples, as it stands after something was done with it. */
export const shownAs = (given: object) => ({ ...WHOLE_SHOWN, ...given });
export const NEXT_SHOWN = Definition.parse({ ...DEFINITION_SHOWN, settings: {} });

export const toListed = ({ automation_id, created_at, updated_at, ...row }: Kept) => ({
  id: automation_id,
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

export const toAutomation = (
  kept: Kept,
  definition: Definition | null,
  { commands, occurrences }: { commands: readonly Command[]; occurrences: readonly Occurrence[] },
) => ({
  ...toListed(kept),
  definition,
  commands: toShownCommands(commands),
  occurrences: occurrences.map(toShownOccurrence),
});

export const NameOfAutomation = z
  .string()
  .min(1, `1 to ${NAME_OF_AUTOMATION_CHARS_MAX} characters`)
  .max(NAME_OF_AUTOMATION_CHARS_MAX, `1 to ${NAME_OF_AUTOMATION_CHARS_MAX} characters`)
  .refine(isStorable, NOT_STORABLE);

export const Rename = z
  .strictObject({ name: NameOfAutomation })
  .meta({ examples: [{ name: 'Welcome, all' }] });

export const NewAutomation = z
  .strictObject({ name: NameOfAutomation, definition: Definition })
  .meta({ examples: [{ name: 'Welcome', definition: DEFINITION_SHOWN }] });

export const NewVersion = z
  .strictObject({
    after_version: z.int().min(1),
    definition: Definition,
  })
  .meta({ examples: [{ after_version: 1, definition: { ...DEFINITION_SHOWN, settings: {} } }] });

export const Activate = z
  .strictObject({
    version: z.int().min(1).optional().meta({ description: 'The latest, if it is left out.' }),
  })
  .meta({ examples: [{}] });

export const RUN_SHOWN = {
  id: ID,
  automation_id: ID,
  version: 1,
  trigger_event_id: null,
  trigger_entry: null,
  status: 'active' as const,
  outcome: null,
  is_test: false,
  step_id: 'welcome',
  wake_at: NOW,
  started_at: NOW,
  ended_at: null,
};

export const Run = z
  .strictObject({
    id: z.uuid(),
    automation_id: z.uuid(),
    version: z.int(),
    trigger_event_id: z.uuid().nullable().meta({ description: 'Null when no event began it.' }),
    trigger_entry: z.int().nullable().meta({
      description: 'The entry of a segment’s history that began it, if one did.',
    }),
    status: z.enum(RUN_STATUSES),
    outcome: z.enum(OUTCOMES).nullable().meta({ description: 'Why it ended.' }),
    is_test: z.boolean(),
    step_id: z.string().nullable().meta({ description: 'Where it is; null when it has ended.' }),
    wake_at: Timestamp.nullable().meta({ description: 'When it goes on at the latest.' }),
    started_at: Timestamp,
    ended_at: Timestamp.nullable(),
  })
  .meta({
    id: 'Run',
    description: "One person's way through an automation.",
    examples: [RUN_SHOWN],
  });
export const toRun = (row: ShownRun) => ({
  id: row.run_id,
  automation_id: row.automation_id,
  version: row.version,
  trigger_event_id: row.trigger_event_id,
  trigger_entry: row.trigger_entry,
  status: row.status,
  outcome: row.outcome,
  is_test: row.is_test,
  step_id: row.step_id,
  wake_at: row.wake_at?.toISOString() ?? null,
  started_at: row.started_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
});

export const StartRun = z
  .strictObject({ profile_id: PersonRef })
  .meta({ examples: [{ profile_id: 'external_id:ann' }] });

export const TestRun = z
  .strictObject({
    profile_id: PersonRef,
    to: EmailAddress.meta({
      description: 'Where all its mail goes.',
      examples: ['me@example.com'],
    }),
    call_webhooks: z.boolean().default(false).meta({
      description: 'Whether webhook steps tell their endpoints; once each, whatever they answer.',
    }),
  })
  .meta({ examples: [{ profile_id: 'external_id:ann', to: 'me@example.com' }] });

export const automationLimits: readonly Limit[] = [
  { name: 'Steps of an automation', value: STEPS_MAX, unit: 'items', where: '`steps`' },
  { name: 'Filters of a trigger or a wait', value: FILTERS_MAX, unit: 'items', where: '`where`' },
  { name: 'Ways of a branch', value: BRANCHES_MAX, unit: 'items', where: '`branches`' },
  { name: 'Ways of a split', value: WAYS_MAX, unit: 'items', where: '`ways`' },
  {
    name: 'Name of an automation',
    value: NAME_OF_AUTOMATION_CHARS_MAX,
    unit: 'characters',
    where: '`name`',
  },
  {
    name: 'Body of an automation',
    value: DEFINITION_BYTES_MAX,
    unit: 'bytes',
    where: 'automations and their versions',
  },
];
