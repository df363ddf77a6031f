// A webhook step tells an endpoint once, signed, and says in the log what came of it.
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { callNext } from '../../src/automations/call.ts';
import { openSecrets, rotateSecret, SECRETS_MAX } from '../../src/automations/endpoints.ts';
import { signWebhook } from '../../src/automations/sign_webhook.ts';
import { startTest } from '../../src/automations/start.ts';
import { getAutomation } from '../../src/automations/queries.ts';
import { simulate } from '../../src/automations/simulate.ts';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import type { SunkRequest } from '../support/https_sink.ts';
import { endpointWorlds, vault } from './with_endpoint.ts';

const database = testDatabase();
const { sink, world } = endpointWorlds(database);

const secrets = () => world.within((scope) => openSecrets(scope, vault, world.endpointId));
/** Proves a call by somebody else's implementation of the scheme. */
const verify = (secret: string, { body, headers }: SunkRequest): unknown =>
  new Webhook(secret).verify(body.toString(), headers as Record<string, string>);
const names = async () => (await world.names()).filter((name) => name.startsWith('webhook'));

describe('a call', () => {
  test('tells who came to which step of what, and is proved by its signature', async () => {
    const automationId = await world.live();
    await world.tell('ann', { email: 'ann@example.com', plan: 'pro' });
    await world.happen('trial_started');
    expect(await world.call()).toBe(true);
    expect(await world.call()).toBe(false);
    const [request] = sink.requests;
    const [secret = ''] = await secrets();
    if (!request) throw new Error('nobody was told');
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(verify(secret, request)).toEqual({
      id: request.headers['webhook-id'],
      type: 'automation.step_reached',
      timestamp: expect.any(String),
      data: {
        person: {
          id: expect.any(String),
          external_id: 'ann',
          email: 'ann@example.com',
          email_confirmed: true,
          traits: { email: 'ann@example.com', plan: 'pro' },
          browser_asserted: [],
          tags: [],
        },
        run: { id: expect.any(String), started_at: expect.any(String), is_test: false },
        automation: { id: automationId, name: 'Telling', version: 1 },
        step: { id: 'tell' },
        trigger: expect.objectContaining({
          kind: 'event',
          event: 'trial_started',
          source: 'server',
        }),
      },
    });
    expect([request.method, request.path, request.headers['content-type']]).toEqual([
      'POST',
      '/hooks',
      'application/json',
    ]);
    expect(await names()).toEqual(['webhook_queued', 'webhook_delivered']);
    expect(await world.select('outcome', 'automations.runs')).toEqual([{ outcome: 'completed' }]);
  });

  test('whose body was changed, or which was signed with another secret, is not proved', async () => {
    await world.live();
    await world.happen('trial_started');
    await world.call();
    const [request] = sink.requests;
    const [secret = ''] = await secrets();
    if (!request) throw new Error('nobody was told');
    const changed = { ...request, body: Buffer.from(`${request.body.toString()} `) };
    expect(() => verify(secret, changed)).toThrow();
    expect(() => verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', request)).toThrow();
  });

  test('is made again under the same id until it is taken, and after that no more', async () => {
    await world.live();
    for (const status of [500, 503, 408, 425, 429]) sink.play('/hooks', { status }, 1);
    sink.play('/hooks', 'drop', 1);
    await world.happen('trial_started');
    for (let attempt = 0; attempt < 6; attempt += 1) {
      expect(await world.call()).toBe(true);
      expect(await world.call()).toBe(false);
      await world.passRetry();
    }
    expect(await world.call()).toBe(true);
    expect(new Set(sink.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await world.calls()).toEqual([
      { status: 'delivered', attempts: 7, http_status: 204, reason: null },
    ]);
    expect(await names()).toEqual([
      'webhook_queued',
      ...Array.from({ length: 6 }, () => 'webhook_postponed'),
      'webhook_delivered',
    ]);
  });

  test('waits as long as Retry-After says, by the row of its run and no job', async () => {
    await world.live();
    sink.play('/hooks', { status: 429, headers: { 'retry-after': '3600' } }, 1);
    await world.happen('trial_started');
    await world.call();
    const [run] = await world.select(
      `extract(epoch from wake_at - now())::int as seconds`,
      'automations.runs',
    );
    expect(run.seconds).toBeGreaterThan(3_500);
    expect(run.seconds).toBeLessThanOrEqual(3_600);
  });

  test.each([400, 401, 404, 413, 422, 301, 307])('that is answered %i is final', async (status) => {
    await world.live();
    sink.play('/hooks', { status, headers: { location: '/elsewhere' } });
    await world.happen('trial_started');
    await world.call();
    expect(sink.requests).toHaveLength(1);
    expect(await world.calls()).toMatchObject([{ status: 'failed', http_status: status }]);
    expect(await world.select('outcome', 'automations.runs')).toEqual([{ outcome: 'exited' }]);
  });

  test('that fails goes on with the next step where there is no other way', async () => {
    await world.live({ on_failure: undefined });
    sink.play('/hooks', { status: 400 });
    await world.happen('trial_started');
    await world.call();
    expect(await names()).toEqual(['webhook_queued', 'webhook_failed']);
    expect((await world.decisions()).at(-1)).toMatchObject({ step_id: 'told' });
  });

  test('that is answered 410 disables the endpoint: nobody is told there any more', async () => {
    await world.live();
    sink.play('/hooks', { status: 410 });
    await world.happen('trial_started');
    await world.call();
    expect(await world.select('status, disabled_reason', 'automations.endpoints')).toEqual([
      { status: 'disabled', disabled_reason: 'gone' },
    ]);
    await world.happen('trial_started', 'ben');
    await world.call();
    expect(sink.requests).toHaveLength(1);
    const reasons = new Set((await world.calls()).map(({ reason }) => reason));
    expect(reasons).toEqual(new Set(['endpoint_gone', 'endpoint_disabled']));
  });

  test('reads no endless answer, and takes its status for what it is', async () => {
    await world.live();
    sink.play('/hooks', 'endless', 1);
    await world.happen('trial_started');
    await world.call();
    expect(await world.calls()).toMatchObject([{ status: 'delivered', http_status: 200 }]);
  });

  test('to where nobody may connect is not made', async () => {
    const config = { ...database.deps.config, egressAllowNetworks: [] };
    await world.live();
    await world.happen('trial_started');
    const asked = {
      projectId: world.projectId,
      endpointId: world.endpointId,
      open: new Set<never>(),
    };
    await callNext({ ...database.deps, config }, vault, asked);
    expect(await world.calls()).toMatchObject([
      { status: 'waiting', http_status: null, reason: 'connection_failed' },
    ]);
    expect(sink.requests).toEqual([]);
  });

  test('whose maker died is made again, under the same id, once its lease has run out', async () => {
    await world.live();
    await world.happen('trial_started');
    await database.owner.query(
      `update automations.calls set status = 'calling', attempts = 1, lease_until = now() + interval '1 hour'`,
    );
    expect(await world.call()).toBe(false);
    await database.owner.query(
      `update automations.calls set lease_until = now() - interval '1 ms'`,
    );
    expect(await world.call()).toBe(true);
    expect(await world.calls()).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });
});

describe('secrets', () => {
  test('of a rotation both sign, until the old one has run out', async () => {
    await world.live();
    const rotate = (secretId: string) =>
      world.within((scope) =>
        rotateSecret(scope, vault, { endpointId: world.endpointId, secretId }),
      );
    const [old = ''] = await secrets();
    const secretId = newId();
    await rotate(secretId);
    await rotate(secretId);
    const [next = '', ...others] = await secrets();
    expect(others).toEqual([old]);
    await world.happen('trial_started');
    await world.call();
    const [request] = sink.requests;
    if (!request) throw new Error('nobody was told');
    for (const secret of [old, next]) expect(verify(secret, request)).toBeTypeOf('object');
    await database.owner.query(
      `update automations.endpoint_secrets set expires_at = now() - interval '1 ms' where expires_at is not null`,
    );
    expect(await secrets()).toEqual([next]);
    for (let at = 0; at < SECRETS_MAX + 2; at += 1) await rotate(newId());
    expect(await secrets()).toHaveLength(SECRETS_MAX);
  });

  test('are not in the database in the clear', async () => {
    const [secret = ''] = await secrets();
    const { rows } = await database.owner.query<{ found: boolean }>(
      `select position($1::bytea in sealed) > 0 as found from automations.endpoint_secrets`,
      [Buffer.from(secret)],
    );
    expect(rows).toContainEqual({ found: false });
    expect(rows).not.toContainEqual({ found: true });
  });

  test('sign as anybody else’s implementation of the scheme does', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const at = new Date(1_614_265_330_000);
    const body = '{"test": 2432232314}';
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
    expect(signWebhook([secret], { id, at, body })).toEqual({
      'webhook-id': id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    });
  });
});

describe('nobody is told', () => {
  test('by a test, unless it was asked to; then once, whatever is answered', async () => {
    const automationId = await world.live();
    await world.happen('signed_up');
    const [ann] = await world.select('profile_id', 'profiles.profiles');
    const profileId: string = ann.profile_id;
    const run = async (mayCall: boolean) => {
      await world.within(async (scope) => {
        const kept = await getAutomation(scope, automationId);
        await startTest(scope, kept, { runId: newId(), profileId, to: 'me@example.com', mayCall });
      });
      await world.settle();
    };
    await run(false);
    expect(await world.call()).toBe(false);
    expect(await names()).toEqual(['webhook_left_out']);
    sink.play('/hooks', { status: 500 });
    await run(true);
    expect(await world.call()).toBe(true);
    expect(await names()).toEqual(['webhook_left_out', 'webhook_queued', 'webhook_failed']);
  });

  test('by a simulation, which records whom it would have told', async () => {
    const automationId = await world.live();
    await world.happen('trial_started');
    await world.call();
    const kept = await world.within((scope) => getAutomation(scope, automationId));
    const asked = { days: 1, version: 1 };
    const told = await simulate(database.deps, world.projectId, kept, asked);
    expect(told).toMatchObject({ entered: 1, called: { tell: 1 }, outcomes: { completed: 1 } });
    expect(sink.requests).toHaveLength(1);
  });

  test('of a run that is frozen, or whose person is gone, before it is so again', async () => {
    await world.live();
    await world.happen('trial_started');
    await database.owner.query(`update automations.automations set status = 'paused'`);
    expect(await world.call()).toBe(false);
    await database.owner.query(`update automations.automations set status = 'active'`);
    expect(await world.call()).toBe(true);
  });
});
