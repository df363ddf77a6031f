// What holds of people and their identifiers, however they came to be known.
import { beforeEach, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'people');
});

const server = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.project.server_key, ...(body === undefined ? {} : { body }) });
const page = (method: string, path: string, body?: unknown) =>
  api.call(method, path, {
    key: api.project.publishable_key,
    ...(body === undefined ? {} : { body }),
  });

/** Tells of events, and does with them what a worker does. */
const track = async (...people: object[]): Promise<void> => {
  for (const who of people) await page('POST', '/v1/events', { event: 'page_viewed', ...who });
  await api.processEvents();
};
const profileOf = async (query: string) =>
  (await server('GET', `/v1/profiles?${query}`)).body.items[0];
const alias = async (anonymous_id: string, external_id: string) =>
  (await server('POST', '/v1/identify/alias', { anonymous_id, external_id })).body.link;
const undo = (linkId: string) => server('POST', `/v1/identity-links/${linkId}/undo`);
const rowsOf = async (columns: string, table: string): Promise<unknown[]> => {
  const { rows } = await database.owner.query(
    `select ${columns} from ${table} where project_id = $1 order by 1, 2`,
    [api.project.project_id],
  );
  return rows;
};

test('every identifier seen has a profile of its own until it is linked', async () => {
  await track({ external_id: 'ann' }, { anonymous_id: 'device-1' }, { anonymous_id: 'device-2' });
  const ids = [];
  for (const query of ['external_id=ann', 'anonymous_id=device-1', 'anonymous_id=device-2'])
    ids.push((await profileOf(query)).id);
  expect(new Set(ids).size).toBe(3);
});

test('an event with both identifiers belongs to the external one and links nothing', async () => {
  await track({ external_id: 'ann', anonymous_id: 'device-1' });
  const [ann, device] = [
    await profileOf('external_id=ann'),
    await profileOf('anonymous_id=device-1'),
  ];
  expect(ann.id).not.toBe(device.id);
  const eventsOf = async (id: string) =>
    (await server('GET', `/v1/profiles/${id}/events`)).body.items;
  expect(await eventsOf(ann.id)).toMatchObject([{ anonymous_id: 'device-1' }]);
  expect(await eventsOf(device.id)).toEqual([]);
  expect((await server('GET', '/v1/identity-links')).body.items).toEqual([]);
});

test('a person’s profile id is that of the external id, in whatever order the two were seen', async () => {
  await track({ anonymous_id: 'first' });
  await track({ external_id: 'ann' }, { anonymous_id: 'last' });
  const { id } = await profileOf('external_id=ann');
  for (const device of ['first', 'last', 'never seen before']) {
    const link = await alias(device, 'ann');
    expect(link.profile_id).toBe(id);
    expect((await profileOf(`anonymous_id=${encodeURIComponent(device)}`)).id).toBe(id);
  }
  expect((await profileOf('external_id=ann')).id).toBe(id);
});

test('a link goes from an anonymous id to an external one, so there are no cycles, also of one text', async () => {
  const there = await alias('one', 'two');
  const back = await alias('two', 'one');
  const itself = await alias('one-and-the-same', 'one-and-the-same');
  for (const link of [there, back, itself]) expect(link.status).toBe('active');
  const two = await profileOf('external_id=two');
  expect(two.identifiers).toMatchObject([
    { kind: 'external', value: 'two' },
    { kind: 'anonymous', value: 'one' },
  ]);
});

test('a publishable key never joins two known people, undoes anything, or reads', async () => {
  await page('POST', '/v1/identify', { external_id: 'ann', anonymous_id: 'shared' });
  const { status } = await page('POST', '/v1/identify', {
    external_id: 'bob',
    anonymous_id: 'shared',
  });
  expect(status).toBe(202);
  const [ann, bob] = [await profileOf('external_id=ann'), await profileOf('external_id=bob')];
  expect(ann.id).not.toBe(bob.id);
  expect(bob.identifiers).toHaveLength(1);
  const [link] = (await server('GET', '/v1/identity-links?status=active')).body.items;
  for (const [method, path] of [
    ['POST', `/v1/identity-links/${link.id}/undo`],
    ['POST', '/v1/identify/alias'],
    ['GET', `/v1/profiles/${ann.id}`],
    ['GET', `/v1/profiles/${ann.id}/events`],
    ['GET', '/v1/identity-links'],
  ] as const)
    expectRefusal(await page(method, path), 'wrong_key_type');
});

test('events never move: neither a link nor its undoing writes to them', async () => {
  await track({ external_id: 'ann' }, { anonymous_id: 'device-1' });
  const where = () => rowsOf('ctid::text, xmin::text, event_id', 'ingest.events');
  const before = await where();
  const { id } = await alias('device-1', 'ann');
  expect(await where()).toEqual(before);
  await undo(id);
  expect(await where()).toEqual(before);
});

test('after an undo everybody is what they would be had the link never existed', async () => {
  const tell = async () => {
    await track({ anonymous_id: 'device-1' });
    await server('POST', '/v1/identify', { external_id: 'ann', traits: { plan: 'pro' } });
  };
  const meanwhile = async () => {
    await track({ anonymous_id: 'device-1' }, { external_id: 'ann' });
    await server('POST', '/v1/identify', { external_id: 'ann', traits: { city: 'Graz' } });
  };
  const known = async () => {
    const people = [];
    for (const query of ['external_id=ann', 'anonymous_id=device-1']) {
      const { id, identifiers, traits, tags, email } = await profileOf(query);
      const { items } = (await server('GET', `/v1/profiles/${id}/events`)).body;
      const values = identifiers.map(({ value }: { value: string }) => value);
      people.push({ values, traits, tags, email, entries: items.length });
    }
    return people;
  };
  await tell();
  await meanwhile();
  const never = await known();
  api.project = await createProject(database.deps, 'linked meanwhile');
  await tell();
  const { id } = await alias('device-1', 'ann');
  await meanwhile();
  expect(await known()).not.toEqual(never);
  await undo(id);
  expect(await known()).toEqual(never);
});

test('an undo leaves sends with whom they were sent to, and suppressions alone', async () => {
  const email = 'ann@example.com';
  await server('POST', '/v1/identify', { external_id: 'ann', traits: { email } });
  const { id } = await alias('device-1', 'ann');
  const { id: profileId } = await profileOf('external_id=ann');
  const { project_id } = api.project;
  await sendsOf(database, project_id).plan(newSend({ profileId, recipient: email }));
  await inProject(database.deps, project_id, (scope) =>
    suppress(scope, { email, reason: 'complaint', source: 'a test' }),
  );
  const kept = async () => [
    await rowsOf('send_id, ctid::text, xmin::text, profile_id', 'delivery.sends'),
    await rowsOf('ctid::text, xmin::text', 'suppression.addresses'),
    await rowsOf('ctid::text, xmin::text', 'suppression.history'),
  ];
  const before = await kept();
  expect(before.map((rows) => rows.length > 0)).toEqual([true, true, true]);
  await undo(id);
  expect(await kept()).toEqual(before);
  expect((await profileOf('external_id=ann')).suppressed).toBe(true);
});

test('an address is trimmed, kept as it was written, and compared in any case', async () => {
  await server('POST', '/v1/identify', {
    external_id: 'ann',
    traits: { email: '  Ann@Example.COM ' },
  });
  expect((await profileOf('external_id=ann')).email).toBe('Ann@Example.COM');
  expect((await profileOf('email=ann%40example.com')).external_id).toBe('ann');
});

test('traits are any JSON; null removes one, and a null inside one stays', async () => {
  const traits = { a: 'text', b: 1.5, c: true, d: [1, [null]], e: { f: null } };
  await server('POST', '/v1/identify', { external_id: 'ann', traits });
  expect((await profileOf('external_id=ann')).traits).toEqual(traits);
  await server('POST', '/v1/identify', { external_id: 'ann', traits: { a: null, e: null } });
  expect((await profileOf('external_id=ann')).traits).toEqual({ b: 1.5, c: true, d: [1, [null]] });
});
