import { expect, test } from 'vitest';
import { forgetEntries } from '../../src/admin/audit_queries.ts';
import { AUDIT_MONTHS, forgetAudit } from '../../src/admin/audit_log.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const HOUR_MS = 3_600_000;

const monthsAgo = (months: number, moreMs = 0): Date => {
  const at = new Date();
  at.setUTCMonth(at.getUTCMonth() - months);
  return new Date(at.getTime() - moreMs);
};

const add = async (projectId: string | null, at: Date): Promise<void> => {
  const auditId = newId();
  if (projectId === null)
    await database.owner.query(
      `insert into admin.installation_audit values ($1, $2, 'operator', null, 'make x', '{}', null)`,
      [auditId, at],
    );
  else
    await database.owner.query(
      `insert into admin.audit values ($1, $2, $3, 'operator', null, 'make x', '{}', null)`,
      [projectId, auditId, at],
    );
};

const count = async (projectId: string): Promise<number> =>
  (
    await database.owner.query(
      'select count(*)::int as count from admin.audit where project_id = $1',
      [projectId],
    )
  ).rows[0].count;

test('entries stay two years, and go then: those of one project only', async () => {
  const { project_id: ours } = await createProject(database.deps, 'ours');
  const { project_id: theirs } = await createProject(database.deps, 'theirs');
  for (const projectId of [ours, theirs]) {
    await add(projectId, monthsAgo(AUDIT_MONTHS, HOUR_MS));
    await add(projectId, monthsAgo(AUDIT_MONTHS, -HOUR_MS));
  }
  expect(await forgetAudit(database.deps, ours)).toBe(1);
  expect(await forgetAudit(database.deps, ours)).toBe(0);
  expect([await count(ours), await count(theirs)]).toEqual([1, 2]);
});

test('what belongs to no project goes, too', async () => {
  await add(null, monthsAgo(AUDIT_MONTHS, HOUR_MS));
  await add(null, new Date());
  expect(await forgetAudit(database.deps, null)).toBe(1);
});

test('whatever is asked for, two years stay', async () => {
  const { project_id } = await createProject(database.deps, 'kept');
  await add(project_id, monthsAgo(AUDIT_MONTHS, -HOUR_MS));
  expect(await forgetEntries(database.deps.db, project_id, new Date())).toBe(0);
  expect(await count(project_id)).toBe(1);
});
