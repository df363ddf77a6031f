import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { connectTo } from '../base/connections.ts';
import { refusalOf } from '../support/refusal_of_sql.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';

const database = testDatabase();

const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString();
const store = (projectId: string, events: object[]) =>
  accept(
    database.deps,
    { projectId, kind: 'server' },
    {
      events: events.map((event) => ({ event: 'seen', ...event })),
    },
  );

const erase = async (
  projectId: string,
  whose: readonly [kind: string, identifier: string] | readonly (readonly [string, string])[],
  since = new Date(0),
  max = 10,
) => {
  const named = (typeof whose[0] === 'string' ? [whose] : whose) as readonly (readonly string[])[];
  const client = await connectTo(database, projectId);
  const { rows } = await client.query(
    `select * from ingest.erase_events(
      project_id => $1, kinds => $2, identifiers => $3, since => $4, events_max => $5)`,
    [projectId, named.map(([kind]) => kind), named.map(([, value]) => value), since, max],
  );
  return rows[0];
};
const left = async (projectId: string, table = 'events') =>
  (await database.owner.query(`select from ingest.${table} where project_id = $1`, [projectId]))
    .rowCount;

test('the events of an identifier go, others stay, and message ids, which name nobody', async () => {
  const projectId = newId();
  await store(projectId, [
    { external_id: 'ann', message_id: 'a', properties: { email: 'a@x.org' } },
    { external_id: 'ann', anonymous_id: 'd', properties: { email: 'a@x.org' } },
    { external_id: 'bob', anonymous_id: 'd', message_id: 'b' },
    { anonymous_id: 'd', message_id: 'c' },
    { anonymous_id: 'ann', message_id: 'd' },
  ]);
  expect(await erase(projectId, ['external', 'ann'])).toMatchObject({
    events: 2,
    emails: ['a@x.org'],
  });
  expect(await erase(projectId, ['anonymous', 'd'])).toMatchObject({ events: 1 });
  expect([await left(projectId), await left(projectId, 'message_ids')]).toEqual([2, 4]);
});

test('the oldest go first, so many at a time, and the next call goes on where this one ended', async () => {
  const projectId = newId();
  await store(
    projectId,
    [40, 30, 20, 10].map((back) => ({ external_id: 'ann', occurred_at: day(back) })),
  );
  const first = await erase(projectId, ['external', 'ann'], new Date(0), 3);
  expect(first).toMatchObject({ events: 3 });
  expect(first.last_at.toISOString().slice(0, 10)).toBe(day(20).slice(0, 10));
  expect(await erase(projectId, ['external', 'ann'], first.last_at, 3)).toMatchObject({
    events: 1,
  });
  expect(await erase(projectId, ['external', 'ann'])).toEqual({
    events: 0,
    emails: null,
    last_ordinal: null,
    last_at: null,
  });
});

test('many identifiers share one limit, in their order; the next call goes on at the last one', async () => {
  const projectId = newId();
  await store(projectId, [
    { external_id: 'ann', occurred_at: day(10) },
    ...[50, 40, 30].map((back) => ({ anonymous_id: 'd', occurred_at: day(back) })),
    { anonymous_id: 'e', occurred_at: day(60) },
    { anonymous_id: 'other' },
  ]);
  const whose = [
    ['external', 'ann'],
    ['anonymous', 'nobody'],
    ['anonymous', 'd'],
    ['anonymous', 'e'],
  ] as const;
  const first = await erase(projectId, whose, new Date(0), 3);
  expect(first).toMatchObject({ events: 3, last_ordinal: 3 });
  expect(first.last_at.toISOString()).toBe(
    day(40).slice(0, 10) + first.last_at.toISOString().slice(10),
  );
  const rest = await erase(projectId, whose.slice(2), first.last_at, 3);
  expect(rest).toMatchObject({ events: 2, last_ordinal: 2 });
  expect(await left(projectId)).toBe(1);
});

test('nothing of another project goes, whatever it is asked for', async () => {
  const [ours, theirs] = [newId(), newId()];
  await store(theirs, [{ external_id: 'ann' }]);
  expect(await erase(ours, ['external', 'ann'])).toMatchObject({ events: 0 });
  expect(await left(theirs)).toBe(1);
});

test('what is written to the timeline can be removed by this alone', async () => {
  const client = await connectTo(database, newId());
  for (const statement of [
    'delete from ingest.events',
    `update ingest.events set properties = '{}'`,
  ])
    expect(await refusalOf(client, `${statement} ${TRIAL}`)).toMatch(/^permission denied/);
});

test.each([
  ['by_external_id', `external_id = 'x'`],
  ['by_anonymous_id', `external_id is null and anonymous_id = 'x'`],
])('whose events they are is looked up %s', async (_index, whose) => {
  await database.owner.query('begin');
  await database.owner.query('set local enable_seqscan = off');
  await database.owner.query('set local enable_bitmapscan = off');
  const { rows } = await database.owner.query<{ 'QUERY PLAN': string }>(
    `explain (costs off) select from ingest.events where project_id = gen_random_uuid() and ${whose}
    and occurred_at >= now() order by occurred_at limit 10`,
  );
  await database.owner.query('rollback');
  const conditions = rows.map((row) => row['QUERY PLAN']).filter((line) => /Index Cond/.test(line));
  expect(conditions.length).toBeGreaterThan(0);
  for (const line of conditions) expect(line).toMatch(/'x'::text/);
});

test('nobody’s events go but those of the transaction’s own project', async () => {
  const client = await connectTo(database, newId());
  for (const call of [
    `ingest.erase_events($1, '{external}', '{ann}', 'epoch', 10)`,
    `ingest.erase_mentions($1, 'ann', '{device}', 'epoch', 10)`,
    `ingest.forget_devices($1, '{}', '{device}', null)`,
  ])
    await expect(client.query(`select * from ${call}`, [newId()])).rejects.toThrow(
      /only the project of the transaction/,
    );
});
