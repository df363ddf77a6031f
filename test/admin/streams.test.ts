// Looking on: what a stream tells, who may, how many, and when it ends.
import { afterEach, beforeAll, expect, test } from 'vitest';
import {
  STREAMS_PER_PERSON_MAX,
  STREAMS_PER_SESSION_MAX,
  streamsOf,
} from '../../src/admin/streams.ts';
import { feedsOf } from '../../src/base/feeds.ts';
import { STREAM_PING_MS } from '../../src/base/procedure.ts';
import { LATEST_EVENTS_MAX } from '../../src/ingest/admin.ts';
import { createProject } from '../../src/projects/projects.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { answerOf, openStream, tells } from '../support/event_stream.ts';
import type { EventStream } from '../support/event_stream.ts';
import { cookieFor, makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);

let viewer: SignedInPerson;
let opened: EventStream[] = [];
beforeAll(async () => {
  viewer = await makePerson(database, { projectId: api.project.project_id, role: 'viewer' });
});
const streams = () => streamsOf(database.deps);
const isNone = () => streams().count === 0 && feedsOf(database.deps).count === 0;
afterEach(async () => {
  for (const stream of opened) stream.close();
  opened = [];
  await until('nobody looks on', isNone);
});

type More = { cookie?: string; projectId?: string } & Record<string, string>;
const look = async (procedure = 'events.latest', { cookie, projectId, ...headers }: More = {}) => {
  const stream = await openStream(api.url, procedure, {
    input: { projectId: projectId ?? api.project.project_id },
    cookie: cookie ?? viewer.cookie,
    ...headers,
  });
  opened.push(stream);
  return stream;
};
/** What somebody is answered who wants to look on. */
const ask = async (procedure?: string, more?: More) => {
  const { status, error } = await answerOf(await look(procedure, more));
  return error === null ? status : `${status} ${error.message}`;
};
const post = (event: string) =>
  api.call('POST', '/v1/events', {
    key: api.project.server_key,
    body: { event, external_id: 'ann' },
  });
type Listed = { items: { event?: string; id?: string; status?: string }[] };
const told = (stream: EventStream) => stream.messages() as Listed[];

test('it tells the newest events as they are, and again when others come', async () => {
  await post('signed_up');
  const stream = await look();
  expect(stream.status).toBe(200);
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  expect(stream.headers.get('cache-control')).toContain('no-');
  await tells(stream, 1);
  expect(told(stream)[0]?.items[0]).toMatchObject({ event: 'signed_up' });
  await post('upgraded');
  await tells(stream, 2);
  expect(told(stream)[1]?.items.map(({ event }) => event)).toEqual(['upgraded', 'signed_up']);
});

test('it tells no more events than a page shows', async () => {
  const { server_key: key } = api.project;
  const events = Array.from({ length: LATEST_EVENTS_MAX + 1 }, () => ({
    event: 'made',
    external_id: 'ann',
  }));
  await api.call('POST', '/v1/events/batch', { key, body: { events } });
  const stream = await look();
  await tells(stream, 1);
  expect(told(stream)[0]?.items).toHaveLength(LATEST_EVENTS_MAX);
});

test('it tells when a send in the log has changed', async () => {
  const sends = sendsOf(database, api.project.project_id);
  const send = newSend();
  await sends.plan(send);
  const stream = await look('sends.latest');
  await tells(stream, 1);
  expect(told(stream)[0]?.items[0]).toMatchObject({ id: send.sendId, status: 'queued' });
  await sends.update(send.sendId, `status = 'cancelled'`);
  await tells(stream, 2);
  expect(told(stream)[1]?.items[0]).toMatchObject({ id: send.sendId, status: 'cancelled' });
});

test('however many look on at the same, one feed tells them', async () => {
  for (let at = 0; at < 3; at += 1)
    await tells(await look('events.latest', { cookie: (await someoneElse()).cookie }), 1);
  expect([streams().count, feedsOf(database.deps).count]).toEqual([3, 1]);
  await post('told_to_all');
  await Promise.all(opened.map((stream) => tells(stream, 2)));
});

const someoneElse = () =>
  makePerson(database, { projectId: api.project.project_id, role: 'viewer' });

test(`${STREAMS_PER_SESSION_MAX} streams of one session are taken, and one more is 429 too_many_streams`, async () => {
  for (let at = 0; at < STREAMS_PER_SESSION_MAX; at += 1) expect(await ask()).toBe(200);
  expect(await ask()).toBe('429 too_many_streams');
  const cookie = await cookieFor(database, viewer.personId);
  expect(await ask('events.latest', { cookie })).toBe(200);
  opened[0]?.close();
  await until('its place is free', () => streams().count === STREAMS_PER_SESSION_MAX);
  expect(await ask()).toBe(200);
});

test(`${STREAMS_PER_PERSON_MAX} streams of one person are taken in all sessions, and not one more`, async () => {
  const { personId } = await someoneElse();
  for (let at = 0; at < STREAMS_PER_PERSON_MAX / STREAMS_PER_SESSION_MAX; at += 1) {
    const cookie = await cookieFor(database, personId);
    for (let of = 0; of < STREAMS_PER_SESSION_MAX; of += 1)
      expect(await ask('events.latest', { cookie })).toBe(200);
  }
  const cookie = await cookieFor(database, personId);
  const { error } = await answerOf(await look('events.latest', { cookie }));
  expect(error).toMatchObject({
    message: 'too_many_streams',
    data: { httpStatus: 429, detail: expect.stringContaining(`${STREAMS_PER_PERSON_MAX} streams`) },
  });
  expect(await ask()).toBe(200);
});

test('who looks on is looked after in one question at a time', async () => {
  await tells(await look(), 1);
  const checking = streams().check();
  expect(streams().check()).toBe(checking);
  await checking;
  expect(streams().check()).not.toBe(checking);
  expect(streams().count).toBe(1);
});

test('it ends with its session', async () => {
  const { cookie } = await someoneElse();
  const stream = await look('events.latest', { cookie });
  await tells(stream, 1);
  await streams().check();
  expect(streams().count).toBe(1);
  const { status } = await api.call('POST', '/admin/trpc/session.signOut', {
    body: {},
    headers: { cookie, origin: api.url },
  });
  expect(status).toBe(200);
  await stream.ended;
  expect(await ask('events.latest', { cookie })).toBe('401 not_signed_in');
});

test('it ends with the role in the project, and with none other', async () => {
  const stays = await look();
  const leaves = await someoneElse();
  const stream = await look('events.latest', { cookie: leaves.cookie });
  await Promise.all([tells(stays, 1), tells(stream, 1)]);
  await database.owner.query('delete from admin.members where person_id = $1', [leaves.personId]);
  await stream.ended;
  expect(streams().count).toBe(1);
  expect(await ask('events.latest', { cookie: leaves.cookie })).toBe('404 not_found');
});

test('404 not_found: nobody looks on at a project that they may not see', async () => {
  const { project_id: projectId } = await createProject(database.deps, 'of others');
  expect(await ask('sends.latest', { projectId })).toBe('404 not_found');
});

test.each([
  ['another origin', { origin: 'https://evil.example' }],
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
])('403 foreign_origin: a page of %s cannot hold a stream open', async (_, headers) => {
  expect(await ask('events.latest', headers as More)).toBe('403 foreign_origin');
});

test('a page of ours needs no origin, as browsers send none with what they only read', async () => {
  expect(await ask('events.latest', { 'sec-fetch-site': 'same-origin' } as More)).toBe(200);
});

test('400: it cannot be asked for with other calls', async () => {
  const { status } = await api.call('GET', '/admin/trpc/events.latest,sends.latest?batch=1', {
    headers: { cookie: viewer.cookie },
  });
  expect(status).toBeGreaterThanOrEqual(400);
});

test('a database that fails ends the stream, and whoever comes again is told', async () => {
  await database.owner.query('alter table ingest.events rename to events_gone');
  try {
    const stream = await look();
    expect(stream.status).toBe(200);
    await stream.ended;
    expect(stream.told.map(({ event }) => event)).toEqual(['connected', 'serialized-error']);
    expect(JSON.stringify(stream.told)).not.toContain('events_gone');
  } finally {
    await database.owner.query('alter table ingest.events_gone rename to events');
  }
  await tells(await look(), 1);
});

test('a client is told how long silence may last, and that is longer than it lasts', async () => {
  const stream = await look();
  await until('it is connected', () => stream.told.length > 0);
  const [{ event, data } = { event: '', data: null }] = stream.told;
  expect(event).toBe('connected');
  expect(
    (data as { reconnectAfterInactivityMs: number }).reconnectAfterInactivityMs,
  ).toBeGreaterThan(2 * STREAM_PING_MS);
});
