import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { WINDOW_SECONDS } from '../../src/http/limits.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer, Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const event = { event: 'user_signed_up', external_id: 'ann' };
const RATE_LIMITS = { rateLimitServer: 2, rateLimitPublishable: 2, rateLimitAddress: 1 };
const KEY_QUOTA = RATE_LIMITS.rateLimitServer * WINDOW_SECONDS;
const ADDRESS_QUOTA = RATE_LIMITS.rateLimitAddress * WINDOW_SECONDS;

/** An api with small limits, whose answers are as `testApi` gives them. */
let tight: Listening;
const resources = new Resources();
beforeAll(async () => {
  const config = { ...database.deps.config, ...RATE_LIMITS, trustedProxies: 1 };
  tight = await openApi({ ...database.deps, config, resources }, { isDraining: false }, true);
});
afterAll(async () => {
  await tight.close();
  await resources.close();
});

const call = async (path: string, { key, body, headers }: Call = {}): Promise<Answer> => {
  const response = await fetch(`http://127.0.0.1:${tight.port}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { status } = response;
  return { status, headers: response.headers, body: await response.json() };
};
/** Uses a server key up. */
const exhaust = async (project: NewProject): Promise<void> => {
  for (let time = 0; time < KEY_QUOTA; time += 1)
    expect((await call('/v1/suppressions', { key: project.server_key })).status).toBe(200);
};

describe('429 rate_limited', () => {
  test('a server key at its bound, and one past it', async () => {
    const { server_key: key } = await createProject(database.deps, 'bound');
    for (let left = KEY_QUOTA - 1; left >= 0; left -= 1) {
      const { status, headers } = await call('/v1/events', { key, body: event });
      expect(status).toBe(202);
      expect(headers.get('ratelimit-policy')).toBe(
        `"key";q=${KEY_QUOTA};w=${WINDOW_SECONDS}, "key_units";q=200000;w=${WINDOW_SECONDS}`,
      );
      const units = 200_000 - KEY_QUOTA + left;
      expect(headers.get('ratelimit')).toMatch(
        new RegExp(`^"key";r=${left};t=([1-9]|10), "key_units";r=${units};t=([1-9]|10)$`),
      );
    }
    const refused = await call('/v1/events', { key, body: event });
    expectRefusal(refused, 'rate_limited');
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(WINDOW_SECONDS);
    expect(refused.headers.get('ratelimit')).toBe(`"key";r=0;t=${seconds}`);
  });

  test('a publishable key per address, as the trusted proxy says it, and whatever the client claims', async () => {
    const { publishable_key: key } = await createProject(database.deps, 'addresses');
    const from = (address: string) =>
      call('/v1/events', { key, body: event, headers: { 'x-forwarded-for': address } });
    for (let time = 0; time < ADDRESS_QUOTA; time += 1)
      expect((await from(`10.0.0.${time}, 192.0.2.1`)).status).toBe(202);
    const refused = await from('10.9.9.9, 192.0.2.1');
    expectRefusal(refused, 'rate_limited');
    expect(refused.headers.get('ratelimit')).toMatch(/^"address";r=0;t=\d+$/);
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    const other = await from('192.0.2.2');
    expect(other.status).toBe(202);
    expect(other.headers.get('ratelimit-policy')).toBe(
      `"key";q=${KEY_QUOTA};w=${WINDOW_SECONDS}, "address";q=${ADDRESS_QUOTA};w=${WINDOW_SECONDS}, ` +
        `"key_units";q=20000;w=${WINDOW_SECONDS}, "address_units";q=5000;w=${WINDOW_SECONDS}`,
    );
  });

  test('comes after 401 and 403, and before 404, 400, 413 and 415', async () => {
    const project = await createProject(database.deps, 'order');
    await exhaust(project);
    const { server_key: key, publishable_key } = project;
    expectRefusal(await call('/v1/suppressions', { key: `${key}x` }), 'invalid_token');
    const wrongType = await call('/v1/suppressions', { key: publishable_key });
    expectRefusal(wrongType, 'wrong_key_type');
    expect(wrongType.headers.has('ratelimit')).toBe(false);
    const past = [
      await call('/v1/profiles/unknown', { key }),
      await call('/v1/suppressions?limit=0', { key }),
      await call('/v1/events', { key, body: 'a'.repeat(1_100_000) }),
      await call('/v1/events', { key, body: event, headers: { 'content-type': 'text/plain' } }),
      await call('/v1/events', { key, body: event, headers: { 'idempotency-key': 'a b' } }),
    ];
    for (const answer of past) expectRefusal(answer, 'rate_limited');
  });

  test('nothing of a refused request is stored', async () => {
    const project = await createProject(database.deps, 'nothing');
    await exhaust(project);
    await call('/v1/events', { key: project.server_key, body: event });
    const { rowCount } = await database.owner.query(
      'select from ingest.events where project_id = $1',
      [project.project_id],
    );
    expect(rowCount).toBe(0);
  });

  test('a second key of the project counts for itself, and so does its webhook token', async () => {
    const project = await createProject(database.deps, 'apart');
    await exhaust(project);
    const other = await call('/v1/events', { key: project.publishable_key, body: event });
    expect(other.status).toBe(202);
    const post = () =>
      call(`/v1/webhooks/smtp/${project.project_id}`, {
        key: project.hook_token,
        body: { event: 'complaint', recipient: 'ann@people.test' },
      });
    for (let time = 0; time < KEY_QUOTA; time += 1) expect((await post()).status).toBe(200);
    expectRefusal(await post(), 'rate_limited');
  });
});
