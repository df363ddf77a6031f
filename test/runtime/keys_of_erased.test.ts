// Runs of people who were erased by an earlier version lose the digests in their entry keys.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';
import { migrateAgain } from '../support/migrate_again.ts';

const database = testDatabase();

test('a migration replaces the keys of erased people alone, and may be repeated', async () => {
  const { owner, deps } = database;
  const { project_id: projectId } = await createProject(deps, 'test');
  await owner.query("select set_config('trunkline.project_id', $1, false)", [projectId]);
  const [automationId, livingId, goneId] = [newId(), newId(), newId()];
  await owner.query(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
    values ($1, $2, 'external', 'ann', $2, $2)`,
    [projectId, livingId],
  );
  await owner.query(
    `insert into automations.automations (project_id, automation_id, name, status, created_at, updated_at)
    values ($1, $2, 'Welcome', 'draft', now(), now())`,
    [projectId, automationId],
  );
  await owner.query(`insert into automations.versions values ($1, $2, 1, '{}', now())`, [
    projectId,
    automationId,
  ]);
  const runs = [
    { id: newId(), who: livingId, key: `property/${livingId}/digest` },
    { id: newId(), who: goneId, key: `property/${goneId}/digest` },
    { id: newId(), who: goneId, key: `once/${goneId}` },
  ] as const;
  for (const { id, who, key } of runs)
    await owner.query(
      `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
        started_at, ended_at)
      values ($1, $2, $3, 1, $4, $5, 'ended', now(), now())`,
      [projectId, id, automationId, who, key],
    );
  for (const _ of [1, 2]) {
    await owner.query('delete from migrations.online_migrations');
    await migrateAgain(database);
    const { rows } = await owner.query(
      'select entry_key from automations.runs where project_id = $1 order by run_id',
      [projectId],
    );
    expect(rows.map(({ entry_key }) => entry_key)).toEqual([
      runs[0].key,
      `erased/${runs[1].id}`,
      runs[2].key,
    ]);
  }
});
