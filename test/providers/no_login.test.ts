// A relay in the operator's own network takes email without AUTH; any other host needs a login.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { startNameServer } from '../support/name_server.ts';
import type { NameServer, Zone } from '../support/name_server.ts';
import { smtpSink } from '../support/smtp_sink.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from './counterparts.ts';

const HOST = 'relay.inside.test';
const INSIDE = { A: ['127.0.0.1'] };
/** A public address: nothing may connect to it. */
const OUTSIDE = { A: ['192.31.196.1'] };

const database = testDatabase();
const sinks = counterparts(database);
const open = smtpSink({ secure: 'none', offersAuth: false });
const zone: Zone = {};
let names: NameServer;
beforeAll(async () => {
  names = await startNameServer(zone);
  const config = { ...database.deps.config, dnsServers: [names.address] };
  database.deps = { ...database.deps, config };
});
afterAll(() => names.close());
const api = testApi(database);
const { create, read, change, test: sendTest } = providersOf(api);
const sendOne = sendOneOf(database, api);
beforeEach(async () => {
  open.reset();
  zone[HOST] = INSIDE;
  api.project = await createProject(database.deps, 'its own');
});

/** A record of the relay without AUTH, by its name, and without a login. */
const withoutLogin = (given: object = {}) => {
  const {
    username: _,
    password: __,
    ...fields
  } = fieldsOf(sinks, 'smtp', open.settings) as Record<string, unknown>;
  return { ...fields, smtp_host: HOST, ...given };
};
const createOne = async (given: object = {}): Promise<string> => {
  const { status, body } = await create(withoutLogin(given));
  expect(status).toBe(201);
  return body.id as string;
};
const needed = ['/username', '/password'].map((path) => ({
  path,
  message: expect.stringMatching(/^needed: .* EGRESS_ALLOW_NETWORKS/),
}));

describe('POST /v1/projects/{project_id}/email-providers', () => {
  test.each([
    ['left out', {}],
    ['null', { username: null, password: null }],
  ])(
    '201: a login that is %s, for a relay inside; its test and its sends arrive',
    async (_, given) => {
      const id = await createOne(given);
      const { body } = await read(id);
      expect(body).toMatchObject({ smtp_host: HOST, smtp_secure: 'none', status: 'active' });
      expect(Object.keys(body)).not.toContain('username');
      expect(Object.keys(body)).not.toContain('password');
      expect((await sendTest(id)).status).toBe(200);
      expect(await sendOne(id)).toMatchObject({ status: 'accepted' });
      expect(open.mails).toHaveLength(2);
    },
  );

  test('201: with TLS as with any other relay', async () => {
    const { smtp_port, smtp_secure } = sinks.smtp.settings;
    const id = await createOne({ smtp_host: '127.0.0.1', smtp_port, smtp_secure });
    // This relay wants a login, which only a message finds out.
    expectRefusal(await sendTest(id), 'provider_test_failed');
    expect((await read(id)).body.last_test).toMatchObject({ ok: false });
  });

  test.each([
    ['a public address', { smtp_host: '192.31.196.1' }],
    ['a private address that no setting allows', { smtp_host: '10.0.0.1' }],
    ['a name without an address', { smtp_host: 'nowhere.inside.test' }],
    ['a public address with TLS', { smtp_host: '192.31.196.1', smtp_secure: 'starttls' }],
  ])('400 invalid_request: %s, without a login', async (_, given) => {
    const before = open.connections;
    const issues = expectRefusal(await create(withoutLogin(given)), 'invalid_request');
    expect(issues).toEqual(needed);
    expect(open.connections).toBe(before);
  });

  test('400 invalid_request: a name with one address outside, without a login', async () => {
    zone[HOST] = { A: ['127.0.0.1', ...OUTSIDE.A] };
    expect(expectRefusal(await create(withoutLogin()), 'invalid_request')).toEqual(needed);
  });

  test.each([
    [{ username: 'acme' }, { path: '/password', message: 'needed with a username' }],
    [{ password: 'secret' }, { path: '/username', message: 'needed with a password' }],
    [
      { username: null, password: 'secret' },
      { path: '/username', message: 'needed with a password' },
    ],
  ])('400 invalid_request: half a login, %j', async (given, issue) => {
    const issues = expectRefusal(await create(withoutLogin(given)), 'invalid_request');
    expect(issues).toEqual([issue]);
  });
});

describe('PATCH /v1/email-providers/{id}', () => {
  const loginOf = async (id: string) => {
    const { username = null, password = null } = (await read(id)).body;
    return { username, password };
  };

  test('200: null removes the login, and both halves bring it back', async () => {
    const { body } = await create(fieldsOf(sinks, 'smtp'));
    const id = body.id as string;
    expect((await change(id, { username: null })).status).toBe(200);
    expect(await loginOf(id)).toEqual({ username: null, password: null });
    const { username, password } = sinks.smtp.settings;
    expect((await change(id, { username, password })).status).toBe(200);
    expect(await loginOf(id)).toEqual({ username, password: { set: true } });
    expect((await sendTest(id)).status).toBe(200);
  });

  test('200: another host needs no password where there is none', async () => {
    const id = await createOne();
    expect((await change(id, { smtp_host: '127.0.0.1' })).status).toBe(200);
  });

  test.each([
    ['a host outside', { smtp_host: '192.31.196.1' }, needed],
    [
      'a user name alone',
      { username: 'acme' },
      [{ path: '/password', message: 'needed with a username' }],
    ],
    [
      'a password alone',
      { password: 'x' },
      [{ path: '/username', message: 'needed with a password' }],
    ],
  ])('400 invalid_request: %s, and the record stays as it is', async (_, given, issues) => {
    const id = await createOne();
    const before = (await read(id)).body;
    expect(expectRefusal(await change(id, given), 'invalid_request')).toEqual(issues);
    expect((await read(id)).body).toEqual(before);
  });

  test('400 invalid_request: a password that is removed alone', async () => {
    const { body } = await create(fieldsOf(sinks, 'smtp'));
    const issues = expectRefusal(await change(body.id, { password: null }), 'invalid_request');
    expect(issues).toEqual([{ path: '/password', message: 'needed with a username' }]);
  });
});

describe('a host whose DNS moves outside', () => {
  test('is not connected to: its test fails, its sends wait, and the provider is parked until it is back', async () => {
    const id = await createOne();
    zone[HOST] = OUTSIDE;
    const before = open.connections;
    expect(await sendOne(id)).toMatchObject({ status: 'queued' });
    expect((await read(id)).body).toMatchObject({
      status: 'parked',
      parked: { reason: 'login_required' },
    });
    const refused = await sendTest(id);
    expectRefusal(refused, 'provider_test_failed');
    expect(refused.body).toMatchObject({
      reason: 'login_required',
      fix: expect.stringMatching(/EGRESS_ALLOW_NETWORKS/),
    });
    expect(open.connections).toBe(before);

    zone[HOST] = INSIDE;
    expect((await sendTest(id)).status).toBe(200);
    expect((await read(id)).body).toMatchObject({ status: 'active', parked: null });
  });

  test('is not connected to while one of its addresses is outside', async () => {
    const id = await createOne();
    zone[HOST] = { A: ['127.0.0.1', ...OUTSIDE.A] };
    const before = open.connections;
    expect((await sendTest(id)).body).toMatchObject({ reason: 'login_required' });
    expect(open.connections).toBe(before);
  });
});
