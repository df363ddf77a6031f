// How Postgres reads a page of a timeline: which indexes, how many rows, over people with much and little past.
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { listNewestOf } from '../../src/profiles/timeline_queries.ts';
import type { Reading, Source } from '../../src/profiles/timeline_queries.ts';
import { makeSeed } from '../../src/runtime/seed/make.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';

const database = testDatabase();
const projectId = newId();
const DAY_MS = 86_400_000;
/** The middle of the last month: Postgres reads a tiny partition, as of the first days of a month, as a whole. */
const until = new Date();
until.setUTCMonth(until.getUTCMonth() - 1, 15);
const HEAVY_EVENTS = 30_000;
const DEVICES = 300;
/** Events of one person at one moment: some megabytes. */
const AT_ONCE = 5_000;

/** Somebody with a very long past in the last sixty days, and somebody with very many devices. */
beforeAll(async () => {
  await makeSeed(database.deps, projectId, {
    people: 500,
    events: 20_000,
    days: 60,
    seed: 1,
    until,
  });
  const insert = `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id,
    anonymous_id, properties, source) select $1, gen_random_uuid(), at, at`;
  await database.owner.query(
    `${insert}, case when number % 1000 = 0 then 'rare' else 'common' end, 'heavy', null, '{}', 'server'
    from generate_series(1, $3::int) as number
    cross join lateral (select $2::timestamptz - number * interval '172 s' as at) as placed`,
    [projectId, until, HEAVY_EVENTS],
  );
  await database.owner.query(
    `${insert}, 'common', null, 'device-' || number % $3::int, '{}', 'browser'
    from generate_series(1, 20 * $3::int) as number
    cross join lateral (select $2::timestamptz - number * interval '800 s' as at) as placed`,
    [projectId, until, DEVICES],
  );
  await database.owner.query(
    `${insert}, 'common', 'imported-' || $3::text, null, jsonb_build_object('text', repeat('x', 1000)), 'server'
    from generate_series(1, $3::int) as number cross join (select $2::timestamptz as at) as placed`,
    [projectId, until, AT_ONCE],
  );
  await database.owner.query('analyze ingest.events');
});

type Plan = { [key: string]: unknown; Plans?: Plan[] };
const Explained = z.strictObject({ 'QUERY PLAN': z.tuple([z.looseObject({ Plan: z.unknown() })]) });

const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];

/** The plan of the statement that reads a page, with what it did. */
const explain = (sources: Omit<Source, 'position'>[], reading: Partial<Reading>) => {
  const to = new Date(until.getTime() + DAY_MS);
  const from = new Date(until.getTime() - 60 * DAY_MS);
  const position = { occurred_at: to, event_id: '00000000-0000-0000-0000-000000000000' };
  const at = sources.map((source) => ({ ...source, position }));
  return inProject(database.deps, projectId, async (scope) => {
    const explaining = {
      any: async (query: Parameters<Scope['tx']['any']>[0]) => [
        await scope.tx.one({
          ...query,
          sql: `explain ${TRIAL} (analyze, format json) ${query.sql}`,
          parser: Explained,
        } as never),
      ],
    };
    const [row] = await listNewestOf({ ...scope, tx: explaining as unknown as Scope['tx'] }, at, {
      from,
      to,
      share: 51,
      ...reading,
    });
    return flatten(Explained.parse(row)['QUERY PLAN'][0].Plan as Plan);
  });
};

/** What was read of the timeline: the nodes that touched it, and how many rows they gave and dropped. */
const readingsOf = (plans: Plan[]) => {
  const touching = plans.filter((plan) => String(plan['Relation Name']).startsWith('events_'));
  const count = (plan: Plan, key: string): number =>
    Number(plan[key] ?? 0) * Number(plan['Actual Loops']);
  const rows = touching.map(
    (plan) => count(plan, 'Actual Rows') + count(plan, 'Rows Removed by Filter'),
  );
  return {
    kinds: [...new Set(touching.map((plan) => plan['Node Type']))],
    indexes: [
      ...new Set(touching.map((plan) => String(plan['Index Name']).replace(/_\d{6}_/, '_'))),
    ],
    rows: rows.reduce((sum, some) => sum + some, 0),
  };
};

test('a page of somebody with a long past walks down one index and reads no more than the page', async () => {
  const { kinds, indexes, rows } = readingsOf(
    await explain([{ kind: 'external', value: 'heavy' }], {}),
  );
  expect(kinds).toEqual(['Index Scan']);
  expect(indexes).toEqual(['events_project_id_external_id_occurred_at_idx']);
  expect(rows).toBeLessThanOrEqual(52);
});

test('a rare event is looked for in no more events than the share', async () => {
  const { kinds, rows } = readingsOf(
    await explain([{ kind: 'external', value: 'heavy' }], { event: 'rare', share: 2_000 }),
  );
  expect(kinds).toEqual(['Index Scan']);
  expect(rows).toBeLessThanOrEqual(2_001);
});

test('a person of hundreds of devices costs a few rows of each', async () => {
  const devices = Array.from({ length: DEVICES }, (_, at) => ({
    kind: 'anonymous' as const,
    value: `device-${at}`,
  }));
  const { kinds, indexes, rows } = readingsOf(await explain(devices, { share: 7 }));
  expect(kinds).toEqual(['Index Scan']);
  expect(indexes).toEqual(['events_project_id_anonymous_id_occurred_at_idx']);
  // Seven and the one that shows that the seventh's moment is over; told as a rounded mean of all devices.
  expect(rows).toBeLessThanOrEqual(DEVICES * 8 * 1.01);
});

test('of thousands of events of one moment no more than a share is held in memory', async () => {
  const plans = await explain([{ kind: 'external', value: `imported-${AT_ONCE}` }], {});
  expect(readingsOf(plans).rows).toBe(AT_ONCE);
  const sorts = plans.filter((plan) => 'Sort Space Used' in plan || 'Full-sort Groups' in plan);
  expect(sorts.length).toBeGreaterThan(0);
  const text = JSON.stringify(sorts.map((sort) => ({ ...sort, Plans: undefined })));
  expect(text).toContain('top-N heapsort');
  expect(text).not.toMatch(/external|"Disk"/);
});
