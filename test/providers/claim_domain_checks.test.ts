import { beforeEach, expect, test } from 'vitest';
import pg from 'pg';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { claimChecks } from '../../src/providers/domain_health/queries.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';

const database = testDatabase();
let projectId = '';

beforeEach(async () => {
  projectId = (await createProject(database.deps, 'of its own')).project_id;
});

const make = async (count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => newId());
  for (const id of ids) await keepProvider(database, projectId, id, `${id}@shop.test`);
  return ids;
};
const claim = async (claimMax = 10, leaseSeconds = 900) => {
  const rows = await inProject(database.deps, projectId, (scope) =>
    claimChecks(scope, { claimMax, leaseSeconds }),
  );
  return rows.map(({ provider_id }) => provider_id);
};
const dueAt = (id: string, minutesAgo: number) =>
  database.owner.query(
    `update providers.domain_checks set next_check_at = now() - make_interval(mins => $2) where provider_id = $1`,
    [id, minutesAgo],
  );

test('claims what is due, the oldest first, and no more than it may', async () => {
  const [a = '', b = '', c = ''] = await make(3);
  await claim(0);
  await dueAt(a, 1);
  await dueAt(b, 3);
  await dueAt(c, 2);
  expect(await claim(2)).toEqual(expect.arrayContaining([b, c]));
  expect(await claim(2)).toEqual([a]);
  expect(await claim(2)).toEqual([]);
});

test('is due again when the lease is over', async () => {
  const ids = await make(1);
  expect(await claim(10, 0)).toEqual(ids);
  expect(await claim(10, 900)).toEqual(ids);
  expect(await claim(10, 900)).toEqual([]);
});

test('leaves what another holds, and waits for nothing', async () => {
  const [a = '', b = ''] = await make(2);
  await claim(0);
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query('begin');
    await other.query(`select set_config('trunkline.project_id', $1, true)`, [projectId]);
    await other.query('select from providers.domain_checks where provider_id = $1 for update', [a]);
    expect(await claim()).toEqual([b]);
    await other.query('rollback');
    expect(await claim()).toEqual([a]);
  } finally {
    await other.end();
  }
});

test('sees its own project alone', async () => {
  const ids = await make(1);
  const own = projectId;
  projectId = (await createProject(database.deps, 'other')).project_id;
  expect(await claim()).toEqual([]);
  projectId = own;
  expect(await claim()).toEqual(ids);
});

const OTHERS = 20_000;
const DUE = 3;

test(`reads its own rows alone, beside ${OTHERS} of other projects`, async () => {
  const own = await make(DUE);
  await database.owner.query("set session_replication_role = 'replica'");
  await database.owner.query(
    `insert into providers.domain_checks (project_id, provider_id, next_check_at)
    select gen_random_uuid(), gen_random_uuid(), now() from generate_series(1, $1)`,
    [OTHERS],
  );
  await database.owner.query('reset session_replication_role; analyze providers.domain_checks');
  for (const mode of PLAN_MODES) {
    const { answer, read } = await withRowsRead(
      database,
      { projectId, table: 'providers.domain_checks', mode },
      (scope) => claimChecks(scope, { claimMax: 10, leaseSeconds: 0 }),
    );
    expect(answer).toHaveLength(own.length);
    expect(read).toBeLessThan(DUE * 10);
  }
});
