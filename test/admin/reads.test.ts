import { beforeAll, describe, expect, test, vi } from 'vitest';
import { readOverview } from '../../src/admin/overview.ts';
import { createAdminClient } from '../../src/admin/client.ts';
import type { AdminClient } from '../../src/admin/client.ts';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { makeWelcome, testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
testWorker(database);

/** What is posted, and that the mail to a suppressed address was skipped. */
const POSTED = 6;
const EVENTS = POSTED + 1;
let client: AdminClient;
let projectId: string;
let elsewhere: string;
let eventIds: string[];

const signUp = (name: string) => ({
  event: 'user_signed_up',
  external_id: name,
  properties: { email: `${name}@example.com`, first_name: name },
});

const post = async (key: string, event: object): Promise<string> =>
  (await api.call('POST', '/v1/events', { key, body: event })).body.event_ids[0];

const listSends = () => client.sends.list.query({ projectId });

beforeAll(async () => {
  client = createAdminClient({ url: api.url, cookie: await admin.openSession() });
  const { project_id, server_key } = api.project;
  projectId = project_id;
  const other = await createProject(database.deps, 'elsewhere');
  elsewhere = other.project_id;
  await makeWelcome(database, projectId);
  await inProject(database.deps, projectId, (scope) =>
    suppress(scope, { email: 'bob@example.com', reason: 'hard_bounce', source: 'smtp' }),
  );
  const named = { ...signUp('carol'), external_id: 'carol@example.com' };
  eventIds = [];
  for (const event of [signUp('ann'), signUp('bob'), named]) {
    eventIds.push(await post(server_key, event));
  }
  for (let count = eventIds.length; count < POSTED; count += 1) {
    const occurred_at = new Date(Date.now() - count * 40 * 86_400_000).toISOString();
    const event = { event: 'page_viewed', external_id: 'ann', occurred_at };
    eventIds.push(await post(server_key, event));
  }
  await vi.waitUntil(async () => (await listSends()).items.length === 3, { timeout: 10_000 });
  // A timeline shows what occurred long ago as soon as it is processed.
  await until('all events are processed', async () => {
    const { rowCount } = await database.owner.query('select from ingest.pending');
    return rowCount === 0;
  });
});

test('projects are listed newest first, page by page', async () => {
  const first = await client.projects.list.query({ limit: 1 });
  expect(first.items).toEqual([{ id: elsewhere, name: 'elsewhere', role: 'owner' }]);
  const second = await client.projects.list.query({ limit: 1, cursor: first.next_cursor ?? '' });
  expect(second).toEqual({
    items: [{ id: projectId, name: 'test', role: 'owner' }],
    next_cursor: null,
  });
});

test('events are listed as they arrived, whenever they occurred, page by page', async () => {
  const first = await client.events.list.query({ projectId, limit: 3 });
  const rest = await client.events.list.query({ projectId, cursor: first.next_cursor ?? '' });
  const listed = [...first.items, ...rest.items];
  expect(listed).toHaveLength(EVENTS);
  const posted = listed.filter(({ source }) => source !== 'system');
  expect(posted.map(({ id }) => id)).toEqual(eventIds.toReversed());
  expect(rest.next_cursor).toBeNull();
  expect(posted.at(-1)).toEqual({
    id: eventIds[0],
    event: 'user_signed_up',
    external_id: 'ann',
    anonymous_id: null,
    properties: { email: 'ann@example.com', first_name: 'ann' },
    occurred_at: expect.any(String),
    received_at: expect.any(String),
    source: 'server',
  });
});

test('the newest events are read down the primary key, partition by partition', async () => {
  const { rows } = await database.owner
    .query(
      `set enable_seqscan = off; explain (format json) select event_id from ingest.events
     where project_id = '${projectId}' order by event_id desc limit 10`,
    )
    .then((results) => (results as unknown as { rows: unknown[] }[])[1] ?? { rows: [] });
  const plan = JSON.stringify(rows);
  expect(plan).toContain('"Merge Append"');
  expect(plan).toContain('"Scan Direction":"Backward"');
  expect(plan).not.toContain('"Sort"');
});

const eventsIn = (buckets: readonly { events: number | null }[]): number =>
  buckets.reduce((sum, { events }) => sum + (events ?? 0), 0);

test('the overview counts what happened in the last 24 hours', async () => {
  const read = await client.overview.read.query({ projectId });
  const { buckets } = read;
  expect(read).toMatchObject({
    events: EVENTS,
    suppressed: 1,
    capped: { events: false, sends: false },
  });
  expect(buckets).toHaveLength(24);
  expect(eventsIn(buckets.slice(-2))).toBe(EVENTS);
  const [first, second] = buckets.map(({ at }) => new Date(at).getTime());
  expect((second ?? 0) - (first ?? 0)).toBe(3_600_000);
});

test('the overview puts each hour in its place, and forgets what is older than a day', async () => {
  const inHours = (hours: number) =>
    readOverview(database.deps, projectId, Date.now() + hours * 3_600_000);
  const later = await inHours(3);
  expect(eventsIn(later.buckets.slice(-5, -3))).toBe(EVENTS);
  expect(later.buckets.slice(-3).every(({ events }) => events === 0)).toBe(true);
  expect((await inHours(25)).events).toBe(0);
});

test.each([
  [EVENTS + 1, EVENTS, false],
  [EVENTS, EVENTS, true],
  [EVENTS - 1, EVENTS - 1, true],
])('the overview looks at %i rows at most and counts %i', async (rowsMax, events, isCapped) => {
  const read = await readOverview(database.deps, projectId, Date.now(), { rowsMax });
  expect(read).toMatchObject({ events, capped: { events: isCapped, sends: false } });
});

test.each([
  ['week', 28, 6],
  ['month', 30, 24],
] as const)('the overview of a %s has %i buckets of %i hours', async (span, count, hours) => {
  const { events, buckets } = await client.overview.read.query({ projectId, span });
  expect(events).toBe(EVENTS);
  expect(buckets).toHaveLength(count);
  const times = buckets.map(({ at }) => Date.parse(at));
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(hours * 3_600_000);
  expect(times.at(-1)).toBeGreaterThan(Date.now() - hours * 3_600_000);
  expect(eventsIn(buckets.slice(-2))).toBe(EVENTS);
  const then = Date.now() + count * hours * 3_600_000;
  const later = await readOverview(database.deps, projectId, then, { span });
  expect(later.events).toBe(0);
});

test('what a capped overview did not count is unknown, and not none', async () => {
  const read = (rowsMax: number) => readOverview(database.deps, projectId, Date.now(), { rowsMax });
  const all = (await read(EVENTS + 1)).buckets;
  const first = all.findIndex(({ events }) => events !== 0);
  expect(all[first - 1]).toMatchObject({ events: 0, accepted: 0 });
  const cut = (await read(EVENTS)).buckets;
  expect(cut.slice(0, first).every(({ events }) => events === null)).toBe(true);
  expect(eventsIn(cut.slice(first))).toBe(EVENTS);
});

test('an accepted, a bounced and a complained send are counted in the hour in which they were planned', async () => {
  const change = (set: string) =>
    database.owner.query(`update delivery.sends set ${set} where recipient = 'carol@example.com'`);
  const read = async () => {
    const read = await client.overview.read.query({ projectId });
    const last = read.buckets.slice(-2);
    const inBuckets = (['accepted', 'bounced', 'complained'] as const).map((name) =>
      last.reduce((sum, bucket) => sum + (bucket[name] ?? 0), 0),
    );
    expect(inBuckets).toEqual([read.accepted, read.bounced, read.complained]);
    return inBuckets;
  };
  await change(`status = 'accepted', accepted_at = now(), bounced_at = null`);
  expect(await read()).toEqual([1, 0, 0]);
  await change('bounced_at = now()');
  expect(await read()).toEqual([1, 1, 0]);
  await change('complained_at = now()');
  expect(await read()).toEqual([1, 1, 1]);
});

test('the send log is filtered by status and by address', async () => {
  const log = await listSends();
  const people = ['ann@example.com', 'bob@example.com', 'carol@example.com'];
  expect(new Set(log.items.map(({ to }) => to))).toEqual(new Set(people));
  const suppressed = await client.sends.list.query({ projectId, status: 'suppressed' });
  expect(suppressed.items.map(({ to, status_reason }) => [to, status_reason])).toEqual([
    ['bob@example.com', 'suppressed'],
  ]);
  const ann = await client.sends.list.query({ projectId, email: 'ANN@example.com' });
  expect(ann.items.map(({ to }) => to)).toEqual(['ann@example.com']);
  const page = await client.sends.list.query({ projectId, limit: 1 });
  const next = await client.sends.list.query({ projectId, cursor: page.next_cursor ?? '' });
  // How they stand may change meanwhile: a worker tries them.
  const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);
  expect(idsOf([...page.items, ...next.items])).toEqual(idsOf(log.items));
});

describe('a profile is found', () => {
  test.each([
    ['by external id', 'ann'],
    ['by address, in any case', 'ANN@example.com'],
    ['with spaces around', '  ann '],
  ])('%s', async (_, query) => {
    const { items } = await client.profiles.find.query({ projectId, query });
    expect(items).toMatchObject([{ external_id: 'ann', traits: { first_name: 'ann' } }]);
    const profileId = items[0]?.id ?? '';
    expect(await client.profiles.find.query({ projectId, query: profileId })).toEqual({ items });
    expect(await client.profiles.read.query({ projectId, profileId })).toEqual(items[0]);
  });

  test('once, when its address is its external id', async () => {
    const email = 'carol@example.com';
    const { items } = await client.profiles.find.query({ projectId, query: email });
    expect(items).toMatchObject([{ external_id: email, email }]);
  });

  test('by nothing that is not whole, and never in another project', async () => {
    expect((await client.profiles.find.query({ projectId, query: 'an' })).items).toEqual([]);
    const asked = { projectId: elsewhere, query: 'ann' };
    expect((await client.profiles.find.query(asked)).items).toEqual([]);
  });
});

test('a timeline is newest first, page by page', async () => {
  const { items } = await client.profiles.find.query({ projectId, query: 'ann' });
  const profileId = items[0]?.id ?? '';
  const first = await client.profiles.timeline.query({ projectId, profileId, limit: 3 });
  const cursor = first.next_cursor ?? '';
  const rest = await client.profiles.timeline.query({ projectId, profileId, cursor });
  const times = [...first.items, ...rest.items].map(({ occurred_at }) => occurred_at);
  expect(times).toHaveLength(4);
  expect(times).toEqual(times.toSorted().toReversed());
});

test('suppressed people say so, and their addresses are listed', async () => {
  const { items } = await client.profiles.find.query({ projectId, query: 'bob' });
  expect(items).toMatchObject([{ suppressed: true }]);
  expect((await client.suppressions.list.query({ projectId })).items).toEqual([
    {
      email: 'bob@example.com',
      reason: 'hard_bounce',
      source: 'smtp',
      created_at: expect.any(String),
    },
  ]);
});

test('automations are listed with what starts them, and what came of them', async () => {
  expect((await client.automations.list.query({ projectId })).items).toEqual([
    {
      id: expect.any(String),
      name: 'Welcome',
      status: 'active',
      active_version: 1,
      latest_version: 1,
      trigger: { kind: 'event', event: 'user_signed_up', where: [] },
      has_goal: false,
      counts: { runs: 3, inside: 0, converted: 0, sent: 1, is_capped: false },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
});

test('nothing of one project is listed in another', async () => {
  const asked = { projectId: elsewhere };
  const lists = await Promise.all([
    client.events.list.query(asked),
    client.sends.list.query(asked),
    client.suppressions.list.query(asked),
    client.automations.list.query(asked),
  ]);
  expect(lists.map(({ items }) => items)).toEqual([[], [], [], []]);
  expect(await client.overview.read.query(asked)).toMatchObject({ events: 0, suppressed: 0 });
});
