import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { NeededEntries } from '../segments/segments.ts';
import { KeptDefinition } from './schema.ts';

/** Begins to read the history of the project's segments at its present end, unless somebody reads it already. */
export const insertReader = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    insert into automations.segment_readers (project_id, seen_entry)
    select ${projectId}, coalesce(max(known.last_entry), 0) from segments.projects as known
    where known.project_id = ${projectId}
    on conflict do nothing
  `);

const Reader = z.strictObject({ seen_entry: z.int() });

/** How far the history was read, held until the transaction ends; null where nobody reads it. */
export const holdReader = async ({ tx, projectId }: Scope): Promise<number | null> =>
  (
    await tx.maybeOne(sql.type(Reader)`
      select seen_entry from automations.segment_readers where project_id = ${projectId} for update
    `)
  )?.seen_entry ?? null;

export const moveReader = ({ tx, projectId }: Scope, seenEntry: number) =>
  tx.query(sql.unsafe`
    update automations.segment_readers set seen_entry = ${seenEntry}::bigint where project_id = ${projectId}
  `);

const Behind = z.strictObject({ is_behind: z.boolean() });

/** Whether there is history that was not read. */
export const isReaderBehind = async ({ tx, projectId }: Scope): Promise<boolean> =>
  (
    await tx.one(sql.type(Behind)`
      select exists (
        select from automations.segment_readers as reader
        join segments.projects as known on known.project_id = reader.project_id
        where reader.project_id = ${projectId} and known.project_id = ${projectId}
        and known.last_entry > reader.seen_entry
      ) as is_behind
    `)
  ).is_behind;

type NewTrigger = {
  automationId: string;
  version: number;
  segmentId: string;
  change: 'entered' | 'left';
  afterEntry: number;
};

/** Has an automation begin with what is written after an entry; one that asked for the same goes on where it was. */
export const upsertSegmentTrigger = (
  { tx, projectId }: Scope,
  { automationId, version, segmentId, change, afterEntry }: NewTrigger,
) =>
  tx.query(sql.unsafe`
    insert into automations.segment_triggers as kept
      (project_id, automation_id, version, segment_id, change, after_entry)
    values (${projectId}, ${automationId}, ${version}, ${segmentId}, ${change}, ${afterEntry}::bigint)
    on conflict (project_id, automation_id) do update
    set version = excluded.version, segment_id = excluded.segment_id, change = excluded.change,
      after_entry = case
        when (kept.segment_id, kept.change) = (excluded.segment_id, excluded.change) then kept.after_entry
        else excluded.after_entry
      end
  `);

/** From the commit on no entry starts a run of it. */
export const deleteSegmentTrigger = (
  { tx, projectId }: Pick<Scope, 'tx' | 'projectId'>,
  automationId: string,
) =>
  tx.query(sql.unsafe`
    delete from automations.segment_triggers where project_id = ${projectId} and automation_id = ${automationId}
  `);

const SegmentTrigger = z.strictObject({
  automation_id: z.uuid(),
  version: z.int(),
  segment_id: z.uuid(),
  change: z.enum(['entered', 'left']),
  after_entry: z.int(),
  definition: KeptDefinition,
});
export type SegmentTrigger = z.output<typeof SegmentTrigger>;

/** What coming and going in some segments starts. */
export const listSegmentTriggers = ({ tx, projectId }: Scope, segmentIds: readonly string[]) =>
  tx.any(sql.type(SegmentTrigger)`
    select trigger.automation_id, trigger.version, trigger.segment_id, trigger.change, trigger.after_entry,
      version.definition
    from automations.segment_triggers as trigger
    join automations.versions as version
      on version.project_id = trigger.project_id and version.automation_id = trigger.automation_id
      and version.version = trigger.version
    where trigger.project_id = ${projectId} and version.project_id = ${projectId}
    and trigger.segment_id = any (${sql.array([...segmentIds], 'uuid')})
  `);

const AfterEntry = z.strictObject({ after_entry: z.int() });

/** Since which entry an automation listens; null where it does not. */
export const findAfterEntry = async (
  { tx, projectId }: Scope,
  automationId: string,
): Promise<number | null> =>
  (
    await tx.maybeOne(sql.type(AfterEntry)`
      select after_entry from automations.segment_triggers
      where project_id = ${projectId} and automation_id = ${automationId}
    `)
  )?.after_entry ?? null;

const User = z.strictObject({ name: z.string() });

/** How many automations are named to whoever wants to delete what they need. */
const USERS_MAX = 10;

/** The automations that ask about a segment: by their latest version, the active one, or one that people are on. */
export const listSegmentUsers = ({ tx, projectId }: Scope, segmentId: string) =>
  tx.any(sql.type(User)`
    select automation.name from automations.automations as automation
    where automation.project_id = ${projectId} and automation.status not in ('archived', 'deleting')
    and exists (
      select from automations.versions as version
      where version.project_id = ${projectId} and version.automation_id = automation.automation_id
      and strpos(version.definition::text, ${`"segment_id": "${segmentId}"`}) > 0
      and (
        version.version = automation.active_version
        or version.version = (
          select max(made.version) from automations.versions as made
          where made.project_id = ${projectId} and made.automation_id = automation.automation_id
        )
        or exists (
          select from automations.runs as run
          where run.project_id = ${projectId} and run.automation_id = automation.automation_id
          and run.version = version.version and run.status in ('active', 'paused')
        )
      )
    )
    order by automation.automation_id
    limit ${USERS_MAX}
  `);

const ReadTo = z.strictObject({ seen_entry: z.int() });
const Since = z.strictObject({ segment_id: z.uuid(), since: z.date() });

/**
 * What is needed of the history: what was not read yet, and what happened in segments since runs began that wait for
 * their people to come into them, however long those are frozen.
 */
export const listNeededEntries = async ({ tx, projectId }: Scope): Promise<NeededEntries> => {
  const reader = await tx.maybeOne(sql.type(ReadTo)`
    select seen_entry from automations.segment_readers where project_id = ${projectId}
  `);
  const since = await tx.any(sql.type(Since)`
    select waiting.segment_id, min(run.started_at) as since
    from automations.waits as waiting
    join automations.runs as run on run.project_id = waiting.project_id and run.run_id = waiting.run_id
    where waiting.project_id = ${projectId} and run.project_id = ${projectId}
    and waiting.segment_id is not null and run.status in ('active', 'paused')
    group by waiting.segment_id
  `);
  return { readTo: reader?.seen_entry ?? null, since };
};
