import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { EXPORTS_OPEN_MAX, EXPORTS_READING_MAX } from '../../src/profiles/export_turns.ts';
import { createProject } from '../../src/projects/projects.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { eraseNow } from '../support/erase.ts';
import { until } from '../support/until.ts';
import { addressKey } from '../../src/suppression/suppression.ts';

const database = testDatabase();
const api = testApi(database);

const TEST_TIMEOUT_MS = 60_000;
const get = (path: string, key = api.project.server_key) => api.call('GET', path, { key });
const post = async (path: string, body: object) => {
  const { status } = await api.call('POST', path, { key: api.project.server_key, body });
  expect(status).toBeLessThan(300);
};
const exportOf = (id: string) => get(`/v1/profiles/${id}/export`);

/** So many events of somebody, each of so many characters, as if they had been accepted. */
const insertEvents = (person: string, count: number, chars = 10) =>
  database.owner.query(
    `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, properties, source)
    select $1, gen_random_uuid(), now() - make_interval(secs => at), now(), 'counted', $2,
      jsonb_build_object('at', at, 'said', repeat('x', $4)), 'server'
    from generate_series(1, $3::int) as at`,
    [api.project.project_id, person, count, chars],
  );

describe('200', () => {
  beforeAll(async () => {
    await post('/v1/events', {
      event: 'page_viewed',
      anonymous_id: 'device-7',
      message_id: 'view-1',
    });
    await post('/v1/identify', {
      external_id: 'ann',
      anonymous_id: 'device-7',
      traits: { email: 'Ann@example.com', home: { town: 'Ulm' } },
      message_id: 'identify-1',
    });
    await post('/v1/events', { event: 'cart_filled', external_id: 'ann', properties: { n: 1 } });
    await api.processEvents();
    const { project_id } = api.project;
    const { body: profile } = await get('/v1/profiles/external_id:ann');
    const recipient = 'old@example.com';
    const key = await inProject(database.deps, project_id, (scope) =>
      Promise.resolve(addressKey(scope, recipient)),
    );
    const sends = sendsOf(database, project_id);
    const send = newSend({ profileId: profile.id, recipient, addressKey: key });
    await sends.plan(send);
    await database.owner.query(
      `insert into delivery.contents values ($1, $2, 'Welcome, Ann', '<p>Ann', 'Ann')`,
      [project_id, send.sendId],
    );
    const { rows } = await database.owner.query<{ identity_id: string }>(
      `select identity_id from identity.identities where value = 'ann'`,
    );
    const runId = newId();
    const automationId = newId();
    await database.owner.query(
      `insert into automations.automations values ($1, $2, 'Welcome', 'draft', null, now(), now())`,
      [project_id, automationId],
    );
    await database.owner.query(`insert into automations.versions values ($1, $2, 1, '{}', now())`, [
      project_id,
      automationId,
    ]);
    await database.owner.query(
      `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
        trigger_event_at, entry_key, status, started_at)
      values ($1, $2, $3, 1, $4, gen_random_uuid(), now(), 'x', 'ended', now())`,
      [project_id, runId, automationId, rows[0]?.identity_id],
    );
    await database.owner.query(
      `insert into automations.run_log values ($1, $2, 0, 'welcome', 'send_queued', '{"send_id": "x"}', now())`,
      [project_id, runId],
    );
    const notice = {
      event: 'bounce',
      bounce_type: 'hard',
      recipient,
      reason: '550 <old@example.com> unknown',
    };
    const told = await api.call('POST', `/v1/webhooks/smtp/${project_id}`, {
      key: api.project.hook_token,
      body: notice,
    });
    expect(told.status).toBe(200);
  });

  test('everything that is held, in the documented shape', async () => {
    const { status, headers, body } = await exportOf('external_id:ann');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json\b/);
    const { body: profile } = await get('/v1/profiles/external_id:ann');
    expect(body.profile).toEqual(profile);
    expect(body.addresses).toMatchObject([
      { email: 'Ann@example.com', suppressed: null, history: [] },
      { email: 'old@example.com', suppressed: { reason: 'hard_bounce' }, history: [{}] },
    ]);
    expect(body.traits).toMatchObject([
      { identifier: { kind: 'external', value: 'ann' }, key: 'email', value: 'Ann@example.com' },
      { key: 'home', value: { town: 'Ulm' }, authority: 'server' },
    ]);
    expect(body.links).toMatchObject([{ anonymous_id: 'device-7', external_id: 'ann' }]);
    expect(body.runs).toMatchObject([{ status: 'ended', log: [{ decision: 'send_queued' }] }]);
    expect(body.sends).toMatchObject([
      { to: 'old@example.com', content: { subject: 'Welcome, Ann', html: '<p>Ann' } },
    ]);
    expect(body.feedback).toMatchObject([
      { kind: 'bounced', reason: expect.stringMatching('550') },
    ]);
    expect(body.events).toMatchObject([
      { event: 'cart_filled', properties: { n: 1 } },
      { event: 'page_viewed', anonymous_id: 'device-7' },
    ]);
  });

  test('the export by the id of the profile is the same, and HEAD answers without it', async () => {
    const { body } = await exportOf('external_id:ann');
    const { body: same } = await exportOf(body.profile.id);
    expect({ ...same, exported_at: '' }).toEqual({ ...body, exported_at: '' });
    const head = await api.call('HEAD', '/v1/profiles/external_id:ann/export', {
      key: api.project.server_key,
    });
    expect(head).toMatchObject({ status: 200, body: null });
  });

  test('somebody of whom nothing is known is a profile and empty lists', async () => {
    await post('/v1/identify', { external_id: 'empty' });
    const { body } = await exportOf('external_id:empty');
    const { exported_at: _at, profile: _profile, ...lists } = body;
    expect(Object.values(lists)).toEqual(Object.keys(lists).map(() => []));
  });

  test('every event is there once, however many pages they are', async () => {
    await post('/v1/identify', { external_id: 'busy' });
    await insertEvents('busy', 1_003);
    const { body } = await exportOf('external_id:busy');
    const ats = body.events.map(({ properties }: { properties: { at: number } }) => properties.at);
    expect(ats).toEqual(Array.from({ length: 1_003 }, (_, at) => at + 1));
  });
});

/** An export whose client reads only when it is told to. */
const open = (person: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const asked = request(
      `${api.url}/v1/profiles/external_id:${person}/export`,
      { headers: { authorization: `Bearer ${api.project.server_key}` } },
      (answer) => resolve(answer.pause()),
    );
    asked.on('error', reject).end();
  });

const MANY = 4_000;
const LONG_CHARS = 8_000;

describe('a client that takes its time', () => {
  beforeAll(async () => {
    for (const person of ['slow', 'gone']) {
      await post('/v1/identify', { external_id: person });
      await insertEvents(person, MANY, LONG_CHARS);
    }
  });

  test(
    'an export during which the person is erased breaks off, and is no valid JSON',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const answer = await open('gone');
      expect(answer.statusCode).toBe(200);
      const { body } = await get('/v1/profiles/external_id:gone');
      await eraseNow(database, api.project.project_id, body.id);
      let text = '';
      const read = new Promise<void>((resolve, reject) => {
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', resolve).on('error', reject);
        answer.resume();
      });
      await expect(read).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(() => JSON.parse(text) as unknown).toThrow();
    },
  );

  test(
    '429 rate_limited: one export too many at a time; a client that leaves makes room, and holds no connection',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const answers = await Promise.all(
        Array.from({ length: EXPORTS_READING_MAX }, () => open('slow')),
      );
      // Who does not read keeps nobody from being read to.
      expect((await exportOf('external_id:empty')).status).toBe(200);
      while (answers.length < EXPORTS_OPEN_MAX) answers.push(await open('slow'));
      const refused = await exportOf('external_id:slow');
      expectRefusal(refused, 'rate_limited');
      expect(refused.headers.get('retry-after')).toBe('10');
      // Nobody reads, and nobody waits for them: all connections to the database are free.
      await until('no transaction is open', async () => {
        const { rows } = await database.owner.query<{ open: number }>(
          `select count(*)::int as open from pg_stat_activity
          where datname = current_database() and usename = 'trunkline_runtime' and state <> 'idle'`,
        );
        return rows[0]?.open === 0;
      });
      for (const answer of answers) answer.destroy();
      await until('there is room again', async () => {
        const { status } = await exportOf('external_id:empty');
        return status === 200;
      });
    },
  );
});

describe('refusals', () => {
  test('401 invalid_token', async () => {
    expectRefusal(await get('/v1/profiles/external_id:ann/export', 'x'), 'invalid_token');
  });

  test('403 wrong_key_type: a publishable key reads nothing', async () => {
    const asked = await get('/v1/profiles/external_id:ann/export', api.project.publishable_key);
    expectRefusal(asked, 'wrong_key_type');
  });

  test('404 not_found: nobody, or somebody of another project', async () => {
    const other = await createProject(database.deps, 'other');
    expectRefusal(await get('/v1/profiles/external_id:ann/export', other.server_key), 'not_found');
    for (const id of ['external_id:nobody', newId(), 'x'])
      expectRefusal(await exportOf(id), 'not_found');
  });
});
