import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { deleteRefusals } from './erase_queries.ts';

const IdentityId = z.strictObject({ identity_id: z.uuid() });
type Person = { identity_id: string };

/** Returns those of some people who have runs, also runs that ended. */
export const listWithRuns = async (
  { tx, projectId }: Scope,
  people: readonly Person[],
): Promise<Set<string>> => {
  const ids = people.map(({ identity_id }) => identity_id);
  const rows = await tx.any(sql.type(IdentityId)`
    select asked.identity_id from unnest(${sql.array(ids, 'uuid')}) as asked (identity_id)
    where exists (
      select from automations.runs as run
      where run.project_id = ${projectId} and run.identity_id = asked.identity_id
    )
  `);
  return new Set(rows.map(({ identity_id }) => identity_id));
};

/** Deletes why some people were not enrolled. Their enrollments go with their identities. */
export const forgetPeople = async (scope: Scope, people: readonly Person[]): Promise<void> => {
  await deleteRefusals(
    scope,
    people.map(({ identity_id }) => identity_id),
  );
};
