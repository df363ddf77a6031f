// Anyone may post to a webhook URL. Posts without a token do not use the database sessions of server keys.
import { afterEach, expect, test } from 'vitest';
import { sessionTurnsOf } from '../../src/base/session_turns.ts';
import { testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const api = testApi(database);
const POSTS = 20;

const post = (): Promise<Answer> =>
  api.call('POST', `/v1/webhooks/mailgun/${api.project.project_id}`, {
    key: null,
    body: { signature: { timestamp: '1', token: 'x', signature: 'y' }, 'event-data': {} },
  });

afterEach(() => database.owner.query('rollback'));

test('attack: many posts without a token wait for each other, and a server key is answered', async () => {
  const turns = sessionTurnsOf(database.deps);
  await database.owner.query('begin');
  await database.owner.query('lock table feedback.signing_keys in access exclusive mode');
  const posts = Array.from({ length: POSTS }, post);
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
