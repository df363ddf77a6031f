import { beforeAll, expect, test } from 'vitest';
import { PREVIEW_UNCOUNTED_ANSWERS_MAX } from '../../src/segments/preview.ts';
import { CONDITIONS_MAX } from '../../src/segments/schema.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { refreshOn } from './recount.ts';

const database = testDatabase();
const api = testApi(database);
const NOW = Date.now();
const ago = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString();

const onPro = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } };
const ordered = {
  kind: 'event',
  event: 'order_completed',
  where: [{ property: 'total', test: { is: 'at_least', value: 10 } }],
  count: { is: 'at_least', value: 2 },
  within_days: 30,
};
let id = '';
let path = '';
const post = (where: string, body: unknown) =>
  api.call('POST', where, { key: api.project.server_key, body });
const explain = (who: string) =>
  api.call('GET', `${path}?profile=external_id:${who}`, { key: api.project.server_key });

beforeAll(async () => {
  for (const who of ['ann', 'bob'])
    await post('/v1/identify', {
      external_id: who,
      traits: { plan: 'pro', email: `${who}@example.com` },
    });
  const order = (external_id: string, total: number, hours: number) =>
    post('/v1/events', {
      event: 'order_completed',
      external_id,
      properties: { total },
      occurred_at: ago(hours),
    });
  for (const hours of [1, 2, 3]) await order('ann', 20, hours);
  await order('bob', 20, 1);
  await order('bob', 5, 2);
  await api.processEvents();
  const where = { kind: 'all', of: [onPro, ordered] };
  const made = await post('/v1/segments', { name: 'a', definition: { where } });
  id = made.body.id as string;
  path = `/v1/segments/${id}/explain`;
  await refreshOn(database, api.project.project_id);
});

test('200: each condition says its value, and the events behind a count, newest first', async () => {
  const { body } = await explain('ann');
  expect(body).toMatchObject({ is_member: true, is_excluded: false, is_counted: true });
  expect(body.where).toMatchObject({
    kind: 'all',
    holds: true,
    of: [
      { kind: 'trait', holds: true, condition: onPro, value: 'pro' },
      { kind: 'event', holds: true, condition: ordered, value: 3 },
    ],
  });
  const events = body.where.of[1].events as { occurred_at: string }[];
  expect(events.map(({ occurred_at }) => occurred_at)).toEqual([1, 2, 3].map(ago));
});

test('200: also why somebody is not in it', async () => {
  const { body } = await explain('bob');
  expect(body).toMatchObject({ is_member: false, is_counted: true });
  expect(body.where.of).toMatchObject([{ holds: true }, { holds: false, value: 1 }]);
  expect(body.where.of[1].events).toHaveLength(1);
});

test('200: that an address is suppressed is said apart', async () => {
  await post('/v1/suppressions', { email: 'ann@example.com' });
  const { body } = await explain('ann');
  expect(body).toMatchObject({ is_member: false, is_excluded: true, where: { holds: true } });
  await refreshOn(database, api.project.project_id);
  const members = await api.call('GET', `/v1/segments/${id}/members`, {
    key: api.project.server_key,
  });
  expect(members.body.items).toEqual([]);
  const history = await api.call('GET', `/v1/segments/${id}/history`, {
    key: api.project.server_key,
  });
  expect(history.body.items).toMatchObject([
    { change: 'left', cause: 'change' },
    { change: 'entered', cause: 'fill' },
  ]);
});

test('200: that somebody unsubscribed, or has no address, is said of who is not subscribed', async () => {
  const where = { kind: 'subscribed' };
  const made = await post('/v1/segments', { name: 'a', definition: { where } });
  await post('/v1/identify', { external_id: 'cid' });
  await post('/v1/unsubscribes', { email: 'bob@example.com' });
  const said = async (who: string) => {
    const found = `/v1/segments/${made.body.id}/explain?profile=external_id:${who}`;
    const { body } = await api.call('GET', found, { key: api.project.server_key });
    return [body.where.holds, body.where.value];
  };
  expect(await said('bob')).toEqual([false, ['unsubscribed']]);
  expect(await said('cid')).toEqual([false, null]);
});

test('400 invalid_request: how a person is named is said', async () => {
  const ask = async (query: string) =>
    expectRefusal(
      await api.call('GET', `${path}${query}`, { key: api.project.server_key }),
      'invalid_request',
    ).map(({ message }) => message);
  expect(await ask('?profile=ann')).toEqual(["a profile's id, or external_id:<your id>"]);
  expect(await ask('')).toEqual(['is required']);
});

test('400 invalid_request: a preview is refused what a segment is refused', async () => {
  const where = { kind: 'segment', segment_id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f' };
  const answer = await post('/v1/segment-previews', { definition: { where } });
  const issues = expectRefusal(answer, 'invalid_request');
  expect(issues.map((issue) => issue.path)).toEqual(['/definition/where']);
});

test('200: a preview that asks much of events looks at fewer people, and says of how many', async () => {
  const many = PREVIEW_UNCOUNTED_ANSWERS_MAX / (CONDITIONS_MAX - 1);
  for (let at = 0; at <= many; at += 1) await post('/v1/identify', { external_id: `many-${at}` });
  const of = Array.from({ length: CONDITIONS_MAX - 1 }, (_, at) => ({
    ...ordered,
    event: 'page_viewed',
    within_days: 100 + at,
  }));
  const { body } = await post('/v1/segment-previews', {
    definition: { where: { kind: 'any', of } },
  });
  expect(body).toMatchObject({ examined: Math.floor(many), is_everybody: false });
});

test('200: a preview finds the same before anything is counted, and says of how many', async () => {
  const once = { ...ordered, within_days: 60 };
  const { body } = await post('/v1/segment-previews', {
    definition: { where: once, include_suppressed: true },
  });
  expect(body).toMatchObject({ is_everybody: true, members: 1 });
  expect(body.sample).toHaveLength(1);
});

test('whoever asks about a segment that is not ready is told so, by a preview and by explain', async () => {
  const { body: counting } = await post('/v1/segments', {
    name: 'counting',
    definition: { where: onPro },
  });
  const where = { kind: 'not', of: { kind: 'segment', segment_id: counting.id } };
  const preview = async () => (await post('/v1/segment-previews', { definition: { where } })).body;
  const { body: asking } = await post('/v1/segments', { name: 'asking', definition: { where } });
  const explained = async () =>
    (
      await api.call('GET', `/v1/segments/${asking.id}/explain?profile=external_id:ann`, {
        key: api.project.server_key,
      })
    ).body;
  // Ann is suppressed, and in none.
  const before = await preview();
  expect(before).toMatchObject({ unready_segments: [counting.id] });
  expect(await explained()).toMatchObject({ unready_segments: [counting.id] });
  await refreshOn(database, api.project.project_id);
  expect(await preview()).toMatchObject({
    members: before.members - 1,
    unready_segments: [],
  });
  expect(await explained()).toMatchObject({ is_member: false, unready_segments: [] });
});

test('by way of another segment, too', async () => {
  const { body: inner } = await post('/v1/segments', { name: 'in', definition: { where: onPro } });
  const asks = (segment_id: string) => ({ where: { kind: 'segment', segment_id } });
  const { body: outer } = await post('/v1/segments', { name: 'out', definition: asks(inner.id) });
  const { body } = await post('/v1/segment-previews', { definition: asks(outer.id) });
  expect(new Set(body.unready_segments)).toEqual(new Set([inner.id, outer.id]));
});
