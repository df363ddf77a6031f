// Each call of Segment's world, and what becomes of it here.
import { beforeEach, describe, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { eventsOf } from '../sdk/server_told.ts';

const database = testDatabase();
const api = testApi(database);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'segment');
});

const post = (call: string, body: unknown, given: Call = {}) =>
  api.call('POST', `/segment/v1/${call}`, { key: api.project.server_key, body, ...given });
const told = () => eventsOf(database, api);
const read = async (path: string) =>
  (await api.call('GET', path, { key: api.project.server_key })).body;
const done = { status: 200, body: { success: true } };

describe('events', () => {
  test('200: a track is an event, with its person, properties, id and time', async () => {
    const timestamp = new Date(Date.now() - 60_000).toISOString();
    const call = {
      userId: 'ann',
      anonymousId: 'device-7',
      event: 'Order Completed',
      properties: { orderId: '7', shipping: { city: 'Bern' } },
      messageId: 'order-7',
      timestamp,
      integrations: { All: true },
      channel: 'web',
    };
    expect(await post('track', call)).toMatchObject(done);
    expect(await post('t', call)).toMatchObject(done);
    expect(await told()).toEqual([
      {
        name: 'order_completed',
        external_id: 'ann',
        anonymous_id: 'device-7',
        properties: { orderId: '7', shipping_city: 'Bern' },
        occurred_at: new Date(timestamp),
      },
    ]);
  });

  test('200: pages, screens and groups have names of their own', async () => {
    const page = { path: '/pricing', url: 'https://shop.test/pricing' };
    await post('page', { anonymousId: 'd', name: 'Pricing', category: 'Docs', properties: page });
    await post('screen', { userId: 7, name: 'Home' });
    await post('group', { userId: 'ann', groupId: 'acme', traits: { plan: 'pro' } });
    expect(await told()).toMatchObject([
      { name: 'page_viewed', properties: { ...page, name: 'Pricing', category: 'Docs' } },
      { name: 'screen_viewed', external_id: '7', properties: { name: 'Home' } },
      { name: 'group_joined', properties: { group_id: 'acme', plan: 'pro' } },
    ]);
  });

  test('200: of the context the page and the campaign are kept, after what the call says itself', async () => {
    const context = {
      page: { url: 'https://shop.test/a', path: '/a', title: 'A', referrer: '', search: null },
      campaign: { name: 'spring', source: 'news', medium: 'email' },
      userAgent: 'Mozilla',
      ip: '192.0.2.7',
    };
    await post('track', { userId: 'ann', event: 'A', properties: { page_path: '/own' }, context });
    expect((await told())[0]?.properties).toEqual({
      page_path: '/own',
      page_url: 'https://shop.test/a',
      page_title: 'A',
      utm_campaign: 'spring',
      utm_source: 'news',
      utm_medium: 'email',
    });
  });

  test('200: what of properties cannot be kept is left out and named, and the rest is kept', async () => {
    const properties = { good: 1, long: 'x'.repeat(9_000), '': 'nameless', half: '\ud800' };
    const { body } = await post('track', { userId: 'ann', event: 'A', properties });
    expect(body.left_out.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      '/properties/',
      '/properties/half',
      '/properties/long',
    ]);
    expect((await told())[0]?.properties).toEqual({ good: 1 });
  });

  test('200: a timestamp without an offset is UTC, and may be a day alone', async () => {
    const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
    const [day = '', time = ''] = ago(86_400_000).replace('Z', '').split('T');
    const written: [string, string][] = [
      [`${day}T${time}`, `${day}T${time}Z`],
      [`${day} ${time}456`, `${day}T${time}Z`],
      [`${day}T${time}-0230`, `${day}T${time}-02:30`],
      [`${day}T${time.slice(0, 5)}`, `${day}T${time.slice(0, 5)}Z`],
      [day, `${day}T00:00:00Z`],
    ];
    for (const [timestamp] of written)
      expect(await post('track', { userId: 'ann', event: 'A', timestamp })).toMatchObject(done);
    expect((await told()).map(({ occurred_at }) => occurred_at)).toEqual(
      written.map(([, moment]) => new Date(moment)),
    );
  });

  test('200: a clock that is off is corrected by sentAt, of the batch or of the call', async () => {
    const ahead = (ms: number) => new Date(Date.now() + 7_200_000 + ms).toISOString();
    const call = { type: 'track', userId: 'ann', event: 'A', timestamp: ahead(-60_000) };
    await post('batch', { batch: [call], sentAt: ahead(0) });
    await post('track', { ...call, originalTimestamp: ahead(-60_000), sentAt: ahead(0) });
    const times = (await told()).map(({ occurred_at }) => Date.now() - occurred_at.getTime());
    for (const ago of times) expect(Math.abs(ago - 60_000)).toBeLessThan(10_000);
    expect(times).toHaveLength(2);
  });
});

describe('people', () => {
  test('200: identify sets traits, links the device, and takes locale and timezone from the context', async () => {
    await post('page', { anonymousId: 'device-7' });
    const traits = { email: 'ann@example.com', firstName: 'Ann', address: { city: 'Bern' } };
    const context = { locale: 'de-CH', timezone: 'Europe/Zurich', traits: { plan: 'pro' } };
    await post('identify', { userId: 'ann', anonymousId: 'device-7', traits, context });
    await api.processEvents();
    const profile = await read('/v1/profiles/external_id:ann');
    expect(profile.traits).toEqual({
      ...traits,
      ...context.traits,
      locale: 'de-CH',
      timezone: 'Europe/Zurich',
    });
    const { items } = await read('/v1/profiles/external_id:ann/events');
    expect(items).toMatchObject([{ event: 'page_viewed', anonymous_id: 'device-7' }]);
  });

  test('200: an identify without userId is an event of the device', async () => {
    await post('identify', { anonymousId: 'device-7', traits: { email: 'a@example.com' } });
    expect(await told()).toMatchObject([
      {
        name: 'anonymous_identified',
        anonymous_id: 'device-7',
        properties: { email: 'a@example.com' },
      },
    ]);
  });

  test('200: an address that is none is left out and named, the other traits are set', async () => {
    const { body } = await post('identify', {
      userId: 'ann',
      traits: { email: 'none', plan: 'pro' },
    });
    expect(body.left_out).toMatchObject([{ path: '/traits/email' }]);
    expect((await read('/v1/profiles/external_id:ann')).traits).toEqual({ plan: 'pro' });
  });

  test('200: alias links as the API does: with a server key', async () => {
    expect(await post('alias', { previousId: 'device-7', userId: 'ann' })).toMatchObject(done);
    const { items } = await read('/v1/identity-links');
    expect(items).toMatchObject([
      { anonymous_id: 'device-7', external_id: 'ann', source: 'alias', key_type: 'server' },
    ]);
    expectRefusal(
      await post('alias', { previousId: 'device-7', userId: 'ben' }),
      'identity_conflict',
    );
  });

  test('200: with a publishable key it links as identify does, and is told nothing of anybody', async () => {
    const key = api.project.publishable_key;
    for (const userId of ['ann', 'ben'])
      expect(await post('a', { previousId: 'device-7', userId }, { key })).toMatchObject(done);
    const { items } = await read('/v1/identity-links');
    expect(items).toMatchObject([
      { external_id: 'ben', status: 'refused' },
      { external_id: 'ann', status: 'active', source: 'identify', key_type: 'publishable' },
    ]);
  });
});

describe('400 invalid_request, in the words of the call', () => {
  test.each<[string, object, string, string]>([
    ['track', { userId: 'ann' }, '/event', 'is required'],
    ['track', { event: 'A' }, '', 'userId or anonymousId is required'],
    [
      'track',
      { event: 'A', userId: null, anonymousId: '' },
      '',
      'userId or anonymousId is required',
    ],
    ['track', { event: 'A', userId: 'undefined' }, '/userId', 'never names a person'],
    ['track', { event: 'A', anonymousId: '\u200b' }, '/anonymousId', 'never names a person'],
    ['alias', { userId: 'ann', previousId: '\u2060' }, '/previousId', 'never names a person'],
    ['track', { event: 'A', anonymousId: 'x'.repeat(256) }, '/anonymousId', 'at most 255'],
    ['track', { event: ' ', userId: 'ann' }, '/event', 'must be'],
    ['track', { event: 7, userId: 'ann' }, '/event', 'must be a string'],
    ['track', { event: 'A', userId: 'ann', properties: [] }, '/properties', 'must be an object'],
    ['page', { userId: 'ann', timestamp: 'yesterday' }, '/timestamp', 'RFC 3339'],
    ['page', { userId: 'ann', messageId: 'x'.repeat(256) }, '/messageId', 'at most 255'],
    ['alias', { userId: 'ann' }, '/previousId', 'is required'],
    ['alias', { previousId: 'ann' }, '/userId', 'is required'],
    ['identify', { userId: '[object Object]' }, '/userId', 'never names a person'],
  ])('%s %o: %s %s', async (call, body, path, says) => {
    const issues = expectRefusal(await post(call, body), 'invalid_request');
    expect(issues).toMatchObject([{ path, message: expect.stringContaining(says) }]);
    expect(await told()).toEqual([]);
  });

  test('nesting of 49,000 levels is no trouble', async () => {
    const levels = 49_000;
    const deep = '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
    for (const member of ['properties', 'traits', 'context']) {
      const body = `{"userId":"ann","event":"A","${member}":${deep}}`;
      expect((await post('track', body)).status).toBe(200);
      expect((await post('identify', body)).status).toBeLessThan(500);
    }
  });
});
