import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { Resources } from '../../src/base/resources.ts';
import type { Config } from '../../src/config.ts';
import { openApi } from '../../src/http/api.ts';
import { WINDOW_SECONDS } from '../../src/http/limits.ts';
import { createProject } from '../../src/projects/projects.ts';
import { addressSharesOf } from '../../src/quotas/address_shares.ts';
import { anonymousName } from '../../src/quotas/identifiers.ts';
import { NEW_PROFILES_PER_DAY, STORED_BYTES_PER_DAY } from '../../src/quotas/schema.ts';
import { makeUnsubscribeToken } from '../../src/suppression/suppression.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer, TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import { makeUpKey } from '../support/made_up_key.ts';

/** Requests and units a second that a test can use up. */
export const UNIT_RATES = {
  rateLimitServer: 2,
  rateLimitPublishable: 3,
  rateLimitAddress: 1,
  rateLimitUnsubscribe: 2,
  rateLimitUnknownKeys: 1,
  unitLimitServer: 20,
  unitLimitPublishable: 10,
  unitLimitAddress: 5,
  unitLimitAnonymous: 3,
};
const BATCH = 50;
/** An event `made` of `ann` without properties. */
const EVENT_BYTES = 265;

type Given = {
  /** Where an api with these rates is alone. */
  apart: TestDatabase;
  rates: Partial<Config>;
  api: TestApi;
  database: TestDatabase;
};

export const limitsOfUnits = ({ apart, rates, api, database }: Given) => {
  let port: number;
  /** Gives each trial an api of its own: addresses that share a counter by chance are then those of one trial. */
  const tightly =
    (trial: (value: number) => Promise<void>) =>
    async (value: number): Promise<void> => {
      const resources = new Resources();
      const config = { ...apart.deps.config, ...rates };
      const tight = await openApi(
        { ...apart.deps, config, resources },
        { isDraining: false },
        true,
      );
      port = tight.port;
      try {
        await trial(value);
      } finally {
        await tight.close();
        await resources.close();
      }
    };

  const send = async (key: string, address: string, events: object[]): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/events/batch`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-forwarded-for': address,
      },
      body: JSON.stringify({ events }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const eventsOf = (count: number, anonymous_id?: string) =>
    Array.from({ length: count }, () => ({ event: 'made', external_id: 'ann', anonymous_id }));

  /** The window of a new key, asked from addresses in turn, ends after so many requests, whatever they hold. */
  const rate = (kind: 'server_key' | 'publishable_key', addressOf: (at: number) => string) =>
    tightly(async (perSecond) => {
      const { [kind]: key } = await createProject(apart.deps, 'rate');
      const statuses: number[] = [];
      for (let at = 0; at <= perSecond * WINDOW_SECONDS; at += 1)
        statuses.push((await send(key, addressOf(at), [])).status);
      expect(statuses.indexOf(429)).toBe(perSecond * WINDOW_SECONDS);
    });

  /** All units of a window pass, in whole batches; one more does not. */
  const units = (
    kind: 'server_key' | 'publishable_key',
    addressOf: (batch: number) => string,
    device?: string,
  ) =>
    tightly(async (perSecond) => {
      const { [kind]: key } = await createProject(apart.deps, 'units');
      let left = perSecond * WINDOW_SECONDS;
      for (let batch = 0; left > 0; batch += 1) {
        const count = Math.min(BATCH, left);
        const { status, body } = await send(key, addressOf(batch), eventsOf(count, device));
        expect(status, JSON.stringify(body)).toBe(202);
        left -= count;
      }
      expectRefusal(await send(key, addressOf(99), eventsOf(1, device)), 'rate_limited');
    });

  /** A key whose project has used all but so much of a quota of today. */
  const used = async (newProfiles: number, storedBytes: number): Promise<string> => {
    const { project_id, publishable_key } = await createProject(database.deps, 'used');
    await database.owner.query(
      `insert into quotas.key_days
      select project_id, key_id, (now() at time zone 'utc')::date, 'accept', $2, $3
      from projects.api_keys where project_id = $1 and kind = 'publishable'`,
      [project_id, newProfiles, storedBytes],
    );
    return publishable_key;
  };

  /** A new key, and what the address of these tests is to it. */
  const makeSender = async (name: string) => {
    const { project_id, publishable_key } = await createProject(database.deps, name);
    const { rows } = await database.owner.query(
      "select key_id from projects.api_keys where project_id = $1 and kind = 'publishable'",
      [project_id],
    );
    const sender = addressSharesOf(database.deps).senderOf(rows[0].key_id, '127.0.0.1');
    return { key: publishable_key, sender };
  };

  return {
    'Requests with a server key': rate('server_key', () => '192.0.2.1'),
    'Requests with a publishable key': rate('publishable_key', (at) => `198.51.100.${at}`),
    'The same from one address': rate('publishable_key', () => '203.0.113.1'),
    'Units of work with a server key': units('server_key', () => '192.0.2.201'),
    'Units of work with a publishable key': units('publishable_key', (at) => `192.0.2.${at}`),
    'Units from one address': units('publishable_key', () => '192.0.2.202'),
    'Units that name one anonymous id': units(
      'publishable_key',
      (at) => `198.18.0.${at}`,
      'device',
    ),
    'Requests for unsubscribe links from one address': tightly(async (perSecond) => {
      const { project_id: projectId } = await createProject(apart.deps, 'unsubscribes');
      const link = { projectId, addressKey: randomBytes(32), sendId: newId() };
      const token = makeUnsubscribeToken(apart.deps.keys, link);
      const ask = (at: number) =>
        fetch(`http://127.0.0.1:${port}/u/${token}`, {
          method: at % 2 === 0 ? 'GET' : 'POST',
          headers: { 'x-forwarded-for': '192.0.2.204' },
        });
      const statuses: number[] = [];
      for (let at = 0; at <= perSecond * WINDOW_SECONDS; at += 1)
        statuses.push((await ask(at)).status);
      expect(statuses.indexOf(429)).toBe(perSecond * WINDOW_SECONDS);
    }),
    'Unknown keys from one address': tightly(async (perSecond) => {
      const ask = () => send(makeUpKey('server'), '192.0.2.203', eventsOf(1));
      for (let at = 0; at < perSecond * WINDOW_SECONDS; at += 1)
        expectRefusal(await ask(), 'invalid_token');
      expectRefusal(await ask(), 'rate_limited');
    }),
    'New profiles with a publishable key, unless the project changed it': async (
      value: number,
    ): Promise<void> => {
      const key = await used(value - 1, 0);
      const identify = (external_id: string) =>
        api.call('POST', '/v1/identify', { key, body: { external_id } });
      expect((await identify('ann')).status).toBe(202);
      expectRefusal(await identify('ben'), 'quota_exceeded');
    },
    'Bytes stored with a publishable key, unless the project changed it': async (
      value: number,
    ): Promise<void> => {
      const key = await used(0, value - EVENT_BYTES);
      const post = () =>
        api.call('POST', '/v1/events', { key, body: { event: 'made', external_id: 'ann' } });
      expect((await post()).status).toBe(202);
      expectRefusal(await post(), 'quota_exceeded');
    },
    'Identifiers that one address may name of the quota for new profiles': async (
      value: number,
    ): Promise<void> => {
      const { key, sender } = await makeSender('share of names');
      const names = Array.from({ length: value - 1 }, (_, at) => anonymousName(`device ${at}`));
      addressSharesOf(database.deps).takeNames(sender, names, NEW_PROFILES_PER_DAY);
      const identify = (external_id: string) =>
        api.call('POST', '/v1/identify', { key, body: { external_id } });
      expect((await identify('ann')).status).toBe(202);
      expectRefusal(await identify('ben'), 'quota_exceeded');
      expect((await identify('ann')).status).toBe(202);
    },
    'Bytes that one address may store of the quota': async (value: number): Promise<void> => {
      const { key, sender } = await makeSender('share of bytes');
      addressSharesOf(database.deps).takeBytes(sender, value - EVENT_BYTES, STORED_BYTES_PER_DAY);
      const post = () =>
        api.call('POST', '/v1/events', { key, body: { event: 'made', external_id: 'ann' } });
      expect((await post()).status).toBe(202);
      expectRefusal(await post(), 'quota_exceeded');
    },
  };
};
