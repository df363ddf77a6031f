// The reverse-path by service, replies, and the whole of a domain.
import { describe, expect, test } from 'vitest';
import { factsOf } from '../../../src/providers/domain_health/email_services.ts';
import { checkWith, GOOGLE, GOOGLE_SPF, RELAY, said, SES } from './domains.ts';
import type { Records } from './domains.ts';

const BOUNCE = 'bounce.shop.test';
const SES_MX = 'feedback-smtp.eu-west-1.amazonses.com';

const mailFromOf = async (
  records: Records,
  through = SES,
  mailFromDomain: string | null = BOUNCE,
) => {
  const { mail_from } = await checkWith({ [BOUNCE]: records }, { through, mailFromDomain });
  return { domain: mail_from.domain, ...said(mail_from) };
};

describe('Amazon SES', () => {
  test('has a reverse-path of its own by default', async () => {
    expect(await mailFromOf({}, SES, null)).toEqual({
      domain: null,
      status: 'good',
      code: 'mail_from_service',
      summary:
        'Amazon SES uses a reverse-path of its own unless you set one up. DMARC then depends on DKIM.',
      advice: ['If you have set one up, enter its MAIL FROM domain and check again.'],
    });
  });

  test('needs an MX record of the region and an SPF record: both are shown', async () => {
    expect(await mailFromOf({})).toEqual({
      domain: BOUNCE,
      status: 'bad',
      code: 'mail_from_exchange',
      summary: `${BOUNCE} has no MX record that leads to ${SES_MX}, so Amazon SES does not use it.`,
      advice: [
        `There is no SPF record at ${BOUNCE}.`,
        `A record of shop.test does not apply to ${BOUNCE}.`,
      ],
      publish: `${BOUNCE} MX 10 ${SES_MX}`,
      also: [`${BOUNCE} TXT v=spf1 include:amazonses.com -all`],
    });
    expect(await mailFromOf({ MX: [[10, SES_MX]] })).toMatchObject({
      code: 'spf_missing',
      publish: `${BOUNCE} TXT v=spf1 include:amazonses.com -all`,
    });
  });

  test.each(['-all', '~all'])(
    'is in order with both, ending with %s as its manual has it',
    async (end) => {
      const records: Records = { MX: [[10, SES_MX]], TXT: [`v=spf1 include:amazonses.com ${end}`] };
      expect(await mailFromOf(records)).toEqual({
        domain: BOUNCE,
        status: 'good',
        code: 'mail_from_ok',
        summary: `The reverse-path ${BOUNCE} passes SPF.`,
      });
      const { alignment } = await checkWith({ [BOUNCE]: records }, { mailFromDomain: BOUNCE });
      expect(alignment.advice).toEqual([
        `Email from the reverse-path ${BOUNCE} passes DMARC by SPF, too.`,
      ]);
    },
  );

  test('refuses the sender’s own domain, and one of another organization', async () => {
    for (const mailFromDomain of ['shop.test', 'bounce.other.test'])
      expect((await checkWith({}, { mailFromDomain })).mail_from.code).toBe('mail_from_place');
  });

  test('of another region has another MX record', async () => {
    const through = { provider: 'smtp', smtp_host: 'email-smtp.us-east-2.amazonaws.com' } as const;
    expect(await mailFromOf({ MX: [[10, SES_MX]] }, through)).toMatchObject({
      publish: `${BOUNCE} MX 10 feedback-smtp.us-east-2.amazonses.com`,
    });
  });
});

describe('SMTP2GO', () => {
  const through = { provider: 'relay_api' } as const;

  test('needs one CNAME', async () => {
    expect(await mailFromOf({ CNAME: ['return.smtp2go.net'] }, through)).toEqual({
      domain: BOUNCE,
      status: 'good',
      code: 'mail_from_ok',
      summary: `The reverse-path ${BOUNCE} leads to SMTP2GO.`,
    });
    expect(await mailFromOf({ A: ['192.0.2.1'] }, through)).toEqual({
      domain: BOUNCE,
      status: 'bad',
      code: 'mail_from_alias',
      summary: `${BOUNCE} does not point to return.smtp2go.net, so SMTP2GO cannot use it as reverse-path.`,
      publish: `${BOUNCE} CNAME return.smtp2go.net`,
    });
  });
});

describe('a relay', () => {
  test('takes the sender as reverse-path', async () => {
    const zone = { 'shop.test': { TXT: ['v=spf1 ip4:192.0.2.25 -all'] } };
    const { mail_from } = await checkWith(zone, { through: RELAY, fromEmail: 'hello@shop.test' });
    expect({ domain: mail_from.domain, ...said(mail_from) }).toEqual({
      domain: 'shop.test',
      status: 'good',
      code: 'mail_from_sender',
      summary:
        'The reverse-path is hello@shop.test, so receivers check the SPF record of shop.test.',
    });
  });

  test('whose sender has no SPF record in order', async () => {
    const { mail_from } = await checkWith(GOOGLE_SPF, { through: GOOGLE });
    expect(mail_from).toMatchObject({ status: 'bad', code: 'mail_from_fails' });
  });

  test('that puts a domain of its own there: its SPF record counts, and has to be aligned', async () => {
    const records: Records = { TXT: ['v=spf1 ip4:192.0.2.25 -all'] };
    expect(await mailFromOf(records, RELAY)).toMatchObject({
      status: 'good',
      code: 'mail_from_ok',
    });
    const zone = { 'relay.test': records, 's1._domainkey.shop.test': {} };
    const { mail_from, alignment } = await checkWith(zone, {
      through: RELAY,
      mailFromDomain: 'relay.test',
    });
    expect([mail_from.status, alignment.code]).toEqual(['good', 'aligned_none']);
  });
});

describe('replies', () => {
  const texts = { TXT: ['v=spf1 include:amazonses.com -all'] };
  const repliesOf = async (records: Records | null, replyTo: string | null = null) =>
    said((await checkWith({ 'shop.test': records }, { replyTo })).replies);

  test('arrive at an exchange with an address', async () => {
    expect(
      await repliesOf({
        ...texts,
        MX: [
          [20, 'mx.shop.test'],
          [10, 'gone.test'],
        ],
      }),
    ).toEqual({
      status: 'good',
      code: 'replies_ok',
      summary: 'Replies go to mx.shop.test.',
    });
  });

  test('are lost without one', async () => {
    expect(await repliesOf({ ...texts, MX: [[10, 'gone.test']] })).toEqual({
      status: 'bad',
      code: 'replies_lost',
      summary: 'No MX record of shop.test leads to an address, so replies do not arrive.',
    });
    expect(await repliesOf(texts)).toEqual({
      status: 'warning',
      code: 'replies_missing',
      summary: 'shop.test has neither an MX record nor an address, so replies do not arrive.',
    });
    expect(await repliesOf({ ...texts, A: ['192.0.2.1'] })).toEqual({
      status: 'warning',
      code: 'replies_implicit',
      summary:
        'shop.test has no MX record, so replies go to its own address. Publish an MX record.',
    });
  });

  test('are refused by a null MX, wherever replies go', async () => {
    const refused = {
      status: 'bad',
      code: 'replies_refused',
      summary:
        'shop.test states that it takes no email (null MX). Replies fail, and some receivers refuse its email.',
    };
    expect(await repliesOf({ ...texts, MX: [[0, '']] })).toEqual(refused);
    expect(await repliesOf({ ...texts, MX: [[0, '']] }, 'help@mx.shop.test')).toEqual(refused);
  });

  test('go to reply_to where there is one', async () => {
    expect(await repliesOf({ ...texts }, 'help@gone.test')).toMatchObject({
      summary: 'gone.test has neither an MX record nor an address, so replies do not arrive.',
    });
  });
});

test('a domain with everything published is good, and the worst finding is the status of the whole', async () => {
  const health = await checkWith({});
  expect(health).toMatchObject({ domain: 'shop.test', organisation: 'shop.test', status: 'good' });
  expect((await checkWith({ '_dmarc.shop.test': {} })).status).toBe('bad');
  expect((await checkWith({ '_dmarc.shop.test': null })).status).toBe('unknown');
  const softly: Records = { TXT: ['v=spf1 include:amazonses.com ~all'], MX: [[1, 'mx.shop.test']] };
  expect((await checkWith({ 'shop.test': softly })).status).toBe('warning');
});

test('a parked domain is bad by SPF and by MX, and a way out is proposed', async () => {
  const parked: Records = { TXT: ['v=spf1 -all'], MX: [[0, '']] };
  const { status, spf, replies } = await checkWith({ 'shop.test': parked });
  expect([status, spf.code, replies.code]).toEqual(['bad', 'spf_no_senders', 'replies_refused']);
  expect(spf.publish?.value).toBe('v=spf1 include:amazonses.com -all');
});

test('what is known of a service follows from its connection', () => {
  const includeOf = (smtp_host: string) => factsOf({ provider: 'smtp', smtp_host }).include;
  expect(factsOf({ provider: 'relay_api' }).include).toBe('spf.smtp2go.com');
  expect(factsOf({ provider: 'cloud_api' })).toMatchObject({ include: 'amazonses.com' });
  expect(factsOf({ provider: 'cloud_api' }).mailFromRecords).toBeUndefined();
  expect(includeOf('mail-eu.SMTP2GO.com')).toBe('spf.smtp2go.com');
  expect(includeOf('email-smtp.eu-west-1.amazonaws.com')).toBe('amazonses.com');
  expect(includeOf('email-smtp-fips.us-east-1.amazonaws.com')).toBe('amazonses.com');
  expect(includeOf('smtp.eu.mailgun.org')).toBe('mailgun.org');
  expect(includeOf('smtp-relay.gmail.com')).toBe('_spf.google.com');
  expect(includeOf('smtp.office365.com')).toBe('spf.protection.outlook.com');
  expect(includeOf('relay.shop.test')).toBe(null);
  expect(includeOf('evilmailgun.org')).toBe(null);
});
