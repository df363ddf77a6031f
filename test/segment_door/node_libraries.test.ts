// Segment's and RudderStack's own libraries for servers, from npm and unmodified, with another host.
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics } from '@segment/analytics-node';
import { createProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { faultyApi } from '../support/faulty_api.ts';
import type { Fault } from '../support/faulty_api.ts';
import { eventsOf } from '../sdk/server_told.ts';

const database = testDatabase();
const api = testApi(database);
const way = faultyApi(() => api.url);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'segment');
  way.seen.length = 0;
  way.decide(() => 'pass');
});

const read = async (path: string) =>
  (await api.call('GET', path, { key: api.project.server_key })).body;
const told = () => eventsOf(database, api);
const first = (count: number, fault: Fault) => {
  let asked = 0;
  way.decide(() => ((asked += 1) <= count ? fault : 'pass'));
};

const expectAnnsStory = async () => {
  await api.processEvents();
  expect(await told()).toMatchObject([
    {
      name: 'page_viewed',
      anonymous_id: 'device-7',
      properties: { name: 'Pricing', url: 'https://shop.test/' },
    },
    {
      name: 'order_completed',
      external_id: 'ann',
      properties: { orderId: '7', shipping_city: 'Bern' },
    },
    { name: 'screen_viewed', external_id: 'ann', properties: { name: 'Home' } },
    { name: 'group_joined', external_id: 'ann', properties: { group_id: 'acme', plan: 'pro' } },
  ]);
  const profile = await read('/v1/profiles/external_id:ann');
  expect(profile).toMatchObject({ email: 'ann@example.com', traits: { plan: 'pro' } });
  const identifiers = profile.identifiers.map(({ value }: { value: string }) => value);
  expect(identifiers.toSorted()).toEqual(['ann', 'device-7', 'device-8']);
  const { items } = await read('/v1/profiles/external_id:ann/events');
  expect(items).toHaveLength(4);
};

describe('@segment/analytics-node', () => {
  const segment = (options: object = {}) => {
    const analytics = new Analytics({
      writeKey: api.project.server_key,
      host: way.url,
      path: '/segment/v1/batch',
      flushInterval: 50,
      ...options,
    });
    const failed: unknown[] = [];
    analytics.on('error', (error) => failed.push(error));
    return { analytics, failed };
  };

  test('page, identify, track, screen, group and alias land as documented', async () => {
    const { analytics, failed } = segment();
    const ann = { userId: 'ann' };
    analytics.page({
      anonymousId: 'device-7',
      name: 'Pricing',
      properties: { url: 'https://shop.test/' },
    });
    const traits = { email: 'ann@example.com', plan: 'pro' };
    analytics.identify({ ...ann, anonymousId: 'device-7', traits });
    const properties = { orderId: '7', shipping: { city: 'Bern' }, coupon: null };
    analytics.track({ ...ann, event: 'Order Completed', properties });
    analytics.screen({ ...ann, name: 'Home' });
    analytics.group({ ...ann, groupId: 'acme', traits: { plan: 'pro' } });
    analytics.alias({ ...ann, previousId: 'device-8' });
    await analytics.closeAndFlush();
    expect(failed).toEqual([]);
    expect(way.seen.every(({ path }) => path === '/segment/v1/batch')).toBe(true);
    await expectAnnsStory();
  });

  test.each<[string, Fault]>([
    ['500', { status: 500 }],
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '1' } }],
    ['an answer that is lost', 'lose_answer'],
  ])('after %s it sends again, and each event is stored once', async (_what, fault) => {
    const { analytics, failed } = segment();
    first(2, fault);
    for (let n = 0; n < 20; n += 1)
      analytics.track({ userId: 'ann', event: 'Step Taken', properties: { n } });
    await analytics.closeAndFlush({ timeout: 20_000 });
    expect(failed).toEqual([]);
    const stored = (await told()).map(({ properties }) => Number(properties['n']));
    expect(stored.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  test('a wrong key is an error that it does not repeat', async () => {
    const { analytics, failed } = segment({ writeKey: 'wrong' });
    analytics.track({ userId: 'ann', event: 'Step Taken' });
    await analytics.closeAndFlush();
    expect(failed).toHaveLength(1);
    expect(way.seen).toHaveLength(1);
  });
});

describe('@rudderstack/rudder-sdk-node', () => {
  const rudder = (options: object = {}) => {
    const analytics = new RudderAnalytics(api.project.server_key, {
      dataPlaneUrl: `${way.url}/segment`,
      flushAt: 100,
      flushInterval: 20,
      ...options,
    });
    onTestFinished(() => {
      clearTimeout((analytics as unknown as { timer?: NodeJS.Timeout }).timer);
    });
    return analytics;
  };

  test.each([true, false])('lands as documented, packed: %s', async (gzip) => {
    const analytics = rudder({ gzip });
    const ann = { userId: 'ann' };
    analytics.page({
      anonymousId: 'device-7',
      name: 'Pricing',
      properties: { url: 'https://shop.test/' },
    });
    const traits = { email: 'ann@example.com', plan: 'pro' };
    analytics.identify({ ...ann, anonymousId: 'device-7', traits });
    analytics.track({
      ...ann,
      event: 'Order Completed',
      properties: { orderId: '7', shipping: { city: 'Bern' } },
    });
    analytics.screen({ ...ann, name: 'Home', properties: {} } as never);
    analytics.group({ ...ann, groupId: 'acme', traits: { plan: 'pro' } });
    analytics.alias({ ...ann, previousId: 'device-8' });
    await analytics.flush();
    await expect.poll(told).toHaveLength(4);
    expect(way.seen[0]?.headers['content-encoding']).toBe(gzip ? 'gzip' : undefined);
    await expectAnnsStory();
  });

  test('after 500 it sends again, and each event is stored once', async () => {
    const analytics = rudder();
    first(1, { status: 500 });
    for (let n = 0; n < 10; n += 1)
      analytics.track({ userId: 'ann', event: 'Step Taken', properties: { n } });
    await analytics.flush();
    await expect.poll(told).toHaveLength(10);
    expect(way.seen.length).toBeGreaterThan(1);
  });
});
