import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RefusalName } from '../../src/base/refusal.ts';
import { newId } from '../../src/base/ids.ts';
import { BATCH_EVENTS_MAX } from '../../src/ingest/schema.ts';
import { untilWaiting } from '../base/connections.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer, Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { hostileEvents, hostileIdentifies, hostileToBoth } from './hostile.ts';
import type { Hostile } from './hostile.ts';
import { hostileBodies } from './hostile_bodies.ts';

const database = testDatabase();
const api = testApi(database);

const EVENTS = '/v1/events';
const BATCH = '/v1/events/batch';
const IDENTIFY = '/v1/identify';
const MIDDLE = BATCH_EVENTS_MAX / 2;
const NEIGHBOURS = 6;

/** Holds the flushes of the timeline up, over a connection of its own. */
let holder: pg.Client;
beforeAll(async () => {
  holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
});
afterAll(() => holder.end());

type Sent = { path: string; call: Call };
/** Without issues where no member is at fault, or more than one is. */
type Culprit = Sent & { what: string; refusal: RefusalName; issues: string[] | null };

const TABLES =
  'ingest.events ingest.message_ids ingest.pending identity.identities identity.links profiles.traits'.split(
    ' ',
  );
const count = async (): Promise<Record<string, number>> => {
  const columns = TABLES.map((table) => `(select count(*)::integer from ${table}) as "${table}"`);
  const { rows } = await database.owner.query(`select ${columns.join(', ')}`);
  return rows[0];
};

const post = ({ path, call }: Sent): Promise<Answer> =>
  api.call('POST', path, { key: api.project.server_key, ...call });

const goodEvent = (more: object = {}) => ({ event: 'good', external_id: 'good', ...more });
/** Requests of several clients, each with its own key and way of sending. */
const neighbours = (properties: object = {}): Sent[] =>
  Array.from({ length: NEIGHBOURS }, (_, at) => {
    const key = at % 2 === 0 ? api.project.server_key : api.project.publishable_key;
    const events = [newId(), newId()].map((message_id) => goodEvent({ message_id, properties }));
    return at % 3 === 0
      ? { path: BATCH, call: { key, body: { events } } }
      : { path: EVENTS, call: { key, body: events[0] } };
  });
const countEvents = (sent: Sent[]): number =>
  sent.reduce((sum, { path }) => sum + (path === BATCH ? 2 : 1), 0);

/** Sends good requests while the flush of the first is held up, so that the others share the next one. */
const whileHeldUp = async (good: Sent[], work: () => Promise<void>): Promise<Answer[]> => {
  const answers: Promise<Answer>[] = [];
  await holder.query('begin; lock table ingest.pending in exclusive mode');
  try {
    for (const sent of good) {
      answers.push(post(sent));
      if (answers.length === 1) await untilWaiting(database);
    }
    await work();
  } finally {
    await holder.query('commit');
    await Promise.allSettled(answers);
  }
  return Promise.all(answers);
};

const expectRefused = async (culprit: Culprit): Promise<void> => {
  const issues = expectRefusal(await post(culprit), culprit.refusal);
  const paths = [...new Set(issues.map(({ path }) => path))];
  if (culprit.issues) expect(paths, `${culprit.path}: ${culprit.what}`).toEqual(culprit.issues);
};

/** Sends culprits among good requests: they are refused at once, and everybody else is none the worse. */
const among = async (culprits: Culprit[]): Promise<void> => {
  const before = await count();
  const good = neighbours();
  const answers = await whileHeldUp(good, async () => {
    await Promise.all(culprits.map(expectRefused));
  });
  for (const { status, body } of answers) {
    expect(status, JSON.stringify(body)).toBe(202);
    expect(body.duplicates).toBe(0);
  }
  const { 'ingest.pending': flushes, ...after } = await count();
  const { 'ingest.pending': earlier, ...rest } = before;
  expect(after, 'the good ones are stored once, and nothing else is').toEqual({
    ...rest,
    'ingest.events': (before['ingest.events'] ?? 0) + countEvents(good),
    'ingest.message_ids': (before['ingest.message_ids'] ?? 0) + countEvents(good),
  });
  expect((flushes ?? 0) - (earlier ?? 0), 'flushes are shared').toBeLessThan(NEIGHBOURS);
};

/** A good one with some members put in its place, as JSON text. */
const toText = (good: Record<string, string>, { members }: Hostile): string => {
  const all = Object.entries({ ...good, ...Object.fromEntries(Object.entries(members)) });
  // Spreading defines members by name, also one called __proto__.
  const written = all.flatMap(([name, text]) =>
    text === null ? [] : [`${JSON.stringify(name)}:${text}`],
  );
  return `{${written.join(',')}}`;
};

const keyOf = ({ key = 'server' }: Hostile): string =>
  key === 'server' ? api.project.server_key : api.project.publishable_key;
const culpritOf = (
  hostile: Hostile,
  { path, body, at }: { path: string; body: string; at: string },
): Culprit => ({
  what: hostile.what,
  path,
  call: { key: keyOf(hostile), body },
  refusal: hostile.refusal ?? 'invalid_request',
  issues: [`${at}${hostile.path}`],
});

const badEvent = (hostile: Hostile): string =>
  toText({ event: '"bad"', external_id: '"bad"', message_id: `"${newId()}"` }, hostile);

const alone = (hostile: Hostile): Culprit =>
  culpritOf(hostile, { path: EVENTS, body: badEvent(hostile), at: '' });
const inBatch = (hostile: Hostile): Culprit => {
  const events = Array.from({ length: BATCH_EVENTS_MAX }, () =>
    JSON.stringify(goodEvent({ message_id: newId() })),
  );
  events[MIDDLE] = badEvent(hostile);
  const body = `{"events":[${events.join(',')}]}`;
  return culpritOf(hostile, { path: BATCH, body, at: `/events/${MIDDLE}` });
};
const identified = (hostile: Hostile): Culprit => {
  const good = { external_id: '"bad"', anonymous_id: '"bad"', traits: '{"plan":"bad"}' };
  return culpritOf(hostile, { path: IDENTIFY, body: toText(good, hostile), at: '' });
};

const byMember = (all: Hostile[]): [string, Hostile[]][] =>
  Object.entries(Object.groupBy(all, ({ what }) => what.split(':')[0] ?? '')) as never;

describe('an event that is refused, alone or in the middle of a batch, hurts no neighbour', () => {
  test.each(byMember([...hostileToBoth, ...hostileEvents]))('400: %s', (_, all) =>
    among(all.flatMap((hostile) => [alone(hostile), inBatch(hostile)])),
  );
});

describe('an identify that is refused tells nothing of anybody and hurts no neighbour', () => {
  test.each(byMember([...hostileToBoth, ...hostileIdentifies]))('400: %s', (_, all) =>
    among(all.map(identified)),
  );
});

describe.each([EVENTS, BATCH, IDENTIFY])(
  'what is no body for %s hurts nobody who sends one',
  (path) => {
    test('400, 413, 415', () =>
      among(
        hostileBodies.map(({ what, refusal, ...call }) => ({
          path,
          what,
          refusal,
          issues: null,
          call,
        })),
      ));
  },
);

/** A batch of good events, sent by a clock that says this. */
const sentAt = (sent_at: string, occurred_at: string, culprit: Partial<Culprit>): Culprit => ({
  path: BATCH,
  what: `sent_at: ${sent_at}`,
  refusal: 'invalid_request',
  issues: ['/sent_at'],
  call: {
    body: `{"sent_at":${sent_at},"events":[{"event":"bad","external_id":"bad"${occurred_at}}]}`,
  },
  ...culprit,
});

test('400: a batch whose clock says what no clock can say hurts no neighbour', () =>
  among([
    ...['"yesterday"', 'null', '7', '{}', '"0000-01-01T00:00:00Z"', '"2026-11-20T12:00:00"'].map(
      (text) => sentAt(text, '', {}),
    ),
    ...['"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59.999Z"'].map((text) =>
      sentAt(text, `,"occurred_at":"${new Date().toISOString()}"`, {
        refusal: 'occurred_at_out_of_range',
        issues: ['/events/0/occurred_at'],
      }),
    ),
  ]));

test('202: a neighbour whose names mean something to JavaScript is as good as any', async () => {
  const names = '{"__proto__":"p","prototype":1,"constructor":"c"}';
  const before = await count();
  const good = neighbours(JSON.parse(names));
  const answers = await whileHeldUp(good, () => Promise.resolve());
  expect(answers.map(({ status }) => status)).toEqual(good.map(() => 202));
  const { rows } = await database.owner.query(
    'select properties::text from ingest.events where event_id = any ($1)',
    [answers.flatMap(({ body }) => body.event_ids)],
  );
  expect(rows).toHaveLength(countEvents(good));
  for (const { properties } of rows)
    expect(Object.entries(JSON.parse(properties))).toEqual(
      expect.arrayContaining(Object.entries(JSON.parse(names))),
    );
  expect((await count())['ingest.events']).toBe((before['ingest.events'] ?? 0) + countEvents(good));
});
