// DMARC by RFC 9989: what is said of records as they are found in the world, and the record to publish.
import { describe, expect, test } from 'vitest';
import { walkNames } from '../../../src/providers/domain_health/dmarc/dmarc.ts';
import { readDmarc } from '../../../src/providers/domain_health/dmarc/record.ts';
import { checkWith, DMARC, said } from './domains.ts';
import type { Zone } from './domains.ts';

const NEXT_REJECT = ' When the reports are clean, tighten it to reject.';
const NEXT_BOTH = ' When the reports are clean, tighten it to quarantine, then to reject.';
const MAILBOX = 'Create the mailbox in "rua" first, or name one that exists.';

type Shape = { zone: Zone; from?: string; organization?: string; says: object };

const of = (...texts: string[]): Zone => ({ '_dmarc.shop.test': { TXT: texts } });
const good = (code: string, summary: string, advice?: string[]) => ({
  status: 'good',
  code,
  summary,
  ...(advice ? { advice } : {}),
});
const warning = (code: string, summary: string, rest: object = {}) => ({
  status: 'warning',
  code,
  summary,
  ...rest,
});
const bad = (code: string, summary: string, rest: object = {}) => ({
  status: 'bad',
  code,
  summary,
  ...rest,
});
const start = (domain: string, more = '') =>
  `_dmarc.${domain} TXT v=DMARC1; p=none; rua=mailto:dmarc@${domain}; fo=1${more}`;

const shapes: Record<string, Shape> = {
  'no record: the one to start with': {
    zone: { '_dmarc.shop.test': {} },
    says: bad('dmarc_missing', 'There is no DMARC record for shop.test.', {
      advice: [MAILBOX],
      publish: start('shop.test'),
    }),
  },
  'p=none': {
    zone: of(DMARC),
    says: good('dmarc_none', `The record is published with p=none.${NEXT_BOTH}`),
  },
  'p=reject, in any case of letters': {
    zone: of('v=DMARC1;p=Reject;rua=MAILTO:a@shop.test'),
    says: good('dmarc_ok', 'The record is published with p=reject.'),
  },
  'a record without a policy': {
    zone: of('v=DMARC1; rua=mailto:a@shop.test'),
    says: warning(
      'dmarc_no_policy',
      'The record at _dmarc.shop.test has no "p", so receivers act as if it said "p=none". Add "p=none".',
    ),
  },
  'a record without a policy and reports': {
    zone: of('v=DMARC1; adkim=r'),
    says: bad(
      'dmarc_no_policy',
      'The record at _dmarc.shop.test has no "p", so receivers ignore the record. Add "p=none".',
      {
        advice: ['No address receives DMARC reports. Add "rua=mailto:<address>".', MAILBOX],
        publish: '_dmarc.shop.test TXT v=DMARC1; adkim=r; rua=mailto:dmarc@shop.test',
      },
    ),
  },
  'a policy that is none': {
    zone: of('v=DMARC1; p=perhaps; rua=mailto:a@shop.test'),
    says: bad(
      'dmarc_policy',
      'The value of "p" is none of none, quarantine and reject, so receivers act as if it said "p=none".',
    ),
  },
  'no reports': {
    zone: of('v=DMARC1; p=reject;'),
    says: warning(
      'dmarc_no_reports',
      'No address receives DMARC reports. Add "rua=mailto:<address>".',
      {
        advice: [MAILBOX],
        publish: '_dmarc.shop.test TXT v=DMARC1; p=reject; rua=mailto:dmarc@shop.test',
      },
    ),
  },
  'an address for reports that is no URI': {
    zone: of('v=DMARC1; p=reject; rua=a@shop.test, mailto:b@shop.test!10m'),
    says: warning(
      'dmarc_report_address',
      'Receivers send no reports to "a@shop.test". Write it as "mailto:<address>".',
    ),
  },
  'tags that are no more': {
    zone: of('v=DMARC1; p=reject; pct=20; rua=mailto:a@shop.test; ri=3600'),
    says: warning(
      'dmarc_pct',
      '"pct=20" has no effect since RFC 9989: receivers apply the policy to all email. Use "t=y" to test a policy.',
      { advice: ['DMARC no longer has "pct", "ri" (RFC 9989). Remove that from the record.'] },
    ),
  },
  'test mode': {
    zone: of('v=DMARC1; p=reject; t=y; rua=mailto:a@shop.test'),
    says: good(
      'dmarc_ok',
      'The record is published with p=reject. In test mode (t=y), receivers apply quarantine. ' +
        'Remove "t=y" when you are done.',
    ),
  },
  'two records': {
    zone: of(DMARC, 'v=DMARC1; p=reject'),
    says: bad(
      'dmarc_several',
      'There are 2 DMARC records at _dmarc.shop.test, so receivers use none of them. Keep one.',
    ),
  },
  'a version in small letters': {
    zone: of('v=dmarc1; p=reject'),
    says: bad(
      'dmarc_ignored',
      'Receivers ignore the record at _dmarc.shop.test. It has to begin with "v=DMARC1;".',
      { advice: [MAILBOX], publish: start('shop.test') },
    ),
  },
  'a record that says it is of a public suffix': {
    zone: of('v=DMARC1; p=reject; psd=y; rua=mailto:a@shop.test'),
    says: warning('dmarc_psd', '"psd=y" is for public suffixes alone. Remove it.'),
  },
  'a subdomain: its parent’s policy for subdomains': {
    zone: {
      ...of('v=DMARC1; p=reject; sp=none; np=reject; rua=mailto:a@shop.test'),
      'news.shop.test': { A: ['192.0.2.1'] },
    },
    from: 'hello@news.shop.test',
    says: good(
      'dmarc_none',
      `The record of shop.test applies to news.shop.test with sp=none.${NEXT_BOTH}`,
    ),
  },
  'a subdomain without an address or MX: the policy for those that do not exist': {
    zone: {
      ...of('v=DMARC1; p=reject; sp=none; np=quarantine; rua=mailto:a@shop.test'),
      'news.shop.test': { TXT: ['v=spf1 include:amazonses.com -all'] },
    },
    from: 'hello@news.shop.test',
    says: good(
      'dmarc_ok',
      `The record of shop.test applies to news.shop.test with np=quarantine.${NEXT_REJECT}`,
    ),
  },
  'a subdomain of its own record, below the organization’s': {
    zone: {
      ...of(DMARC),
      '_dmarc.news.shop.test': { TXT: ['v=DMARC1; p=reject; sp=none; rua=mailto:a@shop.test'] },
    },
    from: 'hello@news.shop.test',
    organization: 'shop.test',
    says: good('dmarc_ok', 'The record is published with p=reject.', [
      '"sp" and "np" have no effect at _dmarc.news.shop.test, below shop.test.',
    ]),
  },
  'a subdomain that is an organization of its own': {
    zone: {
      ...of(DMARC),
      '_dmarc.news.shop.test': { TXT: ['v=DMARC1; p=reject; psd=n; rua=mailto:a@news.shop.test'] },
    },
    from: 'hello@news.shop.test',
    organization: 'news.shop.test',
    says: good('dmarc_ok', 'The record is published with p=reject.'),
  },
  'below a public suffix without a record': {
    zone: {},
    from: 'hello@news.shop.co.uk',
    organization: 'shop.co.uk',
    says: bad('dmarc_missing', 'There is no DMARC record for news.shop.co.uk.', {
      advice: [MAILBOX],
      publish: start('shop.co.uk'),
    }),
  },
  'below a public suffix that publishes one': {
    zone: { '_dmarc.co.uk': { TXT: ['v=DMARC1; p=none; np=reject; psd=y; rua=mailto:a@co.uk'] } },
    from: 'hello@news.shop.co.uk',
    organization: 'shop.co.uk',
    says: warning(
      'dmarc_of_suffix',
      'shop.co.uk has no DMARC record, so the one of the public suffix co.uk applies. Publish your own.',
      { publish: start('shop.co.uk') },
    ),
  },
  'on a public suffix of a company': {
    zone: {},
    from: 'hello@ann.github.io',
    organization: 'ann.github.io',
    says: bad('dmarc_missing', 'There is no DMARC record for ann.github.io.', {
      advice: [MAILBOX],
      publish: start('ann.github.io'),
    }),
  },
  'on a public suffix of a company whose record does not say so': {
    zone: { '_dmarc.github.io': { TXT: ['v=DMARC1; p=reject; rua=mailto:a@github.io'] } },
    from: 'hello@ann.github.io',
    organization: 'github.io',
    says: warning(
      'dmarc_shared',
      'github.io is a public suffix, but its DMARC record does not say so. ' +
        'Receivers count all of its domains as one organization.',
      { publish: start('ann.github.io', '; psd=n') },
    ),
  },
};

test.each(Object.entries(shapes))(
  '%s',
  async (_name, { zone, from = 'hello@shop.test', organization, says }) => {
    const { dmarc, organisation } = await checkWith(zone, { fromEmail: from });
    expect(said(dmarc)).toEqual(says);
    if (organization !== undefined) expect(organisation).toBe(organization);
  },
);

describe('reports to another organization', () => {
  const TO = 'v=DMARC1; p=reject; rua=mailto:shop@reports.test';
  const refused = warning(
    'dmarc_report_refused',
    'Receivers send no reports to reports.test: it does not accept reports about shop.test. ' +
      'Its owner has to publish a record.',
    { publish: 'shop.test._report._dmarc.reports.test TXT v=DMARC1' },
  );

  test('are not sent without its consent: the record for it to publish', async () => {
    expect(said((await checkWith(of(TO))).dmarc)).toEqual(refused);
    const wrong = { 'shop.test._report._dmarc.reports.test': { TXT: ['p=none; v=DMARC1', 'x'] } };
    expect(said((await checkWith({ ...of(TO), ...wrong })).dmarc)).toEqual(refused);
  });

  test('are sent with its consent', async () => {
    const consent = { 'shop.test._report._dmarc.reports.test': { TXT: ['v=DMARC1;'] } };
    expect((await checkWith({ ...of(TO), ...consent })).dmarc).toMatchObject({
      status: 'good',
      publish: null,
    });
  });

  test('need its consent about the domain at which the policy stands, also for a subdomain', async () => {
    const { dmarc, asked } = await checkWith(of(TO), { fromEmail: 'a@news.shop.test' });
    expect(dmarc.publish?.name).toBe('shop.test._report._dmarc.reports.test');
    expect(asked).toContain('shop.test._report._dmarc.reports.test');
  });

  test('need none within one organization, by the list or by the tree', async () => {
    const same = of('v=DMARC1; p=reject; rua=mailto:a@dmarc.shop.test; ruf=mailto:b@shop.test');
    expect((await checkWith(same)).dmarc.status).toBe('good');
    expect((await checkWith(same)).asked.filter((name) => name.includes('_report'))).toEqual([]);
  });

  test('that name servers say nothing about are unknown', async () => {
    const silent = { 'shop.test._report._dmarc.reports.test': null };
    expect((await checkWith({ ...of(TO), ...silent })).dmarc).toMatchObject({
      status: 'unknown',
      code: 'dmarc_report_unknown',
    });
  });
});

test('silence anywhere on the way up is unknown', async () => {
  const from = { fromEmail: 'a@b.news.shop.test' };
  for (const name of ['b.news.shop.test', 'news.shop.test', 'shop.test'])
    expect((await checkWith({ [`_dmarc.${name}`]: null }, from)).dmarc.status).toBe('unknown');
});

test('a walk asks eight names at most, the longest of which it leaves out (RFC 9989 §4.10)', () => {
  expect(walkNames('a.mail.example.com')).toEqual([
    'a.mail.example.com',
    'mail.example.com',
    'example.com',
    'com',
  ]);
  expect(walkNames('a.b.c.d.e.f.g.h.i.j.mail.example.com')).toEqual([
    'a.b.c.d.e.f.g.h.i.j.mail.example.com',
    'g.h.i.j.mail.example.com',
    'h.i.j.mail.example.com',
    'i.j.mail.example.com',
    'j.mail.example.com',
    'mail.example.com',
    'example.com',
    'com',
  ]);
});

test('a record is read as its tags say, unknown ones left out', () => {
  expect(
    readDmarc(
      'v=DMARC1; P = Quarantine ; np=none;; t=Y; x=1; adkim=s; aspf=x; ruf=https://a.test/b',
    ),
  ).toMatchObject({
    p: 'quarantine',
    sp: null,
    np: 'none',
    isTest: true,
    isStrict: { dkim: true, spf: false },
    failures: { addresses: [], ignored: ['https://a.test/b'] },
  });
});
