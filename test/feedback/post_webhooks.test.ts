import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { ISSUES_MAX } from '../../src/base/parse.ts';
import { issueKey } from '../../src/projects/projects.ts';
import * as identity from '../../src/identity/identity.ts';
import { changeTraits } from '../../src/profiles/profiles.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const doors = () => [
  `/v1/webhooks/smtp/${api.project.project_id}`,
  `/webhooks/smtp/${api.project.project_id}`,
];
const post = (body: unknown, call: Call = {}, path = doors()[0] ?? '') =>
  api.call('POST', path, { key: api.project.hook_token, body, ...call });

let serial = 0;
/** An address nobody used before. */
const someone = () => `person-${(serial += 1)}@example.net`;
const hardBounce = (recipient: string) => ({ event: 'bounce', bounce_type: 'hard', recipient });

const suppressed = async (): Promise<Record<string, string>> => {
  const { body } = await api.call('GET', '/v1/suppressions?limit=200', {
    key: api.project.server_key,
  });
  return Object.fromEntries(
    body.items.map(({ email, reason }: { email: string; reason: string }) => [email, reason]),
  );
};

describe('200', () => {
  test('both doors are the same door', async () => {
    for (const path of doors()) {
      const email = someone();
      const { status, body } = await post(hardBounce(email), {}, path);
      expect(status).toBe(200);
      expect(body).toEqual({ received: 1, accepted: 1, duplicates: 0, ignored: 0, errors: [] });
      expect(await suppressed()).toMatchObject({ [email]: 'hard_bounce' });
    }
  });

  test('the token comes as Bearer, as Basic password, in a header of its own, or in the address', async () => {
    const { hook_token: token } = api.project;
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const ways: [Call, string?][] = [
      [{ headers: { authorization: `Bearer ${token}` } }],
      [{ headers: { authorization: basic(`anybody:${token}`) } }],
      [{ headers: { authorization: basic(`:${token}`) } }],
      [{ headers: { 'x-webhook-token': token } }],
      [{}, `?token=${token}`],
      [{}, `?provider=x&token=${token}&token=x`],
    ];
    for (const [call, query = ''] of ways) {
      const email = someone();
      const { status } = await post(
        hardBounce(email),
        { key: null, ...call },
        `${doors()[0]}${query}`,
      );
      expect(status).toBe(200);
      expect(await suppressed()).toHaveProperty([email]);
    }
  });

  test('either of two tokens of a project will do, so that they can be changed without a gap', async () => {
    const key = await issueKey(database.deps, api.project.project_id, 'hook');
    expect((await post(hardBounce(someone()), { key })).status).toBe(200);
    expect((await post(hardBounce(someone()))).status).toBe(200);
  });

  test('one event, a list, or a list in an envelope', async () => {
    const [a, b, c, d] = [someone(), someone(), someone(), someone()];
    expect((await post([hardBounce(a), hardBounce(b)])).body).toMatchObject({
      received: 2,
      accepted: 2,
    });
    expect((await post({ events: [hardBounce(c), hardBounce(d)], more: 1 })).body).toMatchObject({
      received: 2,
      accepted: 2,
    });
    expect(Object.keys(await suppressed())).toEqual(expect.arrayContaining([a, b, c, d]));
  });

  test('a bad event does not hold up the good ones, and is named', async () => {
    const email = someone();
    const { status, body } = await post([
      { event: 'bounce' },
      hardBounce(email),
      null,
      { recipient: email },
    ]);
    expect(status).toBe(200);
    expect(body).toMatchObject({ received: 4, accepted: 1, duplicates: 0, ignored: 0 });
    expect(body.errors).toEqual([
      { index: 0, path: '/0/recipient', message: 'recipient is required: one e-mail address' },
      { index: 2, path: '/2', message: 'must be an object' },
      {
        index: 3,
        path: '/3/event',
        message: 'event is required: what happened, such as "bounce"',
      },
    ]);
    expect(await suppressed()).toHaveProperty([email]);
  });

  test.each([ISSUES_MAX, ISSUES_MAX + 1])(
    'of %i bad events all are counted, and no more are named than one answer lists',
    async (count) => {
      const bad = Array.from({ length: count }, () => ({ event: 'bounce' }));
      const { body } = await post([hardBounce(someone()), ...bad]);
      expect(body).toMatchObject({ received: count + 1, accepted: 1 });
      expect(body.errors).toHaveLength(ISSUES_MAX);
      expect(body.errors[0]).toMatchObject({ index: 1, path: '/1/recipient' });
    },
  );

  test('the same notice twice, in one body or two, is one notice', async () => {
    const notice = { ...hardBounce(someone()), event_id: 'evt-1' };
    expect((await post([notice, notice])).body).toMatchObject({
      received: 2,
      accepted: 1,
      duplicates: 1,
    });
    expect((await post(notice)).body).toMatchObject({ received: 1, accepted: 0, duplicates: 1 });
    const { rows } = await database.owner.query(
      'select from suppression.history join suppression.addresses using (project_id, address_key) where email = $1',
      [notice.recipient],
    );
    expect(rows).toHaveLength(1);
  });

  test('an id that names a message hides no complaint, and nobody else of whom it is told', async () => {
    const [ann, bob] = [someone(), someone()];
    const tell = (event: string, recipient: string) => post({ event, recipient, id: 'm1' });
    await tell('delivered', ann);
    expect((await tell('complaint', ann)).body).toMatchObject({ accepted: 1, duplicates: 0 });
    expect((await tell('complaint', bob)).body).toMatchObject({ accepted: 1, duplicates: 0 });
    expect((await tell('complaint', bob)).body).toMatchObject({ accepted: 0, duplicates: 1 });
    expect(await suppressed()).toMatchObject({ [ann]: 'complaint', [bob]: 'complaint' });
  });

  test('the same notice at the same time, ten times over, has one effect', async () => {
    const notice = { ...hardBounce(someone()), event_id: 'evt-race' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(notice)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(answers.reduce((sum, { body }) => sum + body.accepted, 0)).toBe(1);
  });

  test('lists that name the same addresses in opposite orders do not stop one another', async () => {
    const notices = Array.from({ length: 40 }, () => hardBounce(someone()));
    const answers = await Promise.all([
      post(notices.map((notice, at) => ({ ...notice, event_id: `a-${at}` }))),
      post(notices.toReversed().map((notice, at) => ({ ...notice, event_id: `b-${at}` }))),
    ]);
    for (const { status, body } of answers) expect([status, body.accepted]).toEqual([200, 40]);
  });

  test('what says nothing of the mailbox suppresses nobody', async () => {
    const email = someone();
    const events = [
      'delivered',
      'deferred',
      'soft_bounce',
      'opened',
      'click',
      'unsubscribe',
      'rejected',
      'something new',
    ];
    for (const event of events) expect((await post({ event, recipient: email })).status).toBe(200);
    for (const bounce_type of ['soft', 'block', 'temporary', undefined])
      expect((await post({ event: 'bounce', bounce_type, recipient: email })).status).toBe(200);
    expect(await suppressed()).not.toHaveProperty([email]);
  });

  test('a complaint outweighs a hard bounce in any order', async () => {
    const [a, b] = [someone(), someone()];
    for (const notice of [
      hardBounce(a),
      { event: 'spam_complaint', recipient: a },
      { event: 'complained', recipient: b },
      hardBounce(b),
    ])
      expect((await post(notice)).status).toBe(200);
    expect(await suppressed()).toMatchObject({ [a]: 'complaint', [b]: 'complaint' });
  });

  test('a list of 500 is taken', async () => {
    const { body } = await post(
      Array.from({ length: 500 }, (_, at) => ({
        event: 'delivered',
        recipient: someone(),
        event_id: `many-${at}`,
      })),
    );
    expect(body).toMatchObject({ received: 500, accepted: 500 });
  });
});

describe('200: the person', () => {
  beforeAll(async () => {
    await api.call('POST', '/v1/events', {
      key: api.project.server_key,
      body: { event: 'signed_up', external_id: 'ann' },
    });
    await api.processEvents();
  });
  beforeEach(() =>
    inProject(database.deps, api.project.project_id, async (scope) => {
      const known = await identity.findByValue(scope, 'external', 'ann');
      await changeTraits(scope, {
        identityId: known?.identity_id ?? '',
        traits: { email: 'Ann@Example.com' },
        setAt: new Date(),
        authority: 'server',
      });
    }),
  );
  const ann = async () => {
    const { body } = await api.call('GET', '/v1/profiles/external_id:ann', {
      key: api.project.server_key,
    });
    return { tags: body.tags, suppressed: body.suppressed };
  };

  test('with the address is tagged and suppressed, however the provider writes it', async () => {
    expect(await ann()).toEqual({ tags: [], suppressed: false });
    await post(hardBounce('Ann <ANN@example.com>'));
    expect(await ann()).toEqual({ tags: ['hard_bounced'], suppressed: true });
    await post({ event: 'complaint', recipient: 'ann@EXAMPLE.com' });
    expect(await ann()).toEqual({ tags: ['complained', 'hard_bounced'], suppressed: true });
    await post({ event: 'complaint', recipient: 'ann@example.com', event_id: 'another' });
    expect((await ann()).tags).toEqual(['complained', 'hard_bounced']);
  });
});

describe('refusals', () => {
  test('400 invalid_request: when nothing of it is understood, and why', async () => {
    const issues = expectRefusal(
      await post([
        { event: 'bounce' },
        { recipient: 'a@example.net' },
        { event: 'bounce', recipient: 'nobody' },
        1,
      ]),
      'invalid_request',
    );
    expect(issues.map(({ path }) => path)).toEqual([
      '/0/recipient',
      '/1/event',
      '/2/recipient',
      '/3',
    ]);
  });

  test('400 invalid_request: an issue points into the body as it was sent', async () => {
    const inEnvelope = expectRefusal(
      await post({ events: [{ event: 'bounce' }] }),
      'invalid_request',
    );
    expect(inEnvelope.map(({ path }) => path)).toEqual(['/events/0/recipient']);
    const alone = expectRefusal(await post({ event: 'bounce' }), 'invalid_request');
    expect(alone.map(({ path }) => path)).toEqual(['/recipient']);
  });

  test('400 invalid_request: none, or one more than a list holds', async () => {
    for (const size of [0, 501]) {
      const events = Array.from({ length: size }, () => ({
        event: 'delivered',
        recipient: someone(),
      }));
      expectRefusal(await post(events), 'invalid_request');
      expectRefusal(await post({ events }), 'invalid_request');
    }
  });

  test('400 invalid_json: bytes that are no UTF-8 are not guessed at', async () => {
    const bytes = Buffer.from(JSON.stringify({ ...hardBounce(someone()), reason: '?' }));
    bytes[bytes.lastIndexOf('?')] = 0xff;
    expectRefusal(await post(bytes), 'invalid_json');
  });

  test('401 invalid_token: a wrong token has no effect, wherever it stands', async () => {
    const email = someone();
    const revoked = await issueKey(database.deps, api.project.project_id, 'hook');
    await database.owner.query(
      'update projects.api_keys set revoked_at = now() where last_four = $1',
      [revoked.slice(-4)],
    );
    for (const token of ['', 'x', revoked, api.project.server_key, api.project.publishable_key])
      for (const headers of [
        { authorization: `Bearer ${token}` },
        { authorization: `Basic ${Buffer.from(`a:${token}`).toString('base64')}` },
        { 'x-webhook-token': token },
      ])
        expectRefusal(await post(hardBounce(email), { key: null, headers }), 'invalid_token');
    const path = `${doors()[0]}?token=${revoked}`;
    const refused = await post(hardBounce(email), { key: null }, path);
    expectRefusal(refused, 'invalid_token');
    // Alike for a key that is good elsewhere, and naming what is good here.
    const { detail } = (await post(hardBounce(email), { key: api.project.server_key })).body;
    expect([detail, refused.body.detail]).toEqual([expect.stringContaining('svc_hook_'), detail]);
    expect(await suppressed()).not.toHaveProperty([email]);
  });

  test('404 not_found: a slug that nobody speaks, whoever asks', async () => {
    for (const slug of ['nothing', 'SMTP', 'constructor', '__proto__', '%00', '%2e%2e'])
      for (const key of [null, api.project.hook_token]) {
        const path = `/v1/webhooks/${slug}/${api.project.project_id}`;
        expectRefusal(await post(hardBounce(someone()), { key }, path), 'not_found');
      }
  });

  test('200: the token’s project, in capitals', async () => {
    const id = api.project.project_id.toUpperCase();
    for (const path of [`/v1/webhooks/smtp/${id}`, `/webhooks/smtp/${id}`])
      expect(await post(hardBounce(someone()), {}, path)).toMatchObject({ status: 200 });
    expectRefusal(
      await post(hardBounce(someone()), { key: null }, `/v1/webhooks/smtp/${id}`),
      'invalid_token',
    );
  });

  test('404 not_found: a project that is not the token’s', async () => {
    for (const id of ['01890000-0000-7000-8000-000000000000', 'x', '%00'])
      expectRefusal(await post(hardBounce(someone()), {}, `/webhooks/smtp/${id}`), 'not_found');
  });
});

describe('what a relay may write without breaking anything', () => {
  const members = [
    'event_id',
    'message_id',
    'reason',
    'event',
    'enhanced_code',
    'bounce_type',
    'send_id',
  ];

  test.each(members)('U+0000 in %s', async (member) => {
    const { status } = await post({ ...hardBounce(someone()), [member]: 'bounce\u0000' });
    expect([200, 400]).toContain(status);
  });

  test.each(members)('half a character in %s', async (member) => {
    const { status } = await post({ ...hardBounce(someone()), [member]: 'bounce\ud800' });
    expect([200, 400]).toContain(status);
  });

  test.each([
    0,
    -1,
    -8e12,
    8.64e15,
    1e300,
    '',
    'never',
    '0000-01-01T00:00:00Z',
    '-271821-04-20T00:00:00Z',
    '+275760-09-13T00:00:00Z',
  ])('a time of %j', async (occurred_at) => {
    const { status } = await post({ ...hardBounce(someone()), occurred_at });
    expect([200, 400]).toContain(status);
  });

  test('an address that is none', async () => {
    for (const recipient of [
      'a\u0000@example.net',
      '\ud800@example.net',
      `${'a'.repeat(300)}@example.net`,
      'a@b, c@d',
      '<>',
      1,
      null,
      ['a@example.net'],
    ])
      expectRefusal(await post({ ...hardBounce(''), recipient }), 'invalid_request');
  });
});
