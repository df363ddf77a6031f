import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Named = z.strictObject({ name: z.string() });

/** So many automations are named at most. */
const USERS_MAX = 100;

/** The names of the automations that send a template, or would on being resumed, in the version that counts today. */
export const listTemplateUsers = async (
  { tx, projectId }: Scope,
  templateId: string,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Named)`
    select automation.name from automations.automations as automation
    join automations.versions as version
      on version.project_id = automation.project_id and version.automation_id = automation.automation_id
      and version.version = automation.active_version
    where automation.project_id = ${projectId} and version.project_id = ${projectId}
    and automation.status in ('active', 'paused')
    and exists (
      select from jsonb_each(version.definition -> 'steps') as step
      where step.value ->> 'template_id' = ${templateId}
    )
    order by automation.name
    limit ${USERS_MAX}
  `);
  return rows.map(({ name }) => name);
};

const Held = z.strictObject({ automation_id: z.uuid() });

/** Holds the project's automations until the transaction ends: before whoever changes what they send does so. */
export const holdAutomations = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Held)`
    select automation_id from automations.automations where project_id = ${projectId} order by automation_id
    for no key update
  `);
