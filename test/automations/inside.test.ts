// Who is inside an automation, by where they are: so far as it is counted, and little else is read.
import { beforeAll, describe, expect, test } from 'vitest';
import { countInsideUpTo } from '../../src/automations/life_queries.ts';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';

const database = testDatabase();
const projectId = newId();
const automationId = newId();
const ENDED = 5_000;
/** Where people are: version, step, how many. */
const PLACES: [number, string, number][] = [
  [1, 'first_wait', 7],
  [1, 'second_wait', 20],
  [2, 'first_wait', 6],
];
const MAX = 7;

const insert = (
  status: string,
  [version, step, count]: [number, string | null, number],
  more = {},
) =>
  database.owner.query(
    `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status, step_id,
       started_at, is_test)
     select $1, gen_random_uuid(), $2, $3, gen_random_uuid(), gen_random_uuid()::text, $4, $5, now(), $6
     from generate_series(1, $7::int)`,
    [projectId, automationId, version, status, step, 'isTest' in more, count],
  );

beforeAll(async () => {
  const ask = (text: string, values: unknown[]) => database.owner.query(text, values);
  await ask(
    `insert into automations.automations (project_id, automation_id, name, status, created_at, updated_at)
     values ($1, $2, 'a', 'paused', now(), now())`,
    [projectId, automationId],
  );
  await ask(
    `insert into automations.versions (project_id, automation_id, version, definition, created_at)
     select $1, $2, version, '{}', now() from generate_series(1, 2) as version`,
    [projectId, automationId],
  );
  for (const place of PLACES) await insert(place[0] === 1 ? 'active' : 'paused', place);
  await insert('ended', [1, null, ENDED]);
  await insert('failed', [1, 'first_wait', 5]);
  await insert('active', [1, 'first_wait', 5], { isTest: true });
  await database.owner.query('analyze automations.runs');
});

describe.each(PLAN_MODES)('%s', (mode) => {
  test('each step has its people, as many as there are or more than are counted', async () => {
    const asked = { projectId, table: 'automations.runs', mode };
    const { answer, read } = await withRowsRead(database, asked, (scope) =>
      countInsideUpTo(scope, automationId, MAX),
    );
    expect(answer).toEqual(
      PLACES.map(([version, step_id, people]) => ({
        version,
        step_id,
        people: Math.min(people, MAX),
        is_capped: people > MAX,
      })),
    );
    expect(read).toBeLessThanOrEqual(PLACES.length * (MAX + 3));
  });

  test('nobody is inside another', async () => {
    const asked = { projectId, table: 'automations.runs', mode };
    const { answer } = await withRowsRead(database, asked, (scope) =>
      countInsideUpTo(scope, newId(), MAX),
    );
    expect(answer).toEqual([]);
  });
});
