// Anyone may post to a webhook URL. Posts without a token do not use the database sessions of server keys.
import { afterEach, expect, test } from 'vitest';
import { bodiesInHandOf } from '../../src/base/bodies/bodies.ts';
import { sessionTurnsOf } from '../../src/base/session_turns.ts';
import { BYTES_PER_UNIT } from '../../src/base/work_units.ts';
import { WINDOW_SECONDS } from '../../src/http/limits.ts';
import { testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const api = testApi(database);
const POSTS = 20;

const BODY = { signature: { timestamp: '1', token: 'x', signature: 'y' }, 'event-data': {} };
const post = (body: unknown = BODY): Promise<Answer> =>
  api.call('POST', `/v1/webhooks/mailgun/${api.project.project_id}`, { key: null, body });

afterEach(() => database.owner.query('rollback'));

test('attack: many posts without a token wait for each other, and a server key is answered', async () => {
  const turns = sessionTurnsOf(database.deps);
  await database.owner.query('begin');
  await database.owner.query('lock table feedback.signing_keys in access exclusive mode');
  const posts = Array.from({ length: POSTS }, () => post());
  await until('they wait', () => {
    const { held, waiting } = turns.count('publishable');
    return held > 0 && held + waiting === POSTS;
  });
  expect(turns.count('server')).toEqual({ held: 0, waiting: 0 });
  const { server_key: key } = api.project;
  expect((await api.call('GET', '/v1/suppressions', { key })).status).toBe(200);
  await database.owner.query('rollback');
  for (const { status } of await Promise.all(posts)) expect([401, 503]).toContain(status);
});

test('attack: large posts without a token cost their address, and take no memory of servers', async () => {
  const large = JSON.stringify(BODY).padEnd(1024 * 1024);
  const { unitLimitAddress } = database.deps.config;
  const mostTaken = Math.floor((unitLimitAddress * WINDOW_SECONDS * BYTES_PER_UNIT) / large.length);
  await database.owner.query('begin');
  await database.owner.query('lock table feedback.signing_keys in access exclusive mode');
  const hand = bodiesInHandOf(database.deps);
  const held = post(large);
  await until('its body is held', () => hand.heldBytes.strangers > large.length);
  expect(hand.heldBytes.all).toBe(hand.heldBytes.strangers);
  await database.owner.query('rollback');
  const answers = [await held];
  for (let at = 1; at < mostTaken + 3; at += 1) answers.push(await post(large));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.slice(0, mostTaken)).toEqual(Array(mostTaken).fill(401));
  expect(statuses.slice(mostTaken)).toEqual(Array(3).fill(429));
  const { hook_token: key, project_id } = api.project;
  const proven = await api.call('POST', `/v1/webhooks/smtp/${project_id}`, {
    key,
    body: { event: 'delivered', recipient: 'ann@people.test' },
  });
  expect(proven.status).toBe(200);
});
