import { generateKeyPairSync } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { describe, expect, test } from 'vitest';
import { includeOf, lookAtDomain } from '../../src/providers/domain_health.ts';
import type { Look } from '../../src/providers/domain_health.ts';
import { SPF_LOOKUPS_MAX } from '../../src/providers/domain_spf.ts';
import { nameServer } from '../support/name_server.ts';
import type { Zone } from '../support/name_server.ts';

const keyOf = (modulusLength: number): string =>
  generateKeyPairSync('rsa', { modulusLength })
    .publicKey.export({ format: 'der', type: 'spki' })
    .toString('base64');
const KEY = `v=DKIM1; k=rsa; p=${keyOf(2048)}`;
const DMARC = 'v=DMARC1; p=none; rua=mailto:reports@shop.test; fo=1';

const GOOD: Zone = {
  'shop.test': { TXT: ['v=spf1 include:amazonses.com -all'], MX: [[10, 'mx.shop.test']] },
  'amazonses.com': { TXT: ['v=spf1 ip4:199.255.192.0/22 -all'] },
  's1._domainkey.shop.test': { CNAME: ['token.dkim.amazonses.com'] },
  'token.dkim.amazonses.com': { TXT: [KEY] },
  '_dmarc.shop.test': { TXT: [DMARC] },
};

const look = async (changes: Zone, asked: Partial<Look> = {}) => {
  const { address } = await nameServer({ ...GOOD, ...changes });
  const reader = new Resolver({ timeout: 300, tries: 1 });
  reader.setServers([address]);
  const wanted = { fromEmail: 'Hello@SHOP.test', include: 'amazonses.com', selectors: ['s1'] };
  return lookAtDomain(reader, { ...wanted, ...asked });
};
const spfOf = async (texts: string[], more: Zone = {}) =>
  (await look({ ...more, 'shop.test': { TXT: texts, MX: [[10, 'mx.shop.test']] } })).spf;

test('a domain with everything published is good', async () => {
  const health = await look({});
  expect(health).toMatchObject({ domain: 'shop.test', organisation: 'shop.test', status: 'good' });
  expect(health.dkim).toMatchObject([{ selector: 's1', status: 'good' }]);
  expect(health.dkim[0]?.found).toEqual(['CNAME token.dkim.amazonses.com', KEY]);
  expect(health.alignment.status).toBe('good');
});

test('the worst finding is the status of the whole', async () => {
  expect((await look({ '_dmarc.shop.test': {} })).status).toBe('bad');
  expect((await look({ '_dmarc.shop.test': null })).status).toBe('unknown');
  const soft = { TXT: ['v=spf1 include:amazonses.com ~all'], MX: [[1, 'mx.shop.test']] };
  expect((await look({ 'shop.test': soft as Zone[string] })).status).toBe('warning');
});

describe('SPF', () => {
  const publish = (value: string) => ({ name: 'shop.test', type: 'TXT', value });

  test('no record: the one to publish', async () => {
    expect(await spfOf(['other text'])).toMatchObject({
      status: 'bad',
      publish: publish('v=spf1 include:amazonses.com -all'),
    });
  });

  test('a record without the provider: merged, everything that was there kept', async () => {
    const found = 'v=spf1 include:_spf.mail.test ip4:192.0.2.1 ~all';
    expect(await spfOf([found])).toMatchObject({
      status: 'bad',
      found: [found],
      publish: publish('v=spf1 include:_spf.mail.test ip4:192.0.2.1 include:amazonses.com -all'),
    });
  });

  test('several records fail: merged into one, nothing twice', async () => {
    const spf = await spfOf(['v=spf1 include:amazonses.com mx -all', 'v=spf1 mx a ~all']);
    expect(spf).toMatchObject({
      status: 'bad',
      publish: publish('v=spf1 include:amazonses.com mx a -all'),
    });
  });

  test.each([
    ['+all', 'bad'],
    ['all', 'bad'],
    ['?all', 'warning'],
    ['~all', 'warning'],
    ['', 'warning'],
  ])('that ends with %j is %s, and what to publish ends with -all', async (end, status) => {
    expect(await spfOf([`v=spf1 include:amazonses.com ${end}`.trim()])).toMatchObject({
      status,
      publish: publish('v=spf1 include:amazonses.com -all'),
    });
  });

  test('strings of one record belong together, and case does not matter', async () => {
    const long = `v=SPF1 ${'ip4:192.0.2.1 '.repeat(30)}include:AMAZONSES.com -all`;
    expect(long.length).toBeGreaterThan(255);
    expect(await spfOf([long])).toMatchObject({ status: 'good', publish: null });
  });

  const chain = (length: number): Zone =>
    Object.fromEntries(
      Array.from({ length }, (_, at) => [
        `i${at}.test`,
        { TXT: [at + 1 < length ? `v=spf1 include:i${at + 1}.test` : 'v=spf1 -all'] },
      ]),
    );

  test(`${SPF_LOOKUPS_MAX} look-ups are good, one more is bad`, async () => {
    const record = 'v=spf1 include:amazonses.com include:i0.test -all';
    expect((await spfOf([record], chain(SPF_LOOKUPS_MAX - 1))).status).toBe('good');
    const over = await spfOf([record], chain(SPF_LOOKUPS_MAX));
    expect(over.status).toBe('bad');
    expect(over.summary).toContain('look-ups');
  });

  test('a, mx, ptr, exists and redirect count as look-ups; ip4, ip6 and all do not', async () => {
    const ten = 'a mx ptr a:b.test mx:c.test a/24 exists:%{i}.d.test include:amazonses.com';
    const free = 'ip4:192.0.2.0/24 ip6:2001:db8::/32';
    expect((await spfOf([`v=spf1 ${ten} mx/24 a:e.test ${free} -all`])).status).toBe('good');
    expect((await spfOf([`v=spf1 ${ten} mx/24 a:e.test a:f.test ${free} -all`])).status).toBe(
      'bad',
    );
    const redirected = await spfOf(['v=spf1 include:amazonses.com redirect=i0.test'], chain(1));
    expect(redirected.status).toBe('good');
  });

  test('records that include each other in a ring are bad, not endless', async () => {
    const ring: Zone = {
      'i0.test': { TXT: ['v=spf1 include:i1.test -all'] },
      'i1.test': { TXT: ['v=spf1 include:i0.test -all'] },
    };
    expect((await spfOf(['v=spf1 include:amazonses.com include:i0.test -all'], ring)).status).toBe(
      'bad',
    );
  });

  test('silence is unknown, never missing, wherever it is', async () => {
    expect((await look({ 'shop.test': null })).spf).toMatchObject({ status: 'unknown' });
    expect((await look({ 'amazonses.com': null })).spf).toMatchObject({
      status: 'unknown',
      publish: null,
    });
  });
});

describe('DKIM', () => {
  const dkimOf = async (records: Zone[string]) =>
    (await look({ 's1._domainkey.shop.test': records })).dkim[0];

  test.each([
    ['a revoked key', 'v=DKIM1; p=', 'bad'],
    ['no key at all', 'v=DKIM1; k=rsa', 'bad'],
    ['a key that cannot be read', 'v=DKIM1; p=AAAA', 'bad'],
    ['a short key', `v=DKIM1; p=${keyOf(512)}`, 'bad'],
    ['1024 bits', `v=DKIM1; p=${keyOf(1024)}`, 'warning'],
    [
      'an Ed25519 key',
      'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      'good',
    ],
  ])('%s', async (_name, text, status) => {
    expect(await dkimOf({ TXT: [text] })).toMatchObject({ status });
  });

  test('no record, and an alias that leads nowhere', async () => {
    expect(await dkimOf({})).toMatchObject({ status: 'bad', found: [] });
    expect(await dkimOf({ CNAME: ['gone.test'] })).toMatchObject({
      status: 'bad',
      found: ['CNAME gone.test'],
      summary: expect.stringContaining('gone.test'),
    });
  });

  test('without selectors the usual ones are tried, and what is not there means nothing', async () => {
    const health = await look({}, { selectors: [] });
    expect(health.dkim.map(({ selector }) => selector)).toEqual(['s1']);
    const none = await look({ 's1._domainkey.shop.test': {} }, { selectors: [] });
    expect(none.dkim).toEqual([]);
    expect(none.alignment).toMatchObject({
      status: 'unknown',
      summary: expect.stringContaining('dkim_selectors'),
    });
  });

  test('selectors without a key leave DMARC to SPF alone', async () => {
    expect((await look({}, { selectors: ['s9'] })).alignment.status).toBe('bad');
  });
});

describe('DMARC', () => {
  const dmarcOf = async (texts: string[]) =>
    (await look({ '_dmarc.shop.test': { TXT: texts } })).dmarc;

  test('no record: the one to begin with, in the specification’s shape', async () => {
    expect((await look({ '_dmarc.shop.test': {} })).dmarc).toMatchObject({
      status: 'bad',
      publish: {
        name: '_dmarc.shop.test',
        type: 'TXT',
        value: 'v=DMARC1; p=none; rua=mailto:dmarc@shop.test; fo=1',
      },
    });
  });

  test.each([
    ['v=DMARC1; p=reject; rua=mailto:a@b.test', 'good'],
    ['v=DMARC1; p=none; rua=mailto:a@b.test', 'good'],
    ['v=DMARC1; p=none', 'warning'],
    ['v=DMARC1; p=perhaps; rua=mailto:a@b.test', 'bad'],
    ['v=DMARC1; rua=mailto:a@b.test; pct=20; ri=1; unheard=of', 'good'],
  ])('%s is %s', async (text, status) => {
    expect((await dmarcOf([text])).status).toBe(status);
  });

  test('two records are none; other texts at the name do not count', async () => {
    expect((await dmarcOf([DMARC, DMARC])).status).toBe('bad');
    expect((await dmarcOf([DMARC, 'v=spf1 -all'])).status).toBe('good');
  });

  test('a sub-domain has its parent’s, up to what was registered', async () => {
    const zone: Zone = { 'a.b.shop.test': { TXT: ['v=spf1 include:amazonses.com -all'] } };
    const health = await look(zone, { fromEmail: 'x@a.b.shop.test' });
    expect(health.dmarc).toMatchObject({ status: 'good', found: [DMARC] });
    expect(health.organisation).toBe('shop.test');
  });
});

test('replies: no MX is a warning, the null MX is bad, silence is unknown', async () => {
  const texts = GOOD['shop.test']?.TXT ?? [];
  const repliesOf = async (records: Zone[string]) => (await look({ 'shop.test': records })).replies;
  expect(await repliesOf({ TXT: texts })).toMatchObject({ status: 'warning' });
  expect(await repliesOf({ TXT: texts, MX: [[0, '']] })).toMatchObject({ status: 'bad' });
  expect(await repliesOf(null)).toMatchObject({ status: 'unknown' });
});

test('what to include is known for providers that are', () => {
  const smtp = (smtp_host: string) => includeOf({ provider: 'smtp', smtp_host });
  expect(includeOf({ provider: 'relay_api' })).toBe('spf.smtp2go.com');
  expect(includeOf({ provider: 'cloud_api' })).toBe('amazonses.com');
  expect(smtp('mail-eu.SMTP2GO.com')).toBe('spf.smtp2go.com');
  expect(smtp('email-smtp.eu-west-1.amazonaws.com')).toBe('amazonses.com');
  expect(smtp('smtp.eu.mailgun.org')).toBe('mailgun.org');
  expect(smtp('relay.shop.test')).toBe(null);
  expect(smtp('evilmailgun.org')).toBe(null);
});
