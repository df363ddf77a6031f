// Who may change a record must not learn its password by naming a host of their own.
import { describe, expect, test } from 'vitest';
import { expectRefusal } from '../support/api.ts';
import { ownApi } from '../support/own_api.ts';
import { testDatabase } from '../support/database.ts';
import { smtpSink } from '../support/smtp_sink.ts';
import { counterparts, fieldsOf, providersOf } from './counterparts.ts';

const database = testDatabase();
const sinks = counterparts(database);
const evil = smtpSink();
const api = ownApi(database);
const { create, read, change, test: send } = providersOf(api);
const createOne = async () => {
  const { status, body } = await create(fieldsOf(sinks, 'smtp'));
  expect(status).toBe(201);
  return body;
};

describe('PATCH /v1/email-providers/{id}', () => {
  test.each([
    ['another host', () => ({ smtp_host: 'localhost' })],
    ['another port', () => ({ smtp_port: evil.settings.smtp_port })],
    ['another encryption', () => ({ smtp_secure: 'none' })],
    ['another port with another login', () => ({ smtp_port: 1, username: 'other' })],
  ])('400 invalid_request: %s is not given the password that is kept', async (_what, given) => {
    const made = await createOne();
    const [ours, theirs] = [sinks.smtp.connections, evil.connections];
    const issues = expectRefusal(await change(made.id, given()), 'invalid_request');
    expect(issues).toEqual([
      { path: '/password', message: expect.stringMatching(/^needed again: /) },
    ]);
    expect([sinks.smtp.connections, evil.connections]).toEqual([ours, theirs]);
    expect((await read(made.id)).body).toEqual(made);
  });

  test('200: another place with its password, and the same place without', async () => {
    const { id } = await createOne();
    const { smtp_host, smtp_port, smtp_secure, username } = sinks.smtp.settings;
    const same = { smtp_host, smtp_port, smtp_secure, username };
    expect((await change(id, same)).status).toBe(200);
    const { smtp_port: other, password } = evil.settings;
    expect((await change(id, { smtp_port: other, password })).body.smtp_port).toBe(other);
    expect((await send(id)).status).toBe(200);
    expect(evil.mails).toHaveLength(1);
  });
});
