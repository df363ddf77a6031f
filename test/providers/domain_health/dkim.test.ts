// DKIM keys and what they are worth: selectors, aliases, keys of parent domains, and alignment.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { USUAL_SELECTORS } from '../../../src/providers/domain_health/dkim/dkim.ts';
import { checkWith, DMARC, KEY, keyOf, RELAY, said } from './domains.ts';
import type { Records, Zone } from './domains.ts';

const NAME = 's1._domainkey.shop.test';
const COPY = 'Copy the record again from the email provider.';
const ED25519 = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';

const dkimOf = async (records: Records, more: Zone = {}) => {
  const { dkim } = await checkWith({ ...more, [NAME]: records });
  const [key] = dkim;
  if (!key) throw new Error('no finding');
  return key;
};

describe('a key', () => {
  test.each([
    ['of 2048 bits', KEY, 'good', 'dkim_ok', 'The key is published and has 2048 bits.'],
    [
      'in pieces',
      KEY.replace('p=', 'p= ').replaceAll('A', 'A '),
      'good',
      'dkim_ok',
      'The key is published and has 2048 bits.',
    ],
    [
      'that is revoked',
      'v=DKIM1; k=rsa; p=',
      'bad',
      'dkim_revoked',
      'The key is revoked: "p=" is empty. Publish a new key.',
    ],
    [
      'that is missing',
      'v=DKIM1; k=rsa',
      'bad',
      'dkim_no_key',
      `The record has no key (p=). ${COPY}`,
    ],
    [
      'of 512 bits',
      `v=DKIM1; p=${keyOf(512)}`,
      'bad',
      'dkim_key_short',
      'The key has 512 bits. Receivers refuse keys below 1024.',
    ],
    [
      'of 1024 bits',
      `v=DKIM1; p=${keyOf(1024)}`,
      'warning',
      'dkim_key_weak',
      'The key has 1024 bits. Have the email provider issue one of 2048 bits.',
    ],
    [
      'that is no base64',
      'v=DKIM1; p=MIIB-_',
      'bad',
      'dkim_key_unreadable',
      `The key is no valid base64. ${COPY}`,
    ],
    [
      'that is cut',
      `v=DKIM1; p=${keyOf(2048).slice(0, 200)}`,
      'bad',
      'dkim_key_unreadable',
      `The key cannot be read. ${COPY}`,
    ],
    [
      'that is private',
      `v=DKIM1; p=${privateKey()}`,
      'bad',
      'dkim_key_unreadable',
      `The key cannot be read. ${COPY}`,
    ],
    [
      'of Ed25519',
      `v=DKIM1; k=ed25519; p=${ED25519}`,
      'warning',
      'dkim_ed25519',
      'Many receivers do not verify Ed25519 signatures. Sign with an RSA key, too.',
    ],
    [
      'of Ed25519 that is cut',
      'v=DKIM1; k=ed25519; p=11qYAYKx',
      'bad',
      'dkim_key_unreadable',
      `The key cannot be read. ${COPY}`,
    ],
    [
      'of an unknown type',
      `v=DKIM1; k=dsa; p=${ED25519}`,
      'bad',
      'dkim_key_type',
      '"k=dsa" is no type of key that receivers know.',
    ],
    [
      'that is a test',
      KEY.replace('k=rsa', 'k=rsa; t=y:s'),
      'warning',
      'dkim_testing',
      'The key is marked as a test (t=y), so some receivers ignore its signatures. Remove "t=y".',
    ],
    [
      'for one domain alone',
      KEY.replace('k=rsa', 't=s'),
      'good',
      'dkim_ok',
      'The key is published and has 2048 bits.',
    ],
    [
      'for SHA-1 alone',
      KEY.replace('k=rsa', 'h=sha1'),
      'bad',
      'dkim_hash',
      `"h=sha1" does not allow SHA-256. ${COPY}`,
    ],
    [
      'for something else',
      KEY.replace('k=rsa', 's=tlsrpt'),
      'bad',
      'dkim_service',
      `"s=tlsrpt" does not allow email. ${COPY}`,
    ],
    [
      'of another version',
      KEY.replace('DKIM1', 'DKIM2'),
      'bad',
      'dkim_version',
      'Receivers ignore the record. It has to begin with "v=DKIM1".',
    ],
    [
      'whose version comes late',
      `k=rsa; p=${keyOf(2048)}; v=DKIM1`,
      'bad',
      'dkim_version',
      'Receivers ignore the record. It has to begin with "v=DKIM1".',
    ],
    [
      'with a tag twice',
      `${KEY}; k=rsa`,
      'bad',
      'dkim_syntax',
      `The tag "k" stands twice in the record. ${COPY}`,
    ],
  ])('%s', async (_name, text, ...[status, code, summary]) => {
    expect(said(await dkimOf({ TXT: [text] }))).toEqual({ status, code, summary });
  });

  test('twice at one name is none that receivers can rely on', async () => {
    expect(said(await dkimOf({ TXT: [KEY, `v=DKIM1; p=${keyOf(1024)}`] }))).toEqual({
      status: 'bad',
      code: 'dkim_several',
      summary: `There are 2 keys at ${NAME}, and receivers may take any of them. Keep one.`,
    });
  });
});

describe('a selector', () => {
  test('without a record', async () => {
    expect(said(await dkimOf({}))).toEqual({
      status: 'bad',
      code: 'dkim_missing',
      summary: `There is no DKIM key at ${NAME}. Copy the record exactly as the email provider shows it.`,
    });
  });

  test('that is an alias is followed, and both are shown', async () => {
    const { status, found } = await dkimOf({ CNAME: ['token.dkim.amazonses.com'] });
    expect([status, found]).toEqual(['good', ['CNAME token.dkim.amazonses.com', KEY]]);
  });

  test('that is an alias of aliases is followed', async () => {
    const chain: Zone = {
      'a.esp.test': { CNAME: ['b.esp.test'] },
      'b.esp.test': { CNAME: ['c.esp.test'] },
      'c.esp.test': { TXT: [KEY] },
    };
    expect((await dkimOf({ CNAME: ['a.esp.test'] }, chain)).status).toBe('good');
  });

  test('that is an alias of nothing, or of itself', async () => {
    expect(said(await dkimOf({ CNAME: ['gone.dkim.test'] }))).toEqual({
      status: 'bad',
      code: 'dkim_dangling',
      summary: `${NAME} points to gone.dkim.test, where there is no key.`,
      advice: ['Copy the target again from the email provider.'],
    });
    expect((await dkimOf({ CNAME: [NAME] })).code).toBe('dkim_dangling');
  });

  test('whose target the DNS host has made longer: the target as it was meant', async () => {
    expect(said(await dkimOf({ CNAME: ['token.dkim.amazonses.com.shop.test'] }))).toEqual({
      status: 'bad',
      code: 'dkim_dangling',
      summary: `${NAME} points to token.dkim.amazonses.com.shop.test, where there is no key.`,
      advice: [
        'The DNS host added shop.test to the target. Enter the target with a dot at its end.',
      ],
      publish: `${NAME} CNAME token.dkim.amazonses.com`,
    });
  });

  test('of SMTP2GO: where it has to point is known', async () => {
    const { dkim } = await checkWith(
      {},
      { through: { provider: 'relay_api' }, selectors: ['s42'] },
    );
    expect(dkim[0]?.publish).toEqual({
      name: 's42._domainkey.shop.test',
      type: 'CNAME',
      value: 'dkim.smtp2go.net',
    });
  });

  test('that name servers say nothing about is unknown', async () => {
    const { dkim, alignment } = await checkWith({ [NAME]: null });
    expect([dkim[0]?.status, alignment.status]).toEqual(['unknown', 'unknown']);
  });
});

describe('without selectors the usual ones are tried', () => {
  test('what is not there means nothing, nor does a wildcard', async () => {
    const health = await checkWith({}, { selectors: [] });
    expect(health.dkim.map(({ selector }) => selector)).toEqual(['s1']);
    const wildcard: Zone = Object.fromEntries(
      USUAL_SELECTORS.map((one) => [
        `${one}._domainkey.shop.test`,
        { TXT: ['v=spf1 -all'], CNAME: ['shop.test'] },
      ]),
    );
    expect((await checkWith(wildcard, { selectors: [] })).dkim).toEqual([]);
  });

  test('one that an earlier check found is missed', async () => {
    const { dkim } = await checkWith({ [NAME]: {} }, { selectors: [], knownSelectors: ['s1'] });
    expect(dkim).toMatchObject([{ selector: 's1', code: 'dkim_missing' }]);
  });

  test('none is found: DNS does not list them', async () => {
    expect(said((await checkWith({ [NAME]: {} }, { selectors: [] })).alignment)).toEqual({
      status: 'unknown',
      code: 'selectors_unknown',
      summary:
        'DNS does not list DKIM selectors. Enter the DKIM selectors that the email provider issued, and check again.',
    });
  });
});

describe('alignment', () => {
  const fromNews = { fromEmail: 'hello@news.shop.test' };
  const news: Zone = { 'news.shop.test': { TXT: ['v=spf1 include:amazonses.com -all'] } };

  test('with a key of the parent domain', async () => {
    const { dkim, alignment } = await checkWith(news, fromNews);
    expect(dkim).toMatchObject([{ selector: 's1', domain: 'shop.test', status: 'good' }]);
    expect(dkim[0]?.advice).toEqual([
      'The key belongs to shop.test. Signatures have to name that domain (d=shop.test).',
    ]);
    expect(said(alignment)).toEqual({
      status: 'good',
      code: 'aligned_dkim',
      summary: 'Email that is signed with the selector s1 for shop.test passes DMARC.',
    });
  });

  test('is strict where the record asks for it', async () => {
    const strict = { '_dmarc.shop.test': { TXT: [`${DMARC}; adkim=s`] } };
    expect(said((await checkWith({ ...news, ...strict }, fromNews)).alignment)).toEqual({
      status: 'bad',
      code: 'aligned_strict',
      summary:
        'The DMARC record asks for strict alignment (adkim=s), ' +
        'so signatures of shop.test do not count for news.shop.test.',
    });
    expect((await checkWith(strict)).alignment.status).toBe('good');
  });

  test('depends on the tree: a record of the subdomain alone makes two organizations', async () => {
    const alone = { '_dmarc.shop.test': {}, '_dmarc.news.shop.test': { TXT: [DMARC] } };
    expect(said((await checkWith({ ...news, ...alone }, fromNews)).alignment)).toEqual({
      status: 'warning',
      code: 'aligned_older',
      summary:
        'Signatures of shop.test pass DMARC for news.shop.test only where receivers use the Public Suffix List.',
      advice: [
        'Publish a DMARC record at _dmarc.shop.test. It makes both names one organization (RFC 9989).',
      ],
    });
  });

  test.each<[what: string, zone: Zone]>([
    ['the modes that the DMARC record asks for', { '_dmarc.shop.test': null }],
    ['the organization', { '_dmarc.shop.test': null, '_dmarc.news.shop.test': { TXT: [DMARC] } }],
  ])('is unknown where name servers do not say: %s', async (_what, zone) => {
    const { alignment } = await checkWith({ ...news, ...zone }, fromNews);
    expect([alignment.status, alignment.code]).toEqual(['unknown', 'no_answer']);
  });

  test('is unknown, not missing, where only the SPF record of the sender is not answered', async () => {
    const zone: Zone = { [NAME]: {}, 'shop.test': null };
    const { dkim, alignment } = await checkWith(zone, { through: RELAY });
    expect(dkim).toMatchObject([{ code: 'dkim_missing' }]);
    expect([alignment.status, alignment.code]).toEqual(['unknown', 'no_answer']);
  });

  test('does not depend on the DMARC record where the key is of the sender itself', async () => {
    expect((await checkWith({ '_dmarc.shop.test': null })).alignment.code).toBe('aligned_dkim');
  });

  test('by SPF alone, where the reverse-path is the sender', async () => {
    const zone: Zone = { [NAME]: {}, 'shop.test': { TXT: ['v=spf1 ip4:192.0.2.25 -all'] } };
    expect(said((await checkWith(zone, { through: RELAY })).alignment)).toEqual({
      status: 'warning',
      code: 'aligned_spf',
      summary:
        'DMARC depends on SPF alone, for the reverse-path shop.test. Forwarded email then fails.',
      advice: ['Publish the DKIM record of the email provider.'],
    });
  });

  test('by nothing', async () => {
    expect(said((await checkWith({ [NAME]: {} })).alignment)).toEqual({
      status: 'bad',
      code: 'aligned_none',
      summary:
        'No email from shop.test passes DMARC: neither DKIM nor SPF authenticates the domain.',
      advice: ['Publish the DKIM record of the email provider.'],
    });
  });
});

function privateKey(): string {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
}
