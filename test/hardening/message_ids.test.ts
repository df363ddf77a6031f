// A publishable key is public. No id that it sends may stand in the way of a server, and no answer may tell it what a
// server has sent.
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { listConflicts, observe } from '../../src/ingest/ingest.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
beforeEach(async () => {
  api.project = await createProject(database.deps, 'message ids');
});

type Kind = 'server' | 'publishable';
const KINDS: readonly Kind[] = ['server', 'publishable'];
const other = (kind: Kind): Kind => (kind === 'server' ? 'publishable' : 'server');

const post = (kind: Kind, path: string, body: object, headers: Record<string, string> = {}) =>
  api.call('POST', path, { key: api.project[`${kind}_key`], body, headers });

/** Each route that stores events: how one event with a message id is sent there. */
const EVENT_ROUTES: Record<string, (kind: Kind, id: string) => Promise<Answer>> = {
  'POST /v1/events': (kind, message_id) =>
    post(kind, '/v1/events', { event: 'order_paid', external_id: 'ann', message_id }),
  'POST /v1/events/batch': (kind, message_id) =>
    post(kind, '/v1/events/batch', {
      events: [{ event: 'order_paid', external_id: 'ann', message_id }],
    }),
  'POST /segment/v1/track': (kind, messageId) =>
    post(kind, '/segment/v1/track', { event: 'Order Paid', userId: 'ann', messageId }),
  'POST /segment/v1/b': (kind, messageId) =>
    post(kind, '/segment/v1/b', {
      batch: [{ type: 'track', event: 'Order Paid', userId: 'ann', messageId }],
    }),
};
const ROUTES = Object.keys(EVENT_ROUTES);
const PAIRS = ROUTES.flatMap((first) => ROUTES.map((second) => [first, second] as const));
const send = (route: string, kind: Kind, id: string): Promise<Answer> =>
  (EVENT_ROUTES[route] as (typeof EVENT_ROUTES)[string])(kind, id);

const stored = async (): Promise<{ event_id: string; key_kind: Kind }[]> => {
  const { rows } = await database.owner.query(
    'select event_id, key_kind from ingest.events where project_id = $1 order by event_id',
    [api.project.project_id],
  );
  return rows;
};
/** An answer without what every request has another of. */
const shapeOf = ({ status, body }: Answer) => ({
  status,
  body: 'event_ids' in body ? { ...body, event_ids: body.event_ids.length } : body,
});
const idsOf = ({ body }: Answer): string[] => body.event_ids ?? [];

describe.each(['publishable', 'server'] as const)('a %s key sends a message id first', (first) => {
  test.each(PAIRS)(
    'through %s: the same id by the other kind of key, through %s, is an event of its own',
    async (firstRoute, secondRoute) => {
      const id = randomUUID();
      const taken = await send(firstRoute, first, id);
      const answer = await send(secondRoute, other(first), id);
      const stranger = await send(secondRoute, other(first), randomUUID());
      expect(shapeOf(answer)).toEqual(shapeOf(stranger));
      expect(idsOf(answer)).not.toEqual(idsOf(taken).length > 0 ? idsOf(taken) : [id]);

      const events = await stored();
      expect(events.map(({ key_kind }) => key_kind).toSorted()).toEqual(
        [first, other(first), other(first)].toSorted(),
      );
      const own = events.filter(({ key_kind }) => key_kind === other(first));
      for (const shown of idsOf(answer)) expect(own.map((one) => one.event_id)).toContain(shown);
    },
  );
});

test.each(KINDS)(
  'a repeat by the same kind of key (%s) is stored once, whichever routes it takes',
  async (kind) => {
    const id = randomUUID();
    const first = await send('POST /v1/events', kind, id);
    for (const route of ROUTES) {
      const again = await send(route, kind, id);
      if (idsOf(again).length > 0)
        expect(again.body).toEqual({ accepted: 0, duplicates: 1, event_ids: idsOf(first) });
    }
    expect((await stored()).map(({ event_id }) => event_id)).toEqual(idsOf(first));
  },
);

test('a UUIDv7 as message id is kept apart by kind of key, too: only its time is shared', async () => {
  const id = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
  await send('POST /v1/events', 'publishable', id);
  await send('POST /v1/events', 'server', id);
  expect(await stored()).toHaveLength(2);
  const { rows } = await database.owner.query(
    'select message_key from ingest.message_ids where project_id = $1',
    [api.project.project_id],
  );
  for (const { message_key } of rows) expect(message_key).toMatch(/^019a9f0c-6c00-8/);
});

test('a conflict is noted among the events of one kind of key only', async () => {
  const { project_id: projectId } = api.project;
  const conflicts = () =>
    inProject(database.deps, projectId, (scope) =>
      listConflicts(scope, { limit: 9, before: null }),
    );
  const tell = (kind: Kind, event: string) =>
    post(kind, '/v1/events', { event, external_id: 'ann', message_id: 'm' });
  const [server] = idsOf(await tell('server', 'order_paid'));
  await tell('publishable', 'order_refunded');
  expect(await conflicts()).toEqual([]);
  await tell('server', 'order_refunded');
  expect(await conflicts()).toMatchObject([{ event_id: server, conflicts: 1 }]);
});

const IDENTIFY_ROUTES: Record<string, (kind: Kind, id: string, plan: string) => Promise<Answer>> = {
  'POST /v1/identify': (kind, message_id, plan) =>
    post(kind, '/v1/identify', { external_id: 'ann', traits: { plan }, message_id }),
  'POST /segment/v1/identify': (kind, messageId, plan) =>
    post(kind, '/segment/v1/identify', { userId: 'ann', traits: { plan }, messageId }),
  'POST /segment/v1/batch': (kind, messageId, plan) =>
    post(kind, '/segment/v1/batch', {
      batch: [{ type: 'identify', userId: 'ann', traits: { plan }, messageId }],
    }),
};
const planOf = async (): Promise<unknown> => {
  const { body } = await api.call('GET', '/v1/profiles/external_id:ann', {
    key: api.project.server_key,
  });
  return body.traits?.plan;
};

describe.each(Object.entries(IDENTIFY_ROUTES))('%s', (_route, identify) => {
  test('a publishable identify does not use up the message id of a server identify', async () => {
    const id = randomUUID();
    await identify('publishable', id, 'from the page');
    await identify('server', id, 'from the server');
    expect(await planOf()).toBe('from the server');
    // A repeat of either changes nothing.
    await identify('server', id, 'another');
    expect(await planOf()).toBe('from the server');
  });

  test('a server identify does not use up the message id of a publishable identify', async () => {
    const id = randomUUID();
    const first = await identify('server', id, 'from the server');
    const answer = await identify('publishable', id, 'from the page');
    expect(answer.status).toBe(first.status);
    const { rows } = await database.owner.query(
      'select count(*)::int as claimed from ingest.message_ids where project_id = $1',
      [api.project.project_id],
    );
    expect(rows).toEqual([{ claimed: 2 }]);
  });

  test.each(KINDS)(
    'an identify swallows no event with its message id, nor the other way (%s)',
    async (kind) => {
      const [one, two] = [randomUUID(), randomUUID()];
      await identify(kind, one, 'first');
      for (const route of ROUTES) await send(route, kind, one);
      expect(await stored()).toHaveLength(1);
      await send('POST /v1/events', kind, two);
      await identify(kind, two, 'second');
      expect(await planOf()).toBe('second');
    },
  );
});

describe('an Idempotency-Key', () => {
  const event = { event: 'order_paid', external_id: 'ann' };
  const REPEATABLE: [string, object][] = [
    ['/v1/events', event],
    ['/v1/events/batch', { events: [event, event] }],
    ['/segment/v1/batch', { batch: [{ type: 'track', event: 'Order Paid', userId: 'ann' }] }],
    ['/segment/v1/track', { event: 'Order Paid', userId: 'ann' }],
    ['/v1/identify', { external_id: 'ann', traits: { plan: 'pro' } }],
  ];

  test.each(REPEATABLE)(
    '%s: the same key, path and body by both kinds of key are two requests',
    async (path, body) => {
      const headers = { 'idempotency-key': 'one-for-both' };
      const first = await post('server', path, body, headers);
      const stranger = await post('publishable', path, body, { 'idempotency-key': 'another' });
      const before = (await stored()).length;
      const answer = await post('publishable', path, body, headers);
      expect(answer.headers.has('idempotency-replayed')).toBe(false);
      expect(shapeOf(answer)).toEqual(shapeOf(stranger));
      for (const id of idsOf(answer)) expect(idsOf(first)).not.toContain(id);
      if (path !== '/v1/identify') expect((await stored()).length).toBeGreaterThan(before);
      const again = await post('publishable', path, body, headers);
      expect(again.body).toEqual(answer.body);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    },
  );

  const repetitionOf = async (): Promise<string> => {
    const { rows } = await database.owner.query(
      'select repetition_id from http.idempotency_keys where project_id = $1',
      [api.project.project_id],
    );
    return rows[0].repetition_id;
  };
  /** What a crash leaves between the effect and the kept answer. */
  const crash = () =>
    database.owner.query(
      'update http.idempotency_keys set answer = null, claimed_until = null where project_id = $1',
      [api.project.project_id],
    );

  test.each(REPEATABLE.slice(0, 4))(
    '%s: a client that knows the id of a repetition cannot forge the message id of its events',
    async (path, body) => {
      const headers = { 'idempotency-key': 'forged' };
      const first = await post('server', path, body, headers);
      const repetition = await repetitionOf();
      const before = await stored();
      const forgeries = [0, 1].flatMap((at) => [
        `idempotency-key:${repetition}/${at}`,
        `repetition\n${repetition}/${at}`,
        `${repetition}/${at}`,
      ]);
      for (const id of forgeries)
        expect(idsOf(await send('POST /v1/events', 'server', id))).not.toContain(idsOf(first)[0]);
      expect(await stored()).toHaveLength(before.length + forgeries.length);

      await crash();
      await post('server', path, body, headers);
      expect(await stored(), 'the repeat itself is stored once').toHaveLength(
        before.length + forgeries.length,
      );
    },
  );
});

test('no message id keeps the service from recording what it observes', async () => {
  const { project_id: projectId } = api.project;
  for (const kind of KINDS) await send('POST /v1/events', kind, 'email_delivered');
  const seen = {
    name: 'email_delivered',
    externalId: 'ann',
    anonymousId: null,
    properties: {},
    occurredAt: new Date(),
  } as const;
  for (const _ of [1, 2])
    await inProject(database.deps, projectId, (scope) => observe(scope, [seen]));
  const { rows } = await database.owner.query(
    `select event_id from ingest.events where project_id = $1 and source = 'system'`,
    [projectId],
  );
  expect(rows).toHaveLength(2);
});
