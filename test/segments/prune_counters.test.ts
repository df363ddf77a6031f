// Counters of days go once no window reaches them; people stay in segments, and counts of the whole past stay.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { FIRST_ID, newId } from '../../src/base/ids.ts';
import { insertConditions } from '../../src/segments/condition_queries.ts';
import { listCounted } from '../../src/segments/conditions.ts';
import { PRUNED_COUNTERS_MAX, pruneCounters } from '../../src/segments/prune_counters.ts';
import { insertProject } from '../../src/segments/record_queries.ts';
import { Definition } from '../../src/segments/schema.ts';
import { WINDOW_DAYS_MAX } from '../../src/segments/value_schema.ts';
import { testDatabase } from '../support/database.ts';
import { ordered } from './recount.ts';

const database = testDatabase();

/** Two conditions: one of days, by the longest window, and one of the whole past. */
const opened = async () => {
  const projectId = newId();
  const ask = (text: string, ...values: unknown[]) =>
    database.owner.query(text, [projectId, ...values]);
  const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
    inProject(database.deps, projectId, work);
  const where = { kind: 'all', of: [ordered(), ordered(WINDOW_DAYS_MAX)] };
  const counted = listCounted([Definition.parse({ where })]);
  await within(async (scope) => {
    await insertProject(scope);
    await insertConditions(scope, counted);
  });
  const idOf = (isDaily: boolean) => counted.find((one) => one.isDaily === isDaily)?.conditionId;
  await ask("select set_config('trunkline.project_id', $1, false)");
  const person = newId();
  await ask(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
    values ($1, $2, 'external', 'ann', $2, $2)`,
    person,
  );
  /** Counts one event on each of some days ago. */
  const count = (isDaily: boolean, daysAgo: number, days = 1) =>
    ask(
      `insert into segments.counters (project_id, identity_id, condition_id, day, count, first_at, last_at)
      select $1, $2, $3, (now() at time zone 'UTC')::date - day, 1, now(), now()
      from generate_series($4::int, $5::int) as day`,
      person,
      idOf(isDaily),
      daysAgo,
      daysAgo + days - 1,
    );
  const listDays = async () =>
    (
      await ask(
        `select (now() at time zone 'UTC')::date - day as ago from segments.counters where project_id = $1 order by 1`,
      )
    ).rows.map(({ ago }) => ago as number);
  const prune = (after = FIRST_ID) => within((scope) => pruneCounters(scope, after));
  return { ask, count, listDays, prune };
};

test('days that no window reaches go, and the first day of the longest window stays', async () => {
  const { count, listDays, prune } = await opened();
  await count(true, WINDOW_DAYS_MAX + 1);
  await count(true, WINDOW_DAYS_MAX);
  await count(true, 0);
  await count(false, 20_000);
  expect(await prune()).toEqual({ pruned: 1, after: null });
  expect(await listDays()).toEqual([0, WINDOW_DAYS_MAX, 20_000]);
  expect(await prune()).toEqual({ pruned: 0, after: null });
});

test('one batch takes a bounded number, and the next takes the same people again', async () => {
  const { count, listDays, prune } = await opened();
  await count(true, WINDOW_DAYS_MAX + 1, PRUNED_COUNTERS_MAX + 1);
  expect(await prune()).toEqual({ pruned: PRUNED_COUNTERS_MAX, after: FIRST_ID });
  expect(await prune()).toEqual({ pruned: 1, after: null });
  expect(await listDays()).toEqual([]);
});

test('a counter that is being changed is left for the next time', async () => {
  const { ask, count, listDays, prune } = await opened();
  await count(true, WINDOW_DAYS_MAX + 1);
  await database.owner.query('begin');
  await ask('select from segments.counters where project_id = $1 for update');
  expect((await prune()).pruned).toBe(0);
  await database.owner.query('rollback');
  expect((await prune()).pruned).toBe(1);
  expect(await listDays()).toEqual([]);
});
