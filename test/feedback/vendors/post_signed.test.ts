// SendGrid and Resend: the vendor's own signature once the project has set its key, the webhook
// token before.
import { beforeEach, describe, expect, test } from 'vitest';
import { HOURS_24_MINUTES, STANDARD_MINUTES } from '../../../src/feedback/dialects/freshness.ts';
import { createProject } from '../../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../../support/api.ts';
import type { Call } from '../../support/api.ts';
import { testDatabase } from '../../support/database.ts';
import { resendEvent, sendgridEvent } from '../vendor_payloads.ts';
import { someone, webhooksOf } from '../webhooks_of.ts';
import { sendgridKeys, svixSecret } from './signed_posts.ts';

const database = testDatabase();
const api = testApi(database);
const hooks = webhooksOf(database, api);

const keys = sendgridKeys();
const secret = svixSecret();
const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);

/**
 * The same for both: a key, a signature of some age, an event that suppresses, and what is no key.
 */
const VENDORS = {
  sendgrid: {
    key: keys.key,
    sign: (raw: string, at?: Date) => keys.sign(raw, at),
    signOther: (raw: string) => sendgridKeys().sign(raw),
    bodyOf: (email: string) =>
      JSON.stringify([sendgridEvent('bounce', { email, reason: '550 5.1.1 user unknown' })]),
    minutesMax: HOURS_24_MINUTES,
    noKeys: ['a-signing-key', secret.key, keys.key.slice(0, 40)],
  },
  resend: {
    key: secret.key,
    sign: (raw: string, at = new Date()) => secret.sign(raw, { at }),
    signOther: (raw: string) => svixSecret(Buffer.alloc(24, 8)).sign(raw),
    bodyOf: (email: string) =>
      JSON.stringify(
        resendEvent('email.bounced', {
          to: [email],
          bounce: { type: 'Permanent' },
          email_id: email,
        }),
      ),
    minutesMax: STANDARD_MINUTES,
    noKeys: ['a-signing-key', keys.key, 'whsec_', 'whsec_%%%%%%%%%%%%%%%%%%%%'],
  },
};
type Slug = keyof typeof VENDORS;

describe.each(Object.keys(VENDORS) as Slug[])('%s', (slug) => {
  const vendor = VENDORS[slug];
  const post = (raw: string, call: Call = {}, query = '') =>
    hooks.post(slug, raw, { contentType: 'application/json', ...call }, query);
  const setKey = (signing_key: string) =>
    hooks.manage('POST', `/${slug}/signing-key`, { signing_key });
  const withToken = () => ({ key: api.project.hook_token });

  describe('with a key', () => {
    beforeEach(async () => {
      expect((await setKey(vendor.key)).status).toBe(200);
    });

    test('200: what is signed takes effect, without a token', async () => {
      const email = someone();
      const raw = vendor.bodyOf(email);
      const { status, body } = await post(raw, vendor.sign(raw));
      expect([status, body]).toEqual([
        200,
        { received: 1, accepted: 1, duplicates: 0, ignored: 0, errors: [] },
      ]);
      expect(await hooks.reasonOf(email)).toBe('hard_bounce');
    });

    test('200: the same post again is a duplicate, also ten times at once', async () => {
      const raw = vendor.bodyOf(someone());
      const signed = vendor.sign(raw);
      const answers = await Promise.all(Array.from({ length: 10 }, () => post(raw, signed)));
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
      expect(answers.reduce((sum, { body }) => sum + body.accepted, 0)).toBe(1);
    });

    test('200: a retry that is signed anew is the same event', async () => {
      const raw = vendor.bodyOf(someone());
      expect((await post(raw, vendor.sign(raw, ago(1)))).body).toMatchObject({ accepted: 1 });
      expect((await post(raw, vendor.sign(raw))).body).toMatchObject({
        accepted: 0,
        duplicates: 1,
      });
    });

    test('401 invalid_signature: of another key, over another body, or none', async () => {
      const email = someone();
      const raw = vendor.bodyOf(email);
      const signed = vendor.sign(raw);
      const [name = ''] = Object.keys(signed.headers ?? {}).filter((one) =>
        one.endsWith('signature'),
      );
      const withSignature = (value: string) => ({ headers: { ...signed.headers, [name]: value } });
      for (const call of [
        vendor.signOther(raw),
        vendor.sign(`${raw} `),
        {},
        withSignature(''),
        withSignature('v1,AAAA'),
        withSignature('x'.repeat(5_000)),
        { headers: { [name]: signed.headers?.[name] ?? '' } },
      ])
        expectRefusal(await post(raw, call), 'invalid_signature');
      // The token does not replace the signature once there is a key.
      const unsigned = await post(raw, withToken());
      expectRefusal(unsigned, 'invalid_signature');
      expect(unsigned.body.detail).toMatch(/has no signature of .* only signed posts count/);
      expect(await hooks.reasonOf(email)).toBeNull();
    });

    test('401 invalid_signature: at the bound of its age it counts, one second past it not', async () => {
      const { minutesMax } = vendor;
      const at = (minutes: number, ms = 0) => new Date(ago(minutes).getTime() + ms);
      const raw = vendor.bodyOf(someone());
      const SLACK_MS = 30_000;
      expect((await post(raw, vendor.sign(raw, at(minutesMax, SLACK_MS)))).status).toBe(200);
      for (const when of [at(minutesMax, -1_000), at(-6)]) {
        const refused = await post(raw, vendor.sign(raw, when));
        expectRefusal(refused, 'invalid_signature');
        expect(refused.body.detail).toMatch(/clock/);
      }
      const strange = await post(raw, vendor.signOther(raw));
      expect(strange.body.detail).not.toMatch(/clock/);
    });

    test('401 invalid_token: a token that comes with it has to be right', async () => {
      const raw = vendor.bodyOf(someone());
      const signed = vendor.sign(raw);
      expectRefusal(await post(raw, signed, '?token=wrong'), 'invalid_token');
      expect((await post(raw, signed, `?token=${api.project.hook_token}`)).status).toBe(200);
    });

    test('a post whose effect failed is not remembered: it comes again and takes effect', async () => {
      const email = someone();
      const raw = vendor.bodyOf(email);
      const signed = vendor.sign(raw);
      await database.owner.query('revoke insert on feedback.notices from trunkline_runtime');
      try {
        expectRefusal(await post(raw, signed), 'internal_error');
      } finally {
        await database.owner.query('grant insert on feedback.notices to trunkline_runtime');
      }
      expect((await post(raw, signed)).body).toMatchObject({ accepted: 1, duplicates: 0 });
      expect(await hooks.reasonOf(email)).toBe('hard_bounce');
    });

    test('the key is described by its name and time, and is in no answer', async () => {
      const described = await hooks.describe(slug);
      expect(described).toMatchObject({
        verified_by: 'signing_key',
        signing_key: { name: expect.any(String), is_required: false },
        signing_key_set_at: expect.stringMatching(/^\d{4}-/),
      });
      expect(JSON.stringify(described)).not.toContain(vendor.key);
    });

    test('without it again, the token counts; removing it twice changes nothing', async () => {
      for (let times = 0; times < 2; times += 1)
        expect((await hooks.manage('DELETE', `/${slug}/signing-key`)).status).toBe(200);
      expect(await hooks.describe(slug)).toMatchObject({
        verified_by: 'token',
        signing_key_set_at: null,
      });
      const raw = vendor.bodyOf(someone());
      expect((await post(raw, withToken())).body).toMatchObject({ accepted: 1 });
      expectRefusal(await post(raw, vendor.sign(raw)), 'invalid_signature');
    });
  });

  test('without a key: 200 with the token, 401 with a signature alone', async () => {
    api.project = await createProject(database.deps, 'without a key');
    const raw = vendor.bodyOf(someone());
    expect((await post(raw, withToken())).body).toMatchObject({ accepted: 1 });
    expect((await post(raw, vendor.sign(raw), `?token=${api.project.hook_token}`)).status).toBe(
      200,
    );
    const refused = await post(raw, vendor.sign(raw));
    expectRefusal(refused, 'invalid_signature');
    for (const { body } of [refused, await post(raw)]) {
      expect(body.error).toBe('invalid_signature');
      expect(body.detail).toMatch(
        /no webhook token, and no .* key|no webhook token, and no signing/,
      );
      expect(body.detail).toContain('?token=');
    }
  });

  test('400 invalid_request: what is no key of this vendor is not stored', async () => {
    for (const key of vendor.noKeys) {
      const issues = expectRefusal(await setKey(key), 'invalid_request');
      expect(issues.map(({ path }) => path)).toEqual(['/signing_key']);
    }
  });
});

test('Svix may send several signatures while keys change, and the names of Standard Webhooks', async () => {
  await hooks.manage('POST', '/resend/signing-key', { signing_key: secret.key });
  const post = (raw: string, call: Call) => hooks.post('resend', raw, call);
  const raw = () => VENDORS.resend.bodyOf(someone());
  const [first, second] = [raw(), raw()];
  const others = 'v1,AAAA v2,BBBB ';
  expect((await post(first, secret.sign(first, { others }))).status).toBe(200);
  expect((await post(second, secret.sign(second, { prefix: 'webhook' }))).status).toBe(200);
});

test('SendGrid: the second signature that is as good as the first brings no second effect', async () => {
  await hooks.manage('POST', '/sendgrid/signing-key', { signing_key: keys.key });
  const raw = JSON.stringify([
    sendgridEvent('spamreport', { email: someone(), sg_event_id: undefined, timestamp: undefined }),
  ]);
  const at = new Date();
  // ECDSA signs the same with another nonce each time.
  const [a, b] = [keys.sign(raw, at), keys.sign(raw, at)];
  expect(a).not.toEqual(b);
  expect((await hooks.post('sendgrid', raw, a)).body).toMatchObject({ accepted: 1 });
  expect((await hooks.post('sendgrid', raw, b)).body).toMatchObject({ accepted: 0, duplicates: 1 });
});

test('404 not_found: a vendor that does not sign has no key to set', async () => {
  for (const slug of ['postmark', 'smtp', 'amazon-ses', 'nothing'])
    expectRefusal(
      await hooks.manage('POST', `/${slug}/signing-key`, { signing_key: 'x' }),
      'not_found',
    );
});
