// Attack: one address uses up the daily quotas of a page's key, and closes them for all other visitors.
import { describe, expect, test } from 'vitest';
import { AddressShares } from '../../src/quotas/address_shares.ts';
import {
  ADDRESS_BYTES_MIN,
  ADDRESS_PART,
  ADDRESS_PROFILES_MIN,
  shareOfAddress,
} from '../../src/quotas/schema.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { makeLimited, openProcess, testProcess } from './api_with_quotas.ts';
import type { Process } from './api_with_quotas.ts';

const database = testDatabase();
const BEHIND_PROXY = { trustedProxies: 1 };

const api = testProcess(database, BEHIND_PROXY);

const QUOTA = 300;
const SHARE = QUOTA * ADDRESS_PART;

const post = (path: string, key: string, body: object, address: string) =>
  api.post(path, key, body, { 'x-forwarded-for': address });
const seen = (anonymous_id: string) => ({ event: 'page_viewed', anonymous_id });
const view = (key: string, device: string, address: string) =>
  post('/v1/events', key, seen(device), address);
const viewAll = (key: string, devices: readonly string[], address: string) =>
  post('/v1/events/batch', key, { events: devices.map(seen) }, address);
const devices = (count: number, name = 'device') =>
  Array.from({ length: count }, (_, at) => `${name} ${at}`);

const expectShareUsed = (answer: Answer, name: 'new_profiles' | 'stored_bytes'): void => {
  expectRefusal(answer, 'quota_exceeded');
  expect(answer.body.reason).toBe(name);
  expect(answer.body.detail).toContain('Your address has used its share');
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(86_000);
  expect(seconds).toBeLessThanOrEqual(86_400);
};

describe('429 quota_exceeded: new profiles of one address', () => {
  test('at the bound it is served, one past it refused, and every other address is served', async () => {
    const { publishable_key: key } = await makeLimited(database, { newProfiles: QUOTA });
    expect(SHARE).toBe(15);
    expect((await viewAll(key, devices(SHARE), '192.0.2.1')).status).toBe(202);
    expectShareUsed(await view(key, 'one more', '192.0.2.1'), 'new_profiles');
    expect((await view(key, 'one more', '192.0.2.2')).status).toBe(202);
    const { publishable_key: another } = await makeLimited(database, { newProfiles: QUOTA });
    expect((await view(another, 'one more', '192.0.2.1')).status).toBe(202);
  });

  test('a request that would go past it stores nothing and counts for nothing', async () => {
    const { publishable_key: key } = await makeLimited(database, { newProfiles: QUOTA });
    expectShareUsed(await viewAll(key, devices(SHARE + 1), '192.0.2.1'), 'new_profiles');
    expect((await viewAll(key, devices(SHARE), '192.0.2.1')).status).toBe(202);
  });

  test('a visitor counts once, and goes on past the bound, as all devices do that exist', async () => {
    const { publishable_key: key, project_id } = await makeLimited(database, {
      newProfiles: QUOTA,
    });
    expect((await view(key, 'from elsewhere', '192.0.2.9')).status).toBe(202);
    await workOn(database, project_id);
    for (let time = 0; time < 3; time += 1)
      expect((await viewAll(key, devices(SHARE), '192.0.2.1')).status).toBe(202);
    expect((await view(key, 'from elsewhere', '192.0.2.1')).status).toBe(202);
    expectShareUsed(await view(key, 'one more', '192.0.2.1'), 'new_profiles');
  });

  test('the addresses of one IPv6 network are one address', async () => {
    const { publishable_key: key } = await makeLimited(database, { newProfiles: QUOTA });
    for (let at = 0; at < SHARE; at += 1)
      expect((await view(key, `device ${at}`, `2001:db8:1::${at + 1}`)).status).toBe(202);
    expectShareUsed(await view(key, 'one more', '2001:db8:1::ffff'), 'new_profiles');
    expect((await view(key, 'one more', '2001:db8:2::1')).status).toBe(202);
  });

  test.each<[string, (key: string, external: string) => Promise<Answer>]>([
    [
      'POST /v1/events',
      (key, external_id) =>
        post('/v1/events', key, { event: 'page_viewed', external_id }, '192.0.2.1'),
    ],
    [
      'POST /v1/identify',
      (key, external_id) => post('/v1/identify', key, { external_id }, '192.0.2.1'),
    ],
    [
      'POST /segment/v1/b',
      (key, userId) =>
        post('/segment/v1/b', key, { batch: [{ type: 'identify', userId }] }, '192.0.2.1'),
    ],
  ])('%s: attack: past the bound no answer tells who exists', async (_, ask) => {
    const limited = await makeLimited(database, { newProfiles: QUOTA });
    const { publishable_key: key, server_key } = limited;
    await api.post('/v1/identify', server_key, { external_id: 'known' });
    // What another visitor named a moment ago is no exception.
    const named = { event: 'page_viewed', external_id: 'active' };
    expect((await post('/v1/events', key, named, '192.0.2.9')).status).toBe(202);
    expect((await viewAll(key, devices(SHARE), '192.0.2.1')).status).toBe(202);
    const answers = new Set<string>();
    for (const external of ['known', 'active', 'stranger']) {
      const answer = await ask(key, external);
      expectShareUsed(answer, 'new_profiles');
      answers.add(JSON.stringify({ ...answer.body, request_id: '' }));
    }
    expect(answers.size).toBe(1);
  });

  test('the last place goes to a known person as to a new one', async () => {
    for (const external_id of ['known', 'stranger']) {
      const limited = await makeLimited(database, { newProfiles: QUOTA });
      const { publishable_key: key, server_key } = limited;
      await api.post('/v1/identify', server_key, { external_id: 'known' });
      expect((await viewAll(key, devices(SHARE - 1), '192.0.2.1')).status).toBe(202);
      const event = { event: 'page_viewed', external_id };
      expect((await post('/v1/events', key, event, '192.0.2.1')).status).toBe(202);
      expectShareUsed(await view(key, 'one more', '192.0.2.1'), 'new_profiles');
    }
  });

  test('behind https without TRUSTED_PROXIES all visitors have one address, which then has no share', async () => {
    const shared = await openProcess(database, {
      trustedProxies: 0,
      publicUrl: 'https://mail.shop.example',
    });
    const { publishable_key: key } = await makeLimited(database, { newProfiles: QUOTA });
    for (const device of devices(SHARE + 5))
      expect((await shared.post('/v1/events', key, seen(device))).status).toBe(202);
    await shared.close();
  });
});

describe('429 quota_exceeded: stored bytes of one address', () => {
  const OVERHEAD = 256 + 'made'.length + 'ann'.length + '{"text":""}'.length;
  const ofBytes = (bytes: number) => ({
    event: 'made',
    external_id: 'ann',
    properties: { text: 'x'.repeat(bytes - OVERHEAD) },
  });
  const send = (key: string, sizes: readonly number[], address: string) =>
    post('/v1/events/batch', key, { events: sizes.map(ofBytes) }, address);

  test('at the bound it is served, one past it refused; duplicates cost nothing', async () => {
    const { publishable_key: key } = await makeLimited(database, { storedBytes: 10_000_000 });
    const SIZE = 8_000;
    const many = (count: number) => Array<number>(count).fill(SIZE);
    const once = { ...ofBytes(SIZE), message_id: 'once' };
    for (let time = 0; time < 3; time += 1)
      expect((await post('/v1/events', key, once, '192.0.2.1')).status).toBe(202);
    const left = ADDRESS_BYTES_MIN / SIZE - 1 - 50 - 50 - 1;
    for (const count of [50, 50, left])
      expect((await send(key, many(count), '192.0.2.1')).status).toBe(202);
    expectShareUsed(await send(key, [SIZE + 1], '192.0.2.1'), 'stored_bytes');
    expect((await send(key, [SIZE], '192.0.2.1')).status).toBe(202);
    expectShareUsed(await send(key, [300], '192.0.2.1'), 'stored_bytes');
    expect((await send(key, [SIZE + 1], '192.0.2.2')).status).toBe(202);
  });
});

describe('the share of an address', () => {
  test('is a part of the quota, and a small number of any quota', () => {
    expect(shareOfAddress('new_profiles', 100_000)).toBe(5_000);
    expect(shareOfAddress('stored_bytes', 5_000_000_000)).toBe(250_000_000);
    expect(shareOfAddress('new_profiles', 3)).toBe(ADDRESS_PROFILES_MIN);
    expect(shareOfAddress('stored_bytes', 3)).toBe(ADDRESS_BYTES_MIN);
  });

  test('is forgotten by a restart of the process; the quota itself is kept', async () => {
    const { publishable_key: key, project_id } = await makeLimited(database, { newProfiles: 60 });
    const share = shareOfAddress('new_profiles', 60);
    const addresses = Array.from({ length: 60 / share }, (_, at) => `192.0.2.${at + 1}`);
    const [first = '', ...others] = addresses;
    const viewFrom = (process: Process, address: string, names: readonly string[]) =>
      process.post(
        '/v1/events/batch',
        key,
        { events: names.map(seen) },
        { 'x-forwarded-for': address },
      );
    const before = await openProcess(database, BEHIND_PROXY);
    expect((await viewFrom(before, first, devices(share))).status).toBe(202);
    expectShareUsed(await viewFrom(before, first, ['one more']), 'new_profiles');
    await before.close();
    await workOn(database, project_id);

    const after = await openProcess(database, BEHIND_PROXY);
    expect((await viewFrom(after, first, devices(share, 'again'))).status).toBe(202);
    for (const address of others.slice(1))
      expect((await viewFrom(after, address, devices(share, address))).status).toBe(202);
    const refused = await viewFrom(after, '192.0.2.99', ['one more']);
    expectRefusal(refused, 'quota_exceeded');
    expect(refused.body.detail).not.toContain('Your address');
    await after.close();
  });

  test('is divided among processes, which together grant no more than it by a rounding', () => {
    for (const processes of [1, 2, 3, 7]) {
      let taken = 0;
      for (let process = 0; process < processes; process += 1) {
        const shares = new AddressShares();
        const sender = shares.senderOf('key', '192.0.2.1');
        shares.share(processes);
        while (shares.takeBytes(sender, 1_000_000, 1_000_000_000) !== null) taken += 1;
      }
      expect(taken).toBeGreaterThan(50 - processes);
      expect(taken).toBeLessThanOrEqual(50);
    }
  });

  test('a flood of names takes a bounded amount of memory, and a name that made room counts again', () => {
    const shares = new AddressShares();
    const sender = shares.senderOf('key', '192.0.2.1');
    const quota = 1_000_000_000;
    const name = (at: number) => `anonymous ${at}` as const;
    expect(shares.takeNames(sender, [name(0)], 0)).not.toBeNull();
    for (let at = 1; at < 300_000; at += 1) shares.takeNames(sender, [name(at)], quota);
    expect(shares.takeNames(sender, [name(299_999)], 0)).not.toBeNull();
    expect(shares.takeNames(sender, [name(0)], 0)).toBeNull();
  });
});
