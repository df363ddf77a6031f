// Name servers that answer too much, too late, in circles or not at all; and names of private zones.
import { describe, expect, test } from 'vitest';
import {
  CHECK_TIME_MAX_MS,
  DNS_FAILURES_MAX,
  DNS_QUERIES_MAX,
  DnsQueries,
} from '../../../src/providers/domain_health/dns.ts';
import type { DomainReader } from '../../../src/providers/domain_health/dns.ts';
import {
  FOUND_CHARS_MAX,
  FOUND_RECORDS_MAX,
} from '../../../src/providers/domain_health/findings.ts';
import { isPublicName, toDomain } from '../../../src/providers/domain_health/names.ts';
import { checkWith, DMARC, GOOGLE, RELAY } from './domains.ts';
import type { Zone } from './domains.ts';
import { readerOf } from './openspf.ts';

/** A machine that is busy with other tests takes a part of this; a pattern that backtracks takes many times as long. */
const SLOW_MS = 10_000;
const SPF = 'v=spf1 include:amazonses.com -all';
const MX: [number, string][] = [[10, 'mx.shop.test']];

describe('answers', () => {
  test('of thousands of TXT records are read whole, over TCP', async () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `x${at}`);
    const { spf } = await checkWith({ 'shop.test': { TXT: [...many, SPF], MX } });
    expect(spf).toMatchObject({ status: 'good', found: [SPF] });
  });

  test('of hundreds of SPF records and of one as large as an answer: what is shown is bounded', async () => {
    const several = Array.from({ length: 300 }, (_, at) => `v=spf1 ip4:192.0.2.${at % 250} -all`);
    const many = await checkWith({ 'shop.test': { TXT: several, MX } });
    expect(many.spf).toMatchObject({ code: 'spf_several' });
    expect(many.spf.found).toHaveLength(FOUND_RECORDS_MAX);
    const large = `v=spf1 ${'ip4:192.0.2.1 '.repeat(4_000)}include:amazonses.com -all`;
    const one = await checkWith({ 'shop.test': { TXT: [large], MX } });
    expect(one.spf).toMatchObject({ code: 'spf_ok' });
    expect(one.spf.found[0]).toHaveLength(FOUND_CHARS_MAX + 1);
  });

  test('of an error are no answer; NXDOMAIN and NODATA are one', async () => {
    const codeOf = async (records: Zone[string] | undefined) => {
      const zone: Zone = records === undefined ? {} : { 'other.test': records };
      return (await checkWith(zone, { fromEmail: 'a@other.test' })).spf.code;
    };
    expect(await codeOf(undefined)).toBe('spf_missing');
    expect(await codeOf({})).toBe('spf_missing');
    for (const error of [2, 5]) expect(await codeOf({ error })).toBe('no_answer');
    expect(await codeOf(null)).toBe('no_answer');
  });

  test('with what no text may hold are shown without it, and not proposed', async () => {
    const { spf, dmarc } = await checkWith({
      'shop.test': { TXT: ['v=spf1 \u0000\ud800 -all'], MX },
      '_dmarc.shop.test': { TXT: ['v=DMARC1; p=reject; x=\u0007'] },
    });
    expect(spf.found[0]).toMatch(/^v=spf1 \ufffd.* -all$/);
    expect(dmarc).toMatchObject({ code: 'dmarc_no_reports', publish: null });
  });
});

describe('texts that are made to be slow to read', () => {
  const LONG = 60_000;
  test.each([
    ['a term of one label', `v=spf1 a:${'a'.repeat(LONG)}! -all`],
    ['a top label without an end', `v=spf1 a:x.${'a'.repeat(LONG)}! -all`],
    ['quotes', `v=spf1 ${'"'.repeat(LONG)}x -all`],
    ['slashes', `v=spf1 a:x${'/1'.repeat(LONG / 2)}x -all`],
    ['macros', `v=spf1 a:${'%{d}'.repeat(LONG / 4)} -all`],
    ['open macros', `v=spf1 a:${'%{d'.repeat(LONG / 3)} -all`],
    [
      'different terms',
      `v=spf1 ${Array.from(
        { length: 5_000 },
        (_, at) => `ip4:192.${at % 250}.${at % 200}.1/${at % 33}`,
      )
        .join(' ')
        .slice(0, LONG)}`,
    ],
    [
      'different hosts',
      `v=spf1 ${Array.from({ length: 6_000 }, (_, at) => `a:h${at}.x`)
        .join(' ')
        .slice(0, LONG)}`,
    ],
  ])('as an SPF record: %s', async (_name, text) => {
    const zone: Zone = { 'shop.test': { TXT: [text, `${text} mx`], MX } };
    for (const TXT of [[text], [text, 'v=spf1 -all']]) {
      const startedAt = performance.now();
      const { spf } = await checkWith({ ...zone, 'shop.test': { TXT, MX } });
      expect(spf.status).toBe('bad');
      expect(performance.now() - startedAt).toBeLessThan(SLOW_MS);
    }
  });

  test.each([
    ['separators', `v=DMARC1${';'.repeat(LONG)}x`],
    ['blanks', `v=DMARC1;${' '.repeat(LONG)}x`],
    ['addresses', `v=DMARC1; p=none; rua=${'mailto:a@b,'.repeat(LONG / 11)}`],
    ['an address', `v=DMARC1; p=none; rua=mailto:${'a'.repeat(LONG)}`],
  ])('as a DMARC record: %s', async (_name, text) => {
    const startedAt = performance.now();
    const { dmarc } = await checkWith({ '_dmarc.shop.test': { TXT: [text] } });
    expect(dmarc.status).not.toBe('good');
    expect(performance.now() - startedAt).toBeLessThan(SLOW_MS);
  });

  test.each([
    ['blanks', `v=DKIM1;${' '.repeat(LONG)}p`],
    ['a key', `v=DKIM1; p=${'A'.repeat(LONG)}!`],
    ['tags', `v=DKIM1; ${'a=b;'.repeat(LONG / 4)}`],
  ])('as a DKIM record: %s', async (_name, text) => {
    const startedAt = performance.now();
    const { dkim } = await checkWith({ 's1._domainkey.shop.test': { TXT: [text] } });
    expect(dkim[0]?.status).toBe('bad');
    expect(performance.now() - startedAt).toBeLessThan(SLOW_MS);
  });
});

describe('a check is bounded', () => {
  test(`in queries: ${DNS_QUERIES_MAX} for a policy that asks for as many as it can`, async () => {
    const hosts = Array.from({ length: 10 }, (_, at) => at);
    const zone: Zone = {
      'shop.test': { TXT: [`v=spf1 ${hosts.map((at) => `mx:m${at}.test`).join(' ')} -all`], MX },
      ...Object.fromEntries(
        hosts.map((at) => [
          `m${at}.test`,
          { MX: hosts.map((to): [number, string] => [to, `h${to}.m${at}.test`]) },
        ]),
      ),
    };
    const { asked, spf } = await checkWith(zone);
    expect(asked.length).toBeGreaterThan(100);
    expect(asked.length).toBeLessThanOrEqual(DNS_QUERIES_MAX);
    expect(spf.status).not.toBe('good');
  });

  test('in queries: at the bound complete, below it unknown', async () => {
    const whole = await checkWith({});
    const needed = whole.asked.length;
    expect((await checkWith({}, { limits: { queries: needed } })).status).toBe('good');
    // The last two are for the addresses of the exchange.
    const cut = await checkWith({}, { limits: { queries: needed - 2 } });
    expect(cut.asked).toHaveLength(needed - 2);
    expect([cut.status, cut.replies.code]).toEqual(['unknown', 'check_stopped']);
    expect(cut.replies.summary).toBe(
      'The check reached its limit of DNS queries or time. Check again in a minute.',
    );
  });

  test('in time: slow name servers use up what there is, and no more', async () => {
    const slow: Zone = Object.fromEntries(
      ['shop.test', '_dmarc.shop.test', 'amazonses.com', '_dmarc.test'].map((name) => [
        name,
        { TXT: [name.startsWith('_') ? DMARC : SPF], delayMs: 150 },
      ]),
    );
    const startedAt = performance.now();
    const { status } = await checkWith(slow, { limits: { timeMs: 400 } });
    expect(status).toBe('unknown');
    expect(performance.now() - startedAt).toBeLessThan(CHECK_TIME_MAX_MS / 3);
  });

  test(`in failures: ${DNS_FAILURES_MAX} queries without an answer, then none are sent`, async () => {
    const silent: Zone = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`s${at}.test`, null]),
    );
    const includes = Object.keys(silent).map((name) => `exists:${name}`);
    const zone = { ...silent, 'shop.test': { TXT: [`v=spf1 ${includes.join(' ')} -all`], MX } };
    const { asked, spf } = await checkWith(zone, { through: RELAY });
    expect(
      asked.filter((name) => name.startsWith('s') && name !== 'shop.test').length,
    ).toBeLessThanOrEqual(DNS_FAILURES_MAX + 1);
    expect(spf.status).toBe('bad');
  });

  test('a resolver that never answers holds nothing up', async () => {
    const never: DomainReader = { ...readerOf({}), resolveTxt: () => new Promise(() => {}) };
    const dns = new DnsQueries(never, { timeMs: 50 });
    expect(await dns.texts('a.test', /./)).toEqual({ kind: 'failed', why: 'limit' });
    expect(await dns.texts('b.test', /./)).toEqual({ kind: 'failed', why: 'limit' });
    expect([dns.sent, dns.silence]).toEqual([1, 'limit']);
  });

  test('what is asked twice is sent once, in whatever case and with a dot or not', async () => {
    const dns = new DnsQueries(readerOf({ 'a.test': { A: ['192.0.2.1'] } }));
    const answers = await Promise.all(
      ['a.test', 'A.test', 'a.test.'].map((name) => dns.addresses(name, 4)),
    );
    expect(answers).toEqual(Array(3).fill({ kind: 'found', records: ['192.0.2.1'] }));
    expect(dns.sent).toBe(1);
  });
});

describe('names', () => {
  test('of any alphabet are asked for in ASCII', async () => {
    const zone = { 'xn--bcher-kva.test': { TXT: [SPF], MX } };
    const { domain, spf, asked } = await checkWith(zone, { fromEmail: 'a@Bücher.test' });
    expect([domain, spf.status]).toEqual(['xn--bcher-kva.test', 'good']);
    expect(asked.every((name) => /^[\x20-\x7e]+$/.test(name))).toBe(true);
    expect(toDomain('Bücher.Example.')).toBe('xn--bcher-kva.example');
    for (const none of ['', 'a', 'a..test', `${'a'.repeat(64)}.test`, 'a b.test', '.test'])
      expect([none, toDomain(none)]).toEqual([none, null]);
  });

  test.each(['shop.internal', 'shop.local', 'mail.corp', 'a.home.arpa', 'x.onion', 'a.localhost'])(
    'of private zones are not asked for: %s',
    async (domain) => {
      expect(isPublicName(domain)).toBe(false);
      const { asked, status, spf } = await checkWith({}, { fromEmail: `a@${domain}` });
      expect(asked).toEqual([]);
      expect([status, spf.code]).toEqual(['bad', 'private_name']);
      expect(spf.summary).toBe(
        `${domain} is no public domain, so receivers cannot look it up. Send from a registered domain.`,
      );
    },
  );

  test('of private zones are not asked for where a public record leads there either', async () => {
    const zone: Zone = {
      'shop.test': {
        TXT: ['v=spf1 include:_spf.shop.internal a:db.corp mx:mail.local exists:%{i}.lan -all'],
        MX: [[10, 'mx.intranet']],
      },
      '_spf.shop.internal': { TXT: ['v=spf1 -all'] },
      'db.corp': { A: ['10.0.0.1'] },
      '_dmarc.shop.test': { TXT: ['v=DMARC1; p=none; rua=mailto:a@dmarc.internal'] },
    };
    const { asked, spf, replies } = await checkWith(zone, { through: GOOGLE });
    expect(asked.filter((name) => !isPublicName(name))).toEqual([]);
    expect([spf.code, replies.code]).toEqual(['spf_no_record', 'replies_lost']);
  });

  test('of one label are none', async () => {
    expect((await checkWith({}, { fromEmail: 'a@localhost' })).spf.code).toBe('private_name');
  });
});
