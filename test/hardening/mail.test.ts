import { describe, expect, test } from 'vitest';
import PostalMime from 'postal-mime';
import { fieldsOf, counterparts, providersOf } from '../providers/counterparts.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testAdmin, testWorker } from '../support/admin.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
testAdmin(database, api);
testWorker(database);

const call = (method: string, path: string, body?: object) =>
  api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });
const templates = () => `/v1/projects/${api.project.project_id}/templates`;

const mailStep = (given: object) => ({
  trigger: { kind: 'event', event: 'user_signed_up' },
  settings: { re_entry: 'every_time' },
  entry: 'mail',
  steps: { mail: { kind: 'send_email', next: null, ...given } },
});

describe('attachments', () => {
  const forms = [
    { attachments: [{ path: '/etc/passwd' }] },
    { attachments: [{ href: 'http://169.254.169.254/latest' }] },
    { attachments: [{ filename: 'a', content: 'b' }] },
    { alternatives: [{ path: '/etc/passwd' }] },
    { raw: { path: '/etc/passwd' } },
    { headers: { Bcc: 'victim@example.net' } },
    { from: 'boss@bank.example' },
    { bcc: 'victim@example.net' },
  ];

  const template = { name: 'a', subject: 'a', html: '<p>a</p>' };

  test.each(forms)(
    '400 invalid_request: no template and no step takes an attachment: %j',
    async (form) => {
      const { id: provider_id } = (await providersOf(api).create(fieldsOf(sinks, 'smtp'))).body;
      const made = await call('POST', templates(), template);
      expect(made.status).toBe(201);
      expectRefusal(await call('POST', templates(), { ...template, ...form }), 'invalid_request');

      const step = { provider_id, template_id: made.body.id, template_version: 1 };
      const create = (given: object) =>
        call('POST', '/v1/automations', { name: 'a', definition: mailStep(given) });
      // Without it nothing is wrong.
      expect((await create(step)).status).toBe(201);
      expectRefusal(await create({ ...step, ...form }), 'invalid_request');
    },
  );
});

/** What people may be called, and what may be asked for in their name. */
const NAMES = [
  'Ann <boss@bank.example>',
  'a", "Bcc: victim@example.net',
  '=?utf-8?q?From=3A_boss=40bank.example?=',
  '{{ project.name }}{% include "/etc/passwd" %}',
  'ann@example.com, victim@example.net',
];

/** An automation that mails a template to whoever signs up, and its provider. */
const mailing = async (given: object) => {
  const { id: provider_id, ...provider } = (
    await providersOf(api).create(fieldsOf(sinks, 'smtp', { from_name: 'Shop' }))
  ).body;
  const { id: template_id } = (await call('POST', templates(), given)).body;
  const definition = mailStep({ provider_id, template_id, template_version: 1 });
  const { id } = (await call('POST', '/v1/automations', { name: 'Welcome', definition })).body;
  expect((await call('POST', `/v1/automations/${id}/activate`, { version: 1 })).status).toBe(200);
  return {
    provider,
    providerId: provider_id,
    leave: () => call('POST', `/v1/automations/${id}/pause`),
  };
};

test('whatever people are called, the sender stays the provider’s', async () => {
  const template = {
    name: 'Welcome',
    subject: 'Welcome, {{ profile.first_name }}',
    html: '<p>From {{ event.from }}: {{ profile.first_name }}</p>',
    sample: { profile: { first_name: 'Ann' }, event: { from: 'us' } },
  };
  const { provider, leave } = await mailing(template);
  for (const [at, first_name] of NAMES.entries()) {
    const external_id = `person-${at}`;
    const traits = {
      email: `${external_id}@example.com`,
      first_name,
      from_email: 'boss@bank.example',
    };
    await call('POST', '/v1/identify', { external_id, traits });
    const properties = { from: 'boss@bank.example', reply_to: 'boss@bank.example' };
    await call('POST', '/v1/events', { event: 'user_signed_up', external_id, properties });
  }
  const mails = await sinks.smtp.waitFor(NAMES.length);
  for (const { raw, from, to } of mails) {
    const mail = await PostalMime.parse(raw);
    expect([mail.from, from]).toEqual([
      { name: 'Shop', address: provider.from_email },
      provider.from_email,
    ]);
    expect(mail.to).toHaveLength(1);
    expect(to).toEqual([mail.to?.[0]?.address]);
    expect([mail.cc, mail.bcc, mail.replyTo]).toEqual([undefined, undefined, undefined]);
    expect(mail.attachments).toEqual([]);
    expect(mail.messageId?.endsWith(`@${provider.from_email.split('@')[1]}>`)).toBe(true);
  }
  await leave();
});

const LINKS = [
  'https://shop.example/a?b=c&amp;d=%20e#f',
  'http://other.example/',
  'https://shop.example/?to=https%3A%2F%2Felse.example',
];

test('a link in a mail arrives as its template has it', async () => {
  const html = LINKS.map((link) => `<a href="${link}">Go</a>`).join('\n');
  const { leave } = await mailing({ name: 'Links', subject: 'Links', html });
  await call('POST', '/v1/identify', {
    external_id: 'reader',
    traits: { email: 'reader@example.com' },
  });
  await call('POST', '/v1/events', { event: 'user_signed_up', external_id: 'reader' });
  const [mail] = await sinks.smtp.waitFor(1);
  const { html: arrived = '' } = await PostalMime.parse(mail?.raw ?? '');
  const found = [...arrived.matchAll(/<a href="([^"]*)">Go</g)].map(([, link]) => link);
  expect(found).toEqual(LINKS);
  await leave();
});

test('an email reveals no id of the project, the person or the provider', async () => {
  const html = '<p>Hello {{ profile.first_name }}</p>';
  const { providerId, leave } = await mailing({ name: 'Ids', subject: 'Ids', html });
  await call('POST', '/v1/identify', {
    external_id: 'internal-id-of-ann',
    traits: { email: 'ann@example.com', first_name: 'Ann' },
  });
  await call('POST', '/v1/events', { event: 'user_signed_up', external_id: 'internal-id-of-ann' });
  const [mail] = await sinks.smtp.waitFor(1);
  const { rows } = await database.owner.query<{ secret: string }>(
    `select profile_id::text as secret from profiles.profiles where project_id = $1
    union select identity_id::text from identity.identities where project_id = $1
    union select event_id::text from ingest.events where project_id = $1
    union select run_id::text from automations.runs where project_id = $1`,
    [api.project.project_id],
  );
  const secrets = [
    api.project.project_id,
    providerId,
    'internal-id-of-ann',
    ...rows.map(({ secret }) => secret),
  ];
  const { html: body = '', text = '', headers } = await PostalMime.parse(mail?.raw ?? '');
  const said = [mail?.raw.toString(), body, text, ...headers.map(({ value }) => value)].join('\n');
  const tokens = [...said.matchAll(/\/u\/([\w-]+)/g)].map(([, token = '']) => token);
  expect(tokens.length).toBeGreaterThan(0);
  const decoded = tokens.map((token) => Buffer.from(token, 'base64url').toString('hex'));
  for (const secret of secrets)
    for (const spelling of [
      secret,
      secret.replaceAll('-', ''),
      secret.replaceAll('-', '').slice(-12),
    ])
      expect(`${said}\n${decoded.join('\n')}`).not.toContain(spelling);
  await leave();
});
