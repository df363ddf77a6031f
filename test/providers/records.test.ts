import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { sendQueued } from '../../src/delivery/delivery.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { createProject } from '../../src/projects/projects.ts';
import { CHECKS_PER_HOUR } from '../../src/providers/checks.ts';
import { park } from '../../src/providers/providers.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { newSend, OWNER, sendsOf } from '../delivery/one_send.ts';
import { expectRefusal } from '../support/api.ts';
import { ownApi } from '../support/own_api.ts';
import { readSent } from '../support/cloud_sink.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { API_KEY, mimeOf } from '../support/relay_sink.ts';
import { counterparts, fieldsOf, KINDS, providersOf } from './counterparts.ts';
import { used } from './used.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, list, read, change, remove, test: send } = providersOf(api);
// Checks are counted by project.
const SECRETS = { smtp: 'password', relay_api: 'api_key', cloud_api: 'secret_access_key' };
const createOne = async (kind: (typeof KINDS)[number] = 'relay_api', given: object = {}) => {
  const { status, body } = await create(fieldsOf(sinks, kind, given));
  expect(status).toBe(201);
  return body;
};
const parkIt = (id: string) =>
  inProject(database.deps, api.project.project_id, (scope) => park(scope, used(id), 'invalid_key'));

describe('POST /v1/projects/{project_id}/email-providers', () => {
  test.each(KINDS)('201: a %s record, its secret masked', async (kind) => {
    const fields = fieldsOf(sinks, kind, { from_name: 'Acme', reply_to: 'help@acme.test' });
    const { status, body } = await create(fields);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...fields,
      [SECRETS[kind]]: { set: true },
      status: 'active',
      parked: null,
      last_test: null,
    });
    expect((await read(body.id)).body).toEqual(body);
  });

  test('201: the same request with its Idempotency-Key makes one record, and asks the provider once', async () => {
    const fields = fieldsOf(sinks, 'relay_api');
    const headers = { 'idempotency-key': randomUUID() };
    const first = await create(fields, headers);
    expect((await create(fields, headers)).body).toEqual(first.body);
    expect((await list()).body.items).toHaveLength(1);
    expect(sinks.relay.requests).toHaveLength(1);
  });

  test('400 invalid_request: what a kind lacks, and what is not of it', async () => {
    const { api_key: _, ...lacking } = fieldsOf(sinks, 'relay_api') as Record<string, unknown>;
    const issues = expectRefusal(await create({ ...lacking, smtp_port: 25 }), 'invalid_request');
    expect(issues).toEqual([
      { path: '/smtp_port', message: 'not of a relay_api provider' },
      { path: '/api_key', message: 'needed for relay_api' },
    ]);
  });

  test.each([
    ['smtp', { smtp_host: 'http://a/' }],
    ['smtp', { smtp_port: 0 }],
    ['smtp', { smtp_port: 65_536 }],
    ['smtp', { smtp_secure: 'tls' }],
    ['smtp', { username: 'a\r\nb' }],
    ['smtp', { from_name: 'a\r\nBcc: b@example.test' }],
    ...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'
      .split('')
      .map((turning) => ['smtp', { from_name: `Acme ${turning}moc.knab` }] as const),
    ['smtp', { from_name: '\u200b\u2060' }],
    ['smtp', { display_name: '\u200b' }],
    ['smtp', { display_name: 'Relay \u202emoc' }],
    ['relay_api', { api_key: 'SG.0123' }],
    ['cloud_api', { region: 'eu-west-1.example.test' }],
    ['relay_api', { from_email: 'nobody' }],
    ['relay_api', { provider: 'carrier_pigeon' }],
  ] as const)(
    '400 invalid_request: %s with %j, and nobody is connected to',
    async (kind, given) => {
      expectRefusal(await create(fieldsOf(sinks, kind, given)), 'invalid_request');
      expect([sinks.relay.requests, sinks.cloud.requests]).toEqual([[], []]);
    },
  );

  test('404 not_found: in another project, whatever else is wrong', async () => {
    const { project_id } = api.project;
    const other = await createProject(database.deps, 'other');
    const answer = await api.call('POST', `/v1/projects/${project_id}/email-providers`, {
      key: other.server_key,
      body: '{',
    });
    expectRefusal(answer, 'not_found');
  });

  test('409 from_email_taken: in any spelling, before anybody is connected to', async () => {
    const { from_email } = await createOne();
    sinks.relay.reset();
    const again = fieldsOf(sinks, 'relay_api', { from_email: from_email.toUpperCase() });
    expectRefusal(await create(again), 'from_email_taken');
    expect(sinks.relay.requests).toEqual([]);
  });

  test('409 from_email_taken: of several at once one is made', async () => {
    const fields = fieldsOf(sinks, 'relay_api');
    const answers = await Promise.all([1, 2, 3].map(() => create(fields)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  });

  test('422 provider_preflight_failed: nothing is kept', async () => {
    const answer = await create(fieldsOf(sinks, 'relay_api', { api_key: 'api-wrong' }));
    expectRefusal(answer, 'provider_preflight_failed');
    expect(answer.body).toMatchObject({ reason: 'invalid_key' });
    expect((await list()).body.items).toEqual([]);
  });

  test('429 rate_limited: a project cannot scan ports', async () => {
    const closed = fieldsOf(sinks, 'smtp', { smtp_port: 1 });
    for (let tries = 0; tries < CHECKS_PER_HOUR; tries += 1)
      expectRefusal(await create(closed), 'provider_preflight_failed');
    const answer = await create(closed);
    expectRefusal(answer, 'rate_limited');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(60);
    api.project = await createProject(database.deps, 'another one');
    await createOne();
  });
});

test('GET /v1/projects/{project_id}/email-providers: 200, newest first, by pages', async () => {
  const made = [await createOne('smtp'), await createOne(), await createOne('cloud_api')];
  const first = await list('?limit=2');
  expect(first.body.items).toEqual([made[2], made[1]]);
  const rest = await list(`?limit=2&cursor=${first.body.next_cursor}`);
  expect(rest.body).toEqual({ items: [made[0]], next_cursor: null });
});

describe('PATCH /v1/email-providers/{id}', () => {
  test.each(KINDS)('200: a secret of %s that is left out stays, and works', async (kind) => {
    const made = await createOne(kind);
    const { body } = await change(made.id, { from_name: 'New', reply_to: 'help@acme.test' });
    const { updated_at } = body;
    expect(body).toEqual({ ...made, from_name: 'New', reply_to: 'help@acme.test', updated_at });
    expect((await send(made.id)).status).toBe(200);
    const rightToLeft = 'أكمي\u200f \u202f';
    expect((await change(made.id, { from_name: rightToLeft })).body.from_name).toBe(rightToLeft);
    expect((await change(made.id, { from_name: null })).body.from_name).toBeNull();
  });

  test('200: labels are changed without asking the provider, a connection field is proved', async () => {
    const { id } = await createOne();
    sinks.relay.reset();
    await change(id, { display_name: 'New' });
    expect(sinks.relay.requests).toEqual([]);
    expect((await change(id, { api_key: API_KEY })).status).toBe(200);
    expect(sinks.relay.requests).toHaveLength(1);
  });

  test('422 provider_preflight_failed: what does not work is not kept', async () => {
    const made = await createOne('smtp');
    const answer = await change(made.id, { password: 'wrong', display_name: 'New' });
    expectRefusal(answer, 'provider_preflight_failed');
    expect((await read(made.id)).body).toEqual(made);
    expect((await send(made.id)).status).toBe(200);
  });

  test('200: a parked provider comes back by saving it again', async () => {
    const { id } = await createOne();
    await parkIt(id);
    expect((await read(id)).body).toMatchObject({
      status: 'parked',
      parked: { reason: 'invalid_key', cause: expect.any(String), fix: expect.any(String) },
    });
    expect((await change(id, { display_name: 'New' })).body.status).toBe('parked');
    expect((await change(id, { api_key: API_KEY })).body).toMatchObject({
      status: 'active',
      parked: null,
    });
  });

  test('400 invalid_request: the kind is not changed, nor another kind’s field set', async () => {
    const { id } = await createOne();
    expectRefusal(await change(id, { provider: 'smtp' }), 'invalid_request');
    const issues = expectRefusal(await change(id, { smtp_port: 25 }), 'invalid_request');
    expect(issues).toEqual([{ path: '/smtp_port', message: 'not of a relay_api provider' }]);
    expectRefusal(await change(id, { api_key: { set: true } }), 'invalid_request');
  });

  test('409 from_email_taken: another record has it', async () => {
    const [one, other] = [await createOne(), await createOne()];
    expectRefusal(await change(one.id, { from_email: other.from_email }), 'from_email_taken');
    expect((await change(one.id, { from_email: one.from_email })).status).toBe(200);
  });

  test('200: two changes at once are both kept', async () => {
    const { id } = await createOne();
    await Promise.all([
      change(id, { display_name: 'New', api_key: API_KEY }),
      change(id, { from_name: 'Acme', api_key: API_KEY }),
    ]);
    expect((await read(id)).body).toMatchObject({ display_name: 'New', from_name: 'Acme' });
  });
});

describe('POST /v1/email-providers/{id}/test', () => {
  test('200: one real message from its sender, over each kind', async () => {
    const given = { from_name: 'Acme', reply_to: 'help@acme.test' };
    const answers = [];
    for (const kind of KINDS) answers.push(await send((await createOne(kind, given)).id));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [mail] = await sinks.smtp.waitFor(1);
    const sent = [
      mail?.raw.toString() ?? '',
      ...sinks.relay.requests.slice(1).map(mimeOf),
      ...sinks.cloud.requests
        .slice(1)
        .map((asked) => Buffer.from(readSent(asked).Content.Raw.Data, 'base64').toString()),
    ];
    expect(sent).toHaveLength(3);
    for (const mime of sent) {
      expect(mime).toMatch(/^From: Acme <hello\d+@acme\.test>\r$/m);
      expect(mime).toMatch(/^To: ada@example\.test\r$/m);
      expect(mime).toMatch(/^Reply-To: help@acme\.test\r$/m);
      expect(mime.split('\r\n\r\n')[1]).not.toMatch(/trunkline/i);
    }
  });

  test('200: noted in the record; a parked provider is used again', async () => {
    const { id } = await createOne();
    await parkIt(id);
    const { body } = await send(id);
    expect(body).toEqual({
      ok: true,
      provider_message_id: '1x2y3z-FnQW0aaaaaa-AB12',
      took_ms: expect.any(Number),
    });
    expect((await read(id)).body).toMatchObject({
      status: 'active',
      last_test: { ok: true, failure: null },
    });
  });

  test('200: the same request with its Idempotency-Key sends once', async () => {
    const { id } = await createOne();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await send(id, 'ada@example.test', headers);
    expect((await send(id, 'ada@example.test', headers)).body).toEqual(first.body);
    expect(sinks.relay.requests.filter(({ path }) => path.endsWith('/mime'))).toHaveLength(1);
  });

  test('422 provider_test_failed: credentials that stopped working park it', async () => {
    const { id } = await createOne('smtp');
    sinks.smtp.play('auth', { code: 535 });
    const answer = await send(id);
    expectRefusal(answer, 'provider_test_failed');
    expect(answer.body).toMatchObject({ reason: 'authentication_failed' });
    expect((await read(id)).body).toMatchObject({
      status: 'parked',
      parked: { reason: 'authentication_failed' },
      last_test: { ok: false, failure: { reason: 'authentication_failed' } },
    });
  });

  test('422 provider_test_failed: an outcome that nobody knows is said to be one, and does not park', async () => {
    const { id } = await createOne();
    sinks.relay.play('/email/mime', 'drop');
    expect((await send(id)).body).toMatchObject({ reason: 'outcome_unknown' });
    expect((await read(id)).body.status).toBe('active');
  });

  test('422 recipient_suppressed: nothing is sent to who must be left alone', async () => {
    const { id } = await createOne();
    const told = { email: 'ada@example.test', reason: 'manual' as const, source: 'test' };
    await inProject(database.deps, api.project.project_id, (scope) => suppress(scope, told));
    expectRefusal(await send(id, 'Ada@Example.test'), 'recipient_suppressed');
    expect(sinks.relay.requests.filter(({ path }) => path.endsWith('/mime'))).toEqual([]);
  });
});

describe('DELETE /v1/email-providers/{id}', () => {
  test('200: gone with its credentials, and its address is free', async () => {
    const { id, from_email } = await createOne();
    expect((await remove(id)).body).toEqual({ id, deleted: true });
    expectRefusal(await read(id), 'not_found');
    expectRefusal(await remove(id), 'not_found');
    expectRefusal(await send(id), 'not_found');
    await createOne('smtp', { from_email });
  });

  test('200: what is queued for it ends in view, leased or not; what another has stays', async () => {
    const [{ id }, other] = [await createOne(), await createOne()];
    const { project_id: projectId } = api.project;
    const { plan, claim, read: readSend } = sendsOf(database, projectId);
    const queued = [newSend({ providerId: id }), newSend({ providerId: id })];
    const stays = newSend({ providerId: other.id });
    for (const one of [...queued, stays]) await plan(one);
    await claim(id);
    await remove(id);
    const turn = { projectId, providerId: id, owner: OWNER, signal: NEVER, takeBounce };
    expect(await sendQueued(database.deps, turn)).toBe(false);
    for (const { sendId } of queued)
      expect(await readSend(sendId)).toMatchObject({
        status: 'cancelled',
        status_reason: 'provider_deleted',
        lease_owner: null,
      });
    const key = api.project.server_key;
    const said = await api.call('GET', `/v1/sends/${queued[0]?.sendId}`, { key });
    expect(said.body.status_fix).toMatch(/not sent any more. Choose another provider/);
    expect(await readSend(stays.sendId)).toMatchObject({ status: 'queued' });
  });
});
