import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { KeptDefinition } from './schema.ts';
import type { Definition, Trigger } from './schema.ts';
import { deleteSegmentTrigger } from './segment_queries.ts';

export const insertAutomation = async (
  { tx, projectId }: Scope,
  automationId: string,
  name: string,
) => {
  await tx.query(sql.unsafe`
    insert into automations.automations (project_id, automation_id, name, status, created_at, updated_at)
    values (${projectId}, ${automationId}, ${name}, 'draft', now(), now())
    on conflict do nothing
  `);
};

export const insertVersion = (
  { tx, projectId }: Scope,
  automationId: string,
  version: number,
  definition: Definition,
) =>
  tx.query(sql.unsafe`
    insert into automations.versions (project_id, automation_id, version, definition, created_at)
    values (${projectId}, ${automationId}, ${version}, ${JSON.stringify(definition)}::jsonb, now())
    on conflict do nothing
  `);

/** Makes a version the one that new runs take. */
export const activateVersion = async (
  { tx, projectId }: Scope,
  automationId: string,
  version: number,
  trigger: Trigger,
) => {
  await tx.query(sql.unsafe`
    update automations.automations set status = 'active', active_version = ${version}, updated_at = now()
    where project_id = ${projectId} and automation_id = ${automationId}
  `);
  await tx.query(sql.unsafe`
    delete from automations.triggers where project_id = ${projectId} and automation_id = ${automationId}
  `);
  if (trigger.kind !== 'event') return;
  await tx.query(sql.unsafe`
    insert into automations.triggers (project_id, event_name, automation_id, version)
    values (${projectId}, ${trigger.event}, ${automationId}, ${version})
  `);
};

/** From the commit on nothing starts a run by itself. */
export const deleteTrigger = async (
  { tx, projectId }: Pick<Scope, 'tx' | 'projectId'>,
  automationId: string,
) => {
  await tx.query(sql.unsafe`
    delete from automations.triggers where project_id = ${projectId} and automation_id = ${automationId}
  `);
  await deleteSegmentTrigger({ tx, projectId }, automationId);
};

export const AUTOMATION_STATUSES = ['draft', 'active', 'paused', 'archived'] as const;
/** An automation that is deleted has this status until its last row is gone. Reads leave it out. */
export const DELETING = 'deleting';

export const setStatus = (
  { tx, projectId }: Scope,
  automationId: string,
  status: (typeof AUTOMATION_STATUSES)[number] | typeof DELETING,
) =>
  tx.query(sql.unsafe`
    update automations.automations set status = ${status}, updated_at = now()
    where project_id = ${projectId} and automation_id = ${automationId}
  `);

const Kept = z.strictObject({
  automation_id: z.uuid(),
  name: z.string(),
  status: z.enum(AUTOMATION_STATUSES),
  active_version: z.int().nullable(),
  latest_version: z.int(),
  created_at: z.date(),
  updated_at: z.date(),
});
export type Kept = z.output<typeof Kept>;

const keptColumns = (projectId: string) => sql.fragment`
  automation.automation_id, automation.name, automation.status, automation.active_version,
  automation.created_at, automation.updated_at,
  (
    select max(made.version) from automations.versions as made
    where made.project_id = ${projectId} and made.automation_id = automation.automation_id
  ) as latest_version`;

export const findAutomation = ({ tx, projectId }: Scope, automationId: string) =>
  tx.maybeOne(sql.type(Kept)`
    select ${keptColumns(projectId)} from automations.automations as automation
    where automation.project_id = ${projectId} and automation.automation_id = ${automationId}
    and automation.status <> ${DELETING}
  `);

/** The same of one that is there. */
export const getAutomation = async (scope: Scope, automationId: string): Promise<Kept> => {
  const kept = await findAutomation(scope, automationId);
  if (kept === null) throw new Error(`there is no automation ${automationId}`);
  return kept;
};

/** The same, and nobody else changes it until the transaction ends. */
export const holdAutomation = async (scope: Scope, automationId: string): Promise<Kept | null> => {
  await scope.tx.query(sql.unsafe`
    select from automations.automations
    where project_id = ${scope.projectId} and automation_id = ${automationId}
    for no key update
  `);
  return findAutomation(scope, automationId);
};

const Locked = z.strictObject({ automation_id: z.uuid() });

/** Returns those of some automations that are not deleted. Their rows stay until the transaction ends. */
export const lockUndeleted = async (
  { tx, projectId }: Scope,
  automationIds: readonly string[],
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(Locked)`
    select automation_id from automations.automations
    where project_id = ${projectId} and automation_id = any (${sql.array([...automationIds], 'uuid')})
    and status <> ${DELETING}
    order by automation_id
    for key share
  `);
  return new Set(rows.map(({ automation_id }) => automation_id));
};

/** The automations of a project, the newest first. */
export const listKept = (
  { tx, projectId }: Scope,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) =>
  tx.any(sql.type(Kept)`
    select ${keptColumns(projectId)} from automations.automations as automation
    where automation.project_id = ${projectId} and automation.status <> ${DELETING}
    and (${beforeId}::uuid is null or automation.automation_id < ${beforeId}::uuid)
    order by automation.automation_id desc
    limit ${limit}
  `);

const Active = z.strictObject({
  automation_id: z.uuid(),
  name: z.string(),
  definition: KeptDefinition,
});

/** Active automations with the version that they follow, the newest first. */
export const listActive = ({ tx, projectId }: Scope, limit: number) =>
  tx.any(sql.type(Active)`
    select automation.automation_id, automation.name, followed.definition
    from automations.automations as automation
    join automations.versions as followed on followed.project_id = ${projectId}
      and followed.automation_id = automation.automation_id and followed.version = automation.active_version
    where automation.project_id = ${projectId} and automation.status = 'active'
    order by automation.automation_id desc
    limit ${limit}
  `);

const Version = z.strictObject({ definition: KeptDefinition });

export const findVersion = async (
  { tx, projectId }: Scope,
  automationId: string,
  version: number,
): Promise<Definition | null> =>
  (
    await tx.maybeOne(sql.type(Version)`
      select definition from automations.versions
      where project_id = ${projectId} and automation_id = ${automationId} and version = ${version}
    `)
  )?.definition ?? null;

const Automation = z.strictObject({
  automation_id: z.uuid(),
  name: z.string(),
  active_version: z.int().nullable(),
});

export const findAutomationByName = ({ tx, projectId }: Scope, name: string) =>
  tx.maybeOne(sql.type(Automation)`
    select automation_id, name, active_version from automations.automations
    where project_id = ${projectId} and name = ${name} and status <> ${DELETING}
    order by created_at
    limit 1
  `);

/** The automations of a name that are not archived, the oldest first. */
export const listAutomationsNamed = ({ tx, projectId }: Scope, name: string, limit: number) =>
  tx.any(sql.type(Automation)`
    select automation_id, name, active_version from automations.automations
    where project_id = ${projectId} and name = ${name}
    and status not in ('archived', ${DELETING})
    order by created_at, automation_id
    limit ${limit}
  `);

export const setName = ({ tx, projectId }: Scope, automationId: string, name: string) =>
  tx.query(sql.unsafe`
    update automations.automations set name = ${name}, updated_at = now()
    where project_id = ${projectId} and automation_id = ${automationId} and name <> ${name}
  `);

const Listed = Automation.extend({
  status: z.enum(AUTOMATION_STATUSES),
  event: z.string().nullable(),
  created_at: z.date(),
});

/** The automations of a project, the newest first, and the event that starts each that is active. */
export const listAutomations = (
  { tx, projectId }: Scope,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) => {
  const earlier = beforeId
    ? sql.fragment`and automation.automation_id < ${beforeId}`
    : sql.fragment``;
  return tx.any(sql.type(Listed)`
    select automation.automation_id, automation.name, automation.status, automation.active_version,
      automation.created_at, version.definition -> 'trigger' ->> 'event' as event
    from automations.automations as automation
    left join automations.versions as version
      on version.project_id = automation.project_id
      and version.project_id = ${projectId}
      and version.automation_id = automation.automation_id
      and version.version = automation.active_version
    where automation.project_id = ${projectId} and automation.status <> ${DELETING} ${earlier}
    order by automation.automation_id desc
    limit ${limit}
  `);
};
