// The settings of a bounce mailbox, as a provider record has them.
import { describe, expect, test } from 'vitest';
import { VERP_LOCAL_CHARS_MAX } from '../../../src/providers/bounce_mailbox/schema.ts';
import { counterparts, fieldsOf, providersOf } from '../counterparts.ts';
import { testApi } from '../../support/api.ts';
import { testDatabase } from '../../support/database.ts';
import { imapServer } from '../../support/imap_server.ts';

const database = testDatabase();
const sinks = counterparts(database);
const imap = imapServer();
const api = testApi(database);
const { create, change, read, test: testOf } = providersOf(api);

const mailboxOf = (given: object = {}) => ({ ...imap.settings, ...given });
const smtp = (mailbox: unknown) => fieldsOf(sinks, 'smtp', { bounce_mailbox: mailbox });
const SHOWN = {
  folder: 'INBOX',
  bounce_address: null,
  verp: false,
  after_read: 'mark_seen',
  move_to: null,
  password: { set: true },
  status: 'active',
  last_read_at: null,
  message_count: 0,
  report_count: 0,
  failure: null,
};
const secretOf = async (id: string) => {
  const { rows } = await database.owner.query<{ secret: Buffer }>(
    'select secret from providers.bounce_mailboxes where provider_id = $1',
    [id],
  );
  return rows[0]?.secret ?? null;
};

describe('a bounce mailbox', () => {
  test('is proved, stored with its password sealed, and shown without it', async () => {
    const { status, body } = await create(smtp(mailboxOf()));
    expect(status).toBe(201);
    const { host, port, secure, username } = imap.settings;
    expect(body.bounce_mailbox).toEqual({ ...SHOWN, host, port, secure, username });
    expect(imap.commands).toContain('LOGIN');
    expect(JSON.stringify(body)).not.toContain(imap.settings.password);
    expect(String(await secretOf(body.id))).not.toContain(imap.settings.password);
    expect((await read(body.id)).body.bounce_mailbox).toEqual(body.bounce_mailbox);
  });

  test('is not needed', async () => {
    const { body } = await create(fieldsOf(sinks, 'smtp'));
    expect(body.bounce_mailbox).toBe(null);
    expect((await create(fieldsOf(sinks, 'relay_api'))).body).not.toHaveProperty('bounce_mailbox');
  });

  test('that does not work is refused with the class of the failure, and nothing is stored', async () => {
    const answer = await create(smtp(mailboxOf({ password: 'wrong' })));
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'provider_preflight_failed', reason: 'bounce_mailbox_login_refused' },
    });
    const { rows } = await database.owner.query('select from providers.bounce_mailboxes');
    const { body } = await create(fieldsOf(sinks, 'smtp'));
    expect(
      await change(body.id, { bounce_mailbox: mailboxOf({ folder: 'Nowhere' }) }),
    ).toMatchObject({
      body: { reason: 'bounce_mailbox_folder_missing' },
    });
    expect((await database.owner.query('select from providers.bounce_mailboxes')).rowCount).toBe(
      rows.length,
    );
  });

  test('is added, changed and removed by a change of the record', async () => {
    const { id } = (await create(fieldsOf(sinks, 'smtp'))).body;
    const added = await change(id, { bounce_mailbox: mailboxOf() });
    expect(added.body.bounce_mailbox).toMatchObject(SHOWN);
    const verp = { bounce_address: 'b@shop.test', verp: true };
    const { password: _, ...kept } = mailboxOf(verp);
    const changed = await change(id, { bounce_mailbox: kept });
    expect(changed.body.bounce_mailbox).toMatchObject({ ...verp, password: { set: true } });
    expect((await change(id, { display_name: 'Other' })).body.bounce_mailbox).toMatchObject(verp);
    expect((await change(id, { bounce_mailbox: null })).body.bounce_mailbox).toBe(null);
    expect(await secretOf(id)).toBe(null);
  });

  test.each([
    ['another host', { host: 'localhost' }],
    ['another port', { port: 1 }],
    ['another encryption', { secure: 'starttls' }],
  ])('keeps its password for its place: %s needs it again', async (_what, given) => {
    const { id } = (await create(smtp(mailboxOf()))).body;
    const { password: _, ...without } = mailboxOf(given);
    imap.commands = [];
    expect(await change(id, { bounce_mailbox: without })).toMatchObject({
      status: 400,
      body: { issues: [{ path: '/bounce_mailbox/password' }] },
    });
    expect(imap.commands).toEqual([]);
  });

  test.each<[string, object, string]>([
    ['no password', { password: undefined }, '/bounce_mailbox/password'],
    ['verp without an address', { verp: true }, '/bounce_mailbox/bounce_address'],
    ['move without a folder', { after_read: 'move' }, '/bounce_mailbox/move_to'],
    ['move to its own folder', { after_read: 'move', move_to: 'INBOX' }, '/bounce_mailbox/move_to'],
    ['a folder without move', { move_to: 'Done' }, '/bounce_mailbox/move_to'],
    ['a password of two lines', { password: 'a\nb' }, '/bounce_mailbox/password'],
    ['a folder of two lines', { folder: 'a\r\nb' }, '/bounce_mailbox/folder'],
    ['a host with blanks', { host: 'a b' }, '/bounce_mailbox/host'],
    ['an unknown member', { hosts: 'a' }, '/bounce_mailbox/hosts'],
  ])('with %s is refused', async (_what, given, path) => {
    expect(await create(smtp(mailboxOf(given)))).toMatchObject({
      status: 400,
      body: { issues: [{ path }] },
    });
  });

  test(`has a bounce address with ${VERP_LOCAL_CHARS_MAX} characters before the @ for verp`, async () => {
    const of = (chars: number) =>
      create(smtp(mailboxOf({ verp: true, bounce_address: `${'b'.repeat(chars)}@shop.test` })));
    expect((await of(VERP_LOCAL_CHARS_MAX)).status).toBe(201);
    expect((await of(VERP_LOCAL_CHARS_MAX + 1)).status).toBe(400);
  });

  test.each(['relay_api', 'cloud_api'] as const)('is none of a %s provider', async (kind) => {
    const fields = fieldsOf(sinks, kind, { bounce_mailbox: mailboxOf() });
    expect(await create(fields)).toMatchObject({
      status: 400,
      body: { issues: [{ path: '/bounce_mailbox' }] },
    });
  });
});

describe('a test of the provider', () => {
  test('sends with the envelope sender of every email, then opens the mailbox', async () => {
    const verp = { bounce_address: 'b@shop.test', verp: true };
    const { id } = (await create(smtp(mailboxOf(verp)))).body;
    sinks.smtp.reset();
    imap.commands = [];
    expect((await testOf(id)).status).toBe(200);
    expect(sinks.smtp.mails[0]?.from).toMatch(/^b\+[a-z2-7]{45}@shop\.test$/);
    expect(imap.commands).toContain('SELECT INBOX');
  });

  test('fails with the mailbox, although the message was sent', async () => {
    const { id } = (await create(smtp(mailboxOf()))).body;
    sinks.smtp.reset();
    imap.folders.delete('INBOX');
    expect(await testOf(id)).toMatchObject({
      status: 422,
      body: { error: 'provider_test_failed', reason: 'bounce_mailbox_folder_missing' },
    });
    expect(sinks.smtp.mails).toHaveLength(1);
    const shown = (await read(id)).body;
    expect(shown.last_test).toMatchObject({ ok: true });
    expect(shown.bounce_mailbox.failure).toMatchObject({ reason: 'bounce_mailbox_folder_missing' });
  });
});
