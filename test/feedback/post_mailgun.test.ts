import { beforeEach, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { mailgunEvent, signAs } from './told.ts';
import type { Signature } from './told.ts';
import { someone, webhooksOf } from './webhooks_of.ts';

const database = testDatabase();
const api = testApi(database);
const hooks = webhooksOf(database, api);

const KEY = 'the-signing-key-of-the-account';
const hardBounce = (recipient: string) =>
  mailgunEvent({
    event: 'failed',
    severity: 'permanent',
    reason: 'bounce',
    recipient,
    'delivery-status': { code: 550, message: '5.1.1 unknown' },
  });
const bodyOf = (event: object, signature: Signature | object = signAs(KEY)) => ({
  signature,
  'event-data': event,
});
const post = (body: unknown, call: Call = {}, query = '') =>
  hooks.post('mailgun', body, call, query);
const setKey = (signing_key: unknown) =>
  hooks.manage('POST', '/mailgun/signing-key', { signing_key });

beforeEach(async () => {
  expect((await setKey(KEY)).status).toBe(200);
});

test('200: what is signed with the project’s key takes effect, without a token', async () => {
  const email = someone();
  const { status, body } = await post(bodyOf(hardBounce(email)));
  expect([status, body]).toEqual([
    200,
    { received: 1, accepted: 1, duplicates: 0, ignored: 0, errors: [] },
  ]);
  expect(await hooks.reasonOf(email)).toBe('hard_bounce');
});

test('200: what the parent account signed takes effect', async () => {
  const email = someone();
  const body = {
    ...bodyOf(hardBounce(email), signAs('sub-account')),
    'parent-signature': signAs(KEY),
  };
  expect((await post(body)).status).toBe(200);
  expect(await hooks.reasonOf(email)).toBe('hard_bounce');
});

test('200: the same post again is a duplicate, also ten times at once', async () => {
  const body = bodyOf(hardBounce(someone()));
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(body)));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
  expect(answers.reduce((sum, answer) => sum + answer.body.accepted, 0)).toBe(1);
  expect((await post(body)).body).toMatchObject({ received: 1, accepted: 0, duplicates: 1 });
});

test('200: the same event signed anew is a duplicate', async () => {
  const event = hardBounce(someone());
  expect((await post(bodyOf(event))).body.accepted).toBe(1);
  expect((await post(bodyOf(event))).body).toMatchObject({ accepted: 0, duplicates: 1 });
});

test('200: a trial run and an event that nobody knows are kept and change nothing', async () => {
  const email = someone();
  const trial = { ...hardBounce(email), flags: { 'is-test-mode': true } };
  for (const event of [trial, mailgunEvent({ event: 'new', recipient: email })])
    expect((await post(bodyOf(event))).body).toMatchObject({ accepted: 0, ignored: 1 });
  expect(await hooks.reasonOf(email)).toBeNull();
});

test('200: what is signed and cannot be read is said so, and not asked for again', async () => {
  for (const event of [
    {},
    { event: 'failed' },
    null,
    [],
    'x',
    { event: 'x', recipient: 'nobody' },
  ]) {
    const { status, body } = await post(bodyOf(event as object));
    expect([status, body.accepted, body.errors.length]).toEqual([200, 0, 1]);
  }
});

test('200: a project’s token may come with it, and then has to be right', async () => {
  const { hook_token: token } = api.project;
  expect((await post(bodyOf(hardBounce(someone())), {}, `?token=${token}`)).status).toBe(200);
  const email = someone();
  expectRefusal(await post(bodyOf(hardBounce(email)), {}, '?token=wrong'), 'invalid_token');
  expectRefusal(
    await post(bodyOf(hardBounce(email)), { key: api.project.server_key }),
    'invalid_token',
  );
  expect(await hooks.reasonOf(email)).toBeNull();
});

test('401 invalid_signature: a signature that is wrong, old or missing has no effect', async () => {
  const email = someone();
  const event = hardBounce(email);
  const day = 86_400_000;
  for (const signature of [
    signAs('another key'),
    signAs(KEY, { at: new Date(Date.now() - day - 60_000) }),
    signAs(KEY, { at: new Date(Date.now() + 6 * 60_000) }),
    { ...signAs(KEY), token: 'another' },
    {},
    null,
    [],
  ])
    expectRefusal(await post(bodyOf(event, signature as object)), 'invalid_signature');
  expectRefusal(await post({ 'event-data': event }), 'invalid_signature');
  expectRefusal(await post([bodyOf(event)]), 'invalid_signature');
  expect(await hooks.reasonOf(email)).toBeNull();
});

test('401 invalid_signature: whoever signed at another time is told of clocks, nobody else is', async () => {
  const event = hardBounce(someone());
  const day = 86_400_000;
  const detailOf = async (signature: Signature) =>
    (await post(bodyOf(event, signature))).body.detail as string;
  for (const ms of [-day - 60_000, 6 * 60_000])
    expect(await detailOf(signAs(KEY, { at: new Date(Date.now() + ms) }))).toMatch(/clock/);
  for (const key of ['another key', ''])
    expect(await detailOf(signAs(key, { at: new Date(0) }))).not.toMatch(/clock/);
});

test('401 invalid_signature: a project that has set no key takes nothing, whoever signs', async () => {
  const { project_id } = await createProject(database.deps, 'without a key');
  for (const key of [KEY, ''])
    expectRefusal(
      await api.call('POST', `/v1/webhooks/mailgun/${project_id}`, {
        body: bodyOf(hardBounce(someone()), signAs(key)),
      }),
      'invalid_signature',
    );
});

test('401 invalid_signature: without a key no token is offered, because none would do', async () => {
  const project = await createProject(database.deps, 'without a key');
  const path = `/v1/webhooks/mailgun/${project.project_id}`;
  const body = bodyOf(hardBounce(someone()));
  const { signature: _, ...unsigned } = body as Record<string, unknown>;
  for (const call of [
    { body },
    { body, key: project.hook_token },
    { body: unsigned, key: project.hook_token },
  ]) {
    const refused = await api.call('POST', path, call);
    expectRefusal(refused, 'invalid_signature');
    expect(refused.body.detail).toMatch(/^No HTTP webhook signing key is set/);
    expect(refused.body.detail).toContain('a webhook token does not replace it');
  }
});

test('401 invalid_signature: a key that was replaced does not count any more', async () => {
  await setKey('the-next-key');
  expectRefusal(await post(bodyOf(hardBounce(someone()))), 'invalid_signature');
  expect((await post(bodyOf(hardBounce(someone()), signAs('the-next-key')))).status).toBe(200);
});

test('200: a project in capitals is the same, and so are its addresses', async () => {
  const email = someone();
  const path = `/v1/webhooks/mailgun/${api.project.project_id.toUpperCase()}`;
  const body = bodyOf(hardBounce(email));
  expect(await api.call('POST', path, { body })).toMatchObject({ body: { accepted: 1 } });
  expect(await hooks.reasonOf(email)).toBe('hard_bounce');
  expect((await post(body)).body).toMatchObject({ accepted: 0, duplicates: 1 });
  expect(
    (await post(bodyOf(mailgunEvent({ event: 'unsubscribed', recipient: email })))).status,
  ).toBe(200);
  const { rows } = await database.owner.query(
    'select from suppression.addresses where project_id = $1 and email = $2',
    [api.project.project_id, email],
  );
  expect(rows).toHaveLength(1);
});

test('404 not_found: a project that is not there', async () => {
  for (const id of ['01890000-0000-7000-8000-000000000000', 'x', '%00'])
    expectRefusal(
      await api.call('POST', `/v1/webhooks/mailgun/${id}`, { body: bodyOf({}) }),
      'not_found',
    );
});

test('406 webhook_replayed: a signature is good for one body', async () => {
  const signature = signAs(KEY);
  expect((await post(bodyOf(hardBounce(someone()), signature))).status).toBe(200);
  const email = someone();
  expectRefusal(await post(bodyOf(hardBounce(email), signature)), 'webhook_replayed');
  expect(await hooks.reasonOf(email)).toBeNull();
});

test('406 webhook_replayed: attack: characters that no signature covers make no new token', async () => {
  const signature = signAs(KEY);
  expect((await post(bodyOf(hardBounce(someone()), signature))).status).toBe(200);
  const email = someone();
  for (const token of [`${signature.token}\0`, `\0${signature.token}`])
    expectRefusal(
      await post(bodyOf(hardBounce(email), { ...signature, token })),
      'webhook_replayed',
    );
  expect(await hooks.reasonOf(email)).toBeNull();
});

test('a post whose effect failed is not remembered: it comes again and takes effect', async () => {
  const email = someone();
  const body = bodyOf(hardBounce(email));
  await database.owner.query('revoke insert on feedback.notices from trunkline_runtime');
  try {
    expectRefusal(await post(body), 'internal_error');
  } finally {
    await database.owner.query('grant insert on feedback.notices to trunkline_runtime');
  }
  expect((await post(body)).body).toMatchObject({ accepted: 1, duplicates: 0 });
  expect(await hooks.reasonOf(email)).toBe('hard_bounce');
});

test('415 unsupported_media_type: the form of their old webhooks is not taken', async () => {
  expectRefusal(
    await post('event=bounced', { contentType: 'application/x-www-form-urlencoded' }),
    'unsupported_media_type',
  );
});

test('the key is kept sealed, shown to nobody, and of its project alone', async () => {
  const { rows } = await database.owner.query<{ sealed: Buffer }>(
    'select * from feedback.signing_keys',
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(KEY);
  expect(rows.some(({ sealed }) => sealed.includes(Buffer.from(KEY)))).toBe(false);
  const { body } = await hooks.manage('GET', '');
  expect(JSON.stringify(body)).not.toContain(KEY);
  expect((await hooks.describe('mailgun')).signing_key_set_at).toMatch(/^\d{4}-/);

  // Another project's key does not open here.
  const other = await createProject(database.deps, 'other');
  await database.owner.query(
    `insert into feedback.signing_keys select $1, source, key_version, sealed, set_at
     from feedback.signing_keys where project_id = $2`,
    [other.project_id, api.project.project_id],
  );
  const path = `/v1/webhooks/mailgun/${other.project_id}`;
  const { status } = await api.call('POST', path, { body: bodyOf(hardBounce(someone())) });
  expect(status).toBe(500);
});
