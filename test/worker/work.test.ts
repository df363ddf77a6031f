import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { listWork } from '../../src/worker/work.ts';
import { journeysOf } from '../automations/journeys.ts';
import { connectAs, rowsRead } from '../base/connections.ts';
import { newEvent } from '../ingest/some_events.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { testDatabase } from '../support/database.ts';
import { keepProvider } from '../support/kept_provider.ts';

const database = testDatabase();

const OVERDUE_SECONDS = 2;

/** A project with a flush that arrived a minute ago and has its next try at another moment, if it has one. */
const withFlush = async (retry: string | null): Promise<string> => {
  const projectId = newId();
  await acceptEvents(database.deps.db, projectId, newId(), [newEvent()]);
  await database.owner.query(
    `update ingest.pending set received_at = now() - interval '1 minute', retry_at = now() + $2::interval,
      failure_count = case when $2 is null then 0 else 3 end
    where project_id = $1`,
    [projectId, retry],
  );
  return projectId;
};

test('flushes that wait for too long are found, and postponed ones when they are due', async () => {
  const fresh = await withFlush(null);
  const due = await withFlush('-1 second');
  const later = await withFlush('1 hour');
  const { pending } = await listWork(await connectAs(database, 'trunkline_queue'), OVERDUE_SECONDS);
  expect(pending.toSorted()).toEqual([fresh, due].toSorted());
  expect(pending).not.toContain(later);
});

test('looking for them walks neither what is not due nor what came just now', async () => {
  await database.owner.query('delete from ingest.pending');
  await database.owner.query(
    `insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at,
      failure_count, retry_at)
    select gen_random_uuid(), gen_random_uuid(), array[gen_random_uuid()], now(), now(), now() - interval '1 day',
      1, now() + interval '1 hour'
    from generate_series(1, 5000)`,
  );
  await database.owner.query('analyze ingest.pending');
  const client = await connectAs(database, 'trunkline_queue');
  await client.query('begin');
  expect((await listWork(client, OVERDUE_SECONDS)).pending).toEqual([]);
  const { rows } = await client.query<{ read: number }>(
    `select (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::integer as read
     from pg_stat_xact_all_tables where relid = 'ingest.pending'::regclass`,
  );
  expect(rows[0]?.read).toBe(0);
});

test('a project whose work fills every list hides nobody else’s', async () => {
  await database.owner.query('delete from ingest.pending');
  await database.owner.query(
    `insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at)
    select $1, gen_random_uuid(), array[gen_random_uuid()], now(), now(), now() - interval '1 day'
    from generate_series(1, 10001)`,
    [newId()],
  );
  const quiet = await Promise.all([withFlush(null), withFlush(null), withFlush(null)]);
  const client = await connectAs(database, 'trunkline_queue');
  await client.query('begin');
  const { pending } = await listWork(client, OVERDUE_SECONDS);
  expect(pending).toHaveLength(4);
  expect(pending).toEqual(expect.arrayContaining(quiet));
  expect(await rowsRead(client, 'ingest.pending')).toBeLessThanOrEqual(4);
});

test('a project with very many postponed flushes hides nobody else’s', async () => {
  const [busy, other] = [newId(), newId()];
  const postpone = (projectId: string, count: number, minutes: number) =>
    database.owner.query(
      `insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at,
         failure_count, retry_at)
       select $1, gen_random_uuid(), array[gen_random_uuid()], now(), now(), now(), 1,
         now() - make_interval(mins => $3)
       from generate_series(1, $2::int)`,
      [projectId, count, minutes],
    );
  await postpone(busy, 10_000, 5);
  await postpone(other, 1, 4);
  const client = await connectAs(database, 'trunkline_queue');
  const { pending } = await listWork(client, OVERDUE_SECONDS);
  expect(pending).toContain(busy);
  expect(pending).toContain(other);
});

/** Inserts runs that have been due for so many minutes. */
const insertDueRuns = async (count: number, minutes: number, source: string | null = null) => {
  const { projectId, activate } = journeysOf(database);
  await database.owner.query(
    `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
      step_id, wake_at, started_at, goes_first, source)
    select $1, gen_random_uuid(), $2, 1, gen_random_uuid(), gen_random_uuid()::text, 'active', 'a',
      now() - make_interval(mins => $4), now(), false, $5
    from generate_series(1, $3::int)`,
    [projectId, await activate(), count, minutes, source],
  );
  return projectId;
};

test('attack: a project with very many due runs hides none of another', async () => {
  const other = await insertDueRuns(1, 1);
  const waiting = await insertDueRuns(1, -60);
  const client = await connectAs(database, 'trunkline_queue');
  for (const count of [9_999, 1]) {
    const busy = await insertDueRuns(count, 5, 'browser');
    const { dueRuns } = await listWork(client, OVERDUE_SECONDS);
    expect(dueRuns).toContain(busy);
    expect(dueRuns).toContain(other);
    expect(dueRuns).not.toContain(waiting);
  }
});

/** Sends that wait for a minute already, of a provider that there is or not. */
const withSends = async (status: string | null, count = 1) => {
  const [project_id, provider_id] = [newId(), newId()];
  if (status !== null) {
    await keepProvider(database, project_id, provider_id);
    await database.owner.query(
      `update providers.providers
       set status = $2, parked_reason = case $2 when 'parked' then 'invalid_key' end
       where provider_id = $1`,
      [provider_id, status],
    );
  }
  const { plan } = sendsOf(database, project_id);
  for (let at = 0; at < count; at += 1) await plan(newSend({ providerId: provider_id }));
  await database.owner.query(
    "update delivery.sends set due_at = now() - interval '1 minute' where provider_id = $1",
    [provider_id],
  );
  return { project_id, provider_id };
};

test('sends that wait for too long are found by their providers, also those that are gone', async () => {
  const [active, gone, parked] = [
    await withSends('active', 2),
    await withSends(null, 3),
    await withSends('parked'),
  ];
  const asleep = await withSends('active');
  await database.owner.query(
    "insert into providers.paces (project_id, provider_id, wakes_at) values ($1, $2, now() + interval '1 hour')",
    [asleep.project_id, asleep.provider_id],
  );
  const client = await connectAs(database, 'trunkline_queue');
  const { queuedSends } = await listWork(client, OVERDUE_SECONDS);
  expect(queuedSends).toHaveLength(2);
  expect(queuedSends).toEqual(expect.arrayContaining([active, gone]));
  expect(queuedSends).not.toContainEqual(parked);
});

test('ended hand-offs that wait for too long are found, and postponed ones when they are due', async () => {
  const note = async (endedAgo: string, retryIn: string | null, projectId = newId()) => {
    await database.owner.query(
      `insert into delivery.ended (project_id, step_id, send_ids, ended_at, retry_at)
      values ($1, $2, '{}', now() - $3::interval, now() + $4::interval)`,
      [projectId, newId(), endedAgo, retryIn],
    );
    return projectId;
  };
  const late = await note('1 minute', null);
  for (let times = 0; times < 5; times += 1) await note('0', null, late);
  const due = await note('1 minute', '-1 second');
  await note('0', null);
  await note('1 minute', '1 hour');
  const client = await connectAs(database, 'trunkline_queue');
  await client.query('begin');
  const { ended } = await listWork(client, OVERDUE_SECONDS);
  expect(ended.toSorted()).toEqual([late, due].toSorted());
  expect(await rowsRead(client, 'delivery.ended')).toBeLessThanOrEqual(12);
});

/** Inserts rows that have waited for so many minutes, without the rows that they refer to. */
const insertRows = async (table: string, columns: string, count: number, minutes: number) => {
  const projectId = newId();
  await database.owner.query('begin');
  await database.owner.query('set local session_replication_role = replica');
  await database.owner.query(
    `insert into ${table} select (jsonb_populate_record(null::${table}, jsonb_build_object(
      'project_id', $1::uuid, 'requested_at', now() - make_interval(mins => $3::int), ${columns}))).*
    from generate_series(1, $2::int)`,
    [projectId, count, minutes],
  );
  await database.owner.query('commit');
  return projectId;
};
const ID = 'gen_random_uuid()';
const WAITING = {
  commands: ['automations.commands', `'automation_id', ${ID}, 'kind', 'resume', 'changed', 0`],
  merges: [
    'automations.pending_merges',
    `'profile_id', ${ID}, 'walked_to', ${ID}, 'is_undo', false,
      'noted_at', now() - make_interval(mins => $3::int)`,
  ],
  erasures: [
    'profiles.erasures',
    `'erasure_id', ${ID}, 'profile_id', ${ID}, 'status', 'pending', 'requested_by', 'server_key', 'counts', '{}'`,
  ],
  segmentStarts: [
    'automations.segment_starts',
    `'start_id', ${ID}, 'automation_id', ${ID}, 'segment_id', ${ID}, 'status', 'running', 'walked_to', ${ID},
      'examined', 0, 'started', 0, 'kept_out', 0`,
  ],
} as const;

test.each(['commands', 'merges', 'erasures', 'segmentStarts'] as const)(
  'attack: a project with very many %s hides none of another',
  async (kind) => {
    const [table, columns] = WAITING[kind];
    const client = await connectAs(database, 'trunkline_queue');
    const other = await insertRows(table, columns, 1, 1);
    const fresh = await insertRows(table, columns, 1, -60);
    const busy = await insertRows(table, columns, 10_000, 5);
    const found = (await listWork(client, OVERDUE_SECONDS))[kind].map(
      (work: { project_id: string }) => work.project_id,
    );
    expect(new Set(found)).toEqual(new Set([busy, other]));
    expect(found).not.toContain(fresh);
  },
);

test('attack: a project with very many expired sends hides none of another', async () => {
  const client = await connectAs(database, 'trunkline_queue');
  const expire = async ({ project_id }: { project_id: string }, minutes: number) => {
    await database.owner.query(
      'update delivery.sends set expires_at = now() - make_interval(mins => $2) where project_id = $1',
      [project_id, minutes],
    );
    return project_id;
  };
  const other = await expire(await withSends('active'), 1);
  const waiting = await withSends('active');
  const busy = await expire(await withSends('active'), 5);
  await database.owner.query(
    `insert into delivery.sends
    select (jsonb_populate_record(send,
      jsonb_build_object('send_id', gen_random_uuid(), 'run_id', gen_random_uuid()))).*
    from delivery.sends as send cross join generate_series(1, 10000) where send.project_id = $1`,
    [busy],
  );
  const { expired } = await listWork(client, OVERDUE_SECONDS);
  expect(expired).toEqual(expect.arrayContaining([busy, other]));
  expect(expired).not.toContain(waiting.project_id);
});

test('a project with very many changed traits hides none of another', async () => {
  const client = await connectAs(database, 'trunkline_queue');
  const insertChanges = async (count: number, minutes: number) => {
    const projectId = newId();
    await database.owner.query(
      `insert into profiles.trait_changes (project_id, noted_at, change_id, profile_id)
      select $1, now() - make_interval(mins => $3), gen_random_uuid(), gen_random_uuid()
      from generate_series(1, $2::int)`,
      [projectId, count, minutes],
    );
    return projectId;
  };
  const projectIds = [await insertChanges(1, 1), await insertChanges(10_001, 5)];
  await database.owner.query('analyze profiles.trait_changes');
  await client.query('begin');
  const { movedDates } = await listWork(client, OVERDUE_SECONDS);
  expect(movedDates.toSorted()).toEqual(projectIds.toSorted());
  expect(await rowsRead(client, 'profiles.trait_changes')).toBeLessThanOrEqual(projectIds.length);
});
