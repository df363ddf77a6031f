import { expect, test } from 'vitest';
import { TRAIT_DEPTH_MAX, TRAIT_KEYS_MAX, TRAITS_BYTES_MAX } from '../../src/profiles/traits.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const MINUTE_MS = 60_000;
const ago = (minutes: number): string => new Date(Date.now() - minutes * MINUTE_MS).toISOString();

type Key = 'publishable' | 'server';
const identify = (body: unknown, key: Key = 'publishable') =>
  api.call('POST', '/v1/identify', {
    key: key === 'server' ? api.project.server_key : api.project.publishable_key,
    body,
  });

const profileOf = async (way: string) => {
  const { body } = await api.call('GET', `/v1/profiles?${way}`, { key: api.project.server_key });
  return body.items[0];
};

const links = async (query = '') => {
  const { body } = await api.call('GET', `/v1/identity-links${query}`, {
    key: api.project.server_key,
  });
  return body.items;
};

const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

test('202: says nothing about the person, whoever asks', async () => {
  for (const key of ['publishable', 'server'] as const) {
    const { status, body } = await identify({ external_id: 'quiet', traits: { plan: 'pro' } }, key);
    expect([status, body]).toEqual([202, { accepted: 1 }]);
  }
});

test('202: the anonymous id becomes theirs, with what it has done', async () => {
  await api.call('POST', '/v1/events', {
    key: api.project.publishable_key,
    body: { event: 'page_viewed', anonymous_id: 'device-1' },
  });
  await api.processEvents();
  await identify({
    external_id: 'ann',
    anonymous_id: 'device-1',
    traits: { email: ' ann@example.com ' },
  });
  const ann = await profileOf('external_id=ann');
  expect(ann.identifiers.map(({ value }: { value: string }) => value)).toEqual(['ann', 'device-1']);
  expect(await profileOf('anonymous_id=device-1')).toEqual(ann);
  expect(await profileOf('email=ANN@example.com')).toEqual(ann);
  const { body } = await api.call('GET', `/v1/profiles/${ann.id}/events`, {
    key: api.project.server_key,
  });
  expect(body.items).toMatchObject([{ event: 'page_viewed', anonymous_id: 'device-1' }]);
});

test('202: a device that is somebody else’s is not moved, and nobody is told', async () => {
  await identify({ external_id: 'one', anonymous_id: 'shared' });
  const { status, body } = await identify({ external_id: 'two', anonymous_id: 'shared' });
  expect([status, body]).toEqual([202, { accepted: 1 }]);
  expect((await profileOf('anonymous_id=shared')).external_id).toBe('one');
  expect(await links('?status=refused')).toMatchObject([
    { external_id: 'two', anonymous_id: 'shared', status: 'refused', reason: 'linked_to_another' },
  ]);
});

test('202: what a server said stands, whatever a page says later', async () => {
  await identify({ external_id: 'eve', traits: { plan: 'pro' }, occurred_at: ago(9) }, 'server');
  await identify({ external_id: 'eve', traits: { plan: 'free', city: 'Graz' } });
  expect((await profileOf('external_id=eve')).traits).toEqual({ plan: 'pro', city: 'Graz' });
  await identify({ external_id: 'eve', traits: { plan: null } }, 'server');
  expect((await profileOf('external_id=eve')).traits).toEqual({ city: 'Graz' });
});

test('202: the same message id twice is told once, also when it says something else', async () => {
  const first = { external_id: 'once', traits: { n: 1 }, message_id: 'identify-1' };
  await identify(first);
  await identify({ ...first, traits: { n: 2 } });
  expect((await profileOf('external_id=once')).traits).toEqual({ n: 1 });
});

test('202: the most that traits may be', async () => {
  const many = Object.fromEntries(Array.from({ length: TRAIT_KEYS_MAX }, (_, n) => [`t${n}`, n]));
  expect(await identify({ external_id: 'most', traits: many })).toMatchObject({ status: 202 });
  const deep = { a: nested(TRAIT_DEPTH_MAX - 1) };
  expect(await identify({ external_id: 'deep', traits: deep })).toMatchObject({ status: 202 });
  const large = { a: 'x'.repeat(TRAITS_BYTES_MAX - '{"a":""}'.length) };
  expect(await identify({ external_id: 'large', traits: large })).toMatchObject({ status: 202 });
});

test('409 too_many_traits: what servers told somebody is full, and a page may still speak', async () => {
  const many = (from: number) =>
    Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`t${from + n}`, n]));
  const tell = (traits: object, key: Key = 'server') =>
    identify({ external_id: 'full', anonymous_id: 'device-full', traits }, key);
  await tell(many(0));
  const refused = { anonymous_id: 'device-not', external_id: 'full', traits: many(200) };
  expectRefusal(await identify(refused, 'server'), 'too_many_traits');
  expect(await profileOf('anonymous_id=device-not')).toBeUndefined();
  expect(await tell(many(200), 'publishable')).toMatchObject({ status: 202 });
  const { traits } = await profileOf('external_id=full');
  expect(Object.keys(traits)).toHaveLength(400);
  const gone = Object.fromEntries(Object.keys(many(0)).map((key) => [key, null]));
  expect(await tell(gone)).toMatchObject({ status: 202 });
  expect(await identify({ external_id: 'full', traits: many(400) }, 'server')).toMatchObject({
    status: 202,
  });
});

test.each([
  [
    'one key too many',
    Object.fromEntries(Array.from({ length: TRAIT_KEYS_MAX + 1 }, (_, n) => [`t${n}`, n])),
    '/traits',
  ],
  ['one level too deep', { a: nested(TRAIT_DEPTH_MAX) }, '/traits/a/a/a/a/a'],
  ['one byte too many', { a: 'x'.repeat(TRAITS_BYTES_MAX + 1 - '{"a":""}'.length) }, '/traits'],
  ['an address that is none', { email: 'ann at example' }, '/traits/email'],
  ['a NUL', { a: { b: 'x\u0000' } }, '/traits/a/b'],
  ['a lone surrogate in a key', { '\ud800': 1 }, '/traits/\ufffd'],
  ['an unsafe integer', { a: 2 ** 53 }, '/traits/a'],
  ['a list', [], '/traits'],
])('400 invalid_request: %s', async (_what, traits, path) => {
  const issues = expectRefusal(await identify({ external_id: 'bad', traits }), 'invalid_request');
  expect(issues.map((issue) => issue.path)).toEqual([path]);
  expect(await profileOf('external_id=bad')).toBeUndefined();
});

test('400: nobody, a typing error, and a time out of range', async () => {
  expectRefusal(await identify({ anonymous_id: 'device' }), 'invalid_request');
  expectRefusal(await identify({ external_id: 'null' }), 'invalid_request');
  expectRefusal(await identify({ external_id: 'a', trait: {} }), 'invalid_request');
  const old = { external_id: 'a', occurred_at: ago(31 * 24 * 60) };
  expectRefusal(await identify(old), 'occurred_at_out_of_range');
});
