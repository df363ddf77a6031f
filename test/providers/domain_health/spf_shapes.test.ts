// What is said of SPF records as they are found in the world: the whole of each finding, and the record to publish.
import { expect, test } from 'vitest';
import { checkWith, GOOGLE, GOOGLE_SPF, RELAY, said, SES } from './domains.ts';
import type { Zone } from './domains.ts';

const MX: [number, string][] = [[10, 'mx.shop.test']];
const CRM: Zone = { '_spf.crm.test': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } };
const INCLUDE = 'include:_spf.google.com';
const TWENTY = Array.from({ length: 20 }, (_, at) => `ip4:198.51.100.${at}`).join(' ');

/** Records that include one another, the last of which is the end. */
const chain = (length: number): Zone =>
  Object.fromEntries(
    Array.from({ length }, (_, at) => [
      `n${at}.crm.test`,
      {
        TXT: [at + 1 < length ? `v=spf1 include:n${at + 1}.crm.test -all` : 'v=spf1 ip4:192.0.2.1'],
      },
    ]),
  );

const good = (lookups: number, advice?: string[]) => ({
  status: 'good',
  code: 'spf_ok',
  summary: `The SPF record authorizes _spf.google.com. It needs ${lookups} of 10 DNS lookups.`,
  ...(advice ? { advice } : {}),
});
const bad = (code: string, summary: string, rest: object = {}) => ({
  status: 'bad',
  code,
  summary,
  ...rest,
});
const publish = (value: string) => ({ publish: `shop.test TXT ${value}` });
const NOT_AUTHORIZED = 'The SPF record does not authorize _spf.google.com.';

type Shape = {
  texts: (string | string[])[];
  more?: Zone;
  says: object;
};

/** shop.test sends through Google's relay, whose reverse-path is the sender. */
const shapes: Record<string, Shape> = {
  'no record': {
    texts: ['verification=1'],
    says: bad(
      'spf_missing',
      'There is no SPF record at shop.test.',
      publish(`v=spf1 ${INCLUDE} -all`),
    ),
  },
  'a text in which no blank follows the version': {
    texts: [`v=spf1;${INCLUDE} -all`],
    says: bad('spf_missing', 'There is no SPF record at shop.test.', {
      advice: ['Receivers ignore a text in which no blank follows "v=spf1". Replace it.'],
      ...publish(`v=spf1 ${INCLUDE} -all`),
    }),
  },
  'a record that only redirects: what it leads to stays': {
    texts: ['v=spf1 redirect=_spf.crm.test'],
    more: CRM,
    says: bad(
      'spf_not_authorized',
      NOT_AUTHORIZED,
      publish(`v=spf1 include:_spf.crm.test ${INCLUDE} -all`),
    ),
  },
  'a record that only redirects, to one that is in order': {
    texts: ['v=spf1 redirect=_spf.crm.test'],
    more: { '_spf.crm.test': { TXT: [`v=spf1 ${INCLUDE} ip4:192.0.2.1 -all`] } },
    says: good(4),
  },
  'two records: one of both': {
    texts: [`v=spf1 ${INCLUDE} ~all`, 'v=spf1 include:_spf.crm.test mx -all'],
    more: CRM,
    says: bad(
      'spf_several',
      'There are 2 SPF records at shop.test, so receivers use none of them.',
      {
        advice: ['Publish the proposed record in place of all of them.'],
        ...publish(`v=spf1 ${INCLUDE} include:_spf.crm.test mx -all`),
      },
    ),
  },
  'nested includes over ten lookups: counted by term': {
    texts: [`v=spf1 include:n0.crm.test ${INCLUDE} -all`],
    more: chain(8),
    says: bad(
      'spf_lookups',
      'The SPF record needs 11 DNS lookups. Receivers stop after 10 and treat the record as an error.',
      {
        advice: [
          'One record for all senders needs 11 DNS lookups: include:n0.crm.test 8, include:_spf.google.com 3. ' +
            'Replace some by ip4 and ip6 terms, or send from a subdomain.',
        ],
      },
    ),
  },
  'nested includes of exactly ten lookups': {
    texts: [`v=spf1 include:n0.crm.test ${INCLUDE} -all`],
    more: chain(7),
    says: good(10),
  },
  '-all first': {
    texts: [`v=spf1 -all ${INCLUDE} ip4:192.0.2.1`],
    says: bad(
      'spf_unreached',
      `"-all" stands before ${INCLUDE}, ip4:192.0.2.1, which receivers never evaluate. Put "-all" at the end.`,
      { advice: [NOT_AUTHORIZED], ...publish(`v=spf1 ${INCLUDE} ip4:192.0.2.1 -all`) },
    ),
  },
  'a record of more than 255 characters, split into strings': {
    texts: [`v=spf1 ${TWENTY} ${INCLUDE} -all`],
    says: good(3),
  },
  'a proposal of more than 255 characters': {
    texts: [`v=spf1 ${TWENTY} -all`],
    says: bad('spf_not_authorized', NOT_AUTHORIZED, {
      advice: [
        'The record is longer than 255 characters. If the DNS host does not split it, enter several quoted strings.',
      ],
      ...publish(`v=spf1 ${TWENTY} ${INCLUDE} -all`),
    }),
  },
  'a record that was split at a blank, which is lost': {
    texts: [['v=spf1 ip4:192.0.2.1 include:_spf.crm.test', `${INCLUDE} -all`]],
    more: CRM,
    says: bad(
      'spf_split',
      'The record is split into strings without a blank between two terms. Receivers join them to one term.',
      publish(`v=spf1 ip4:192.0.2.1 include:_spf.crm.test ${INCLUDE} -all`),
    ),
  },
  'an include with macros': {
    texts: [`v=spf1 include:%{ir}.%{v}.%{d}.spf.crm.test ${INCLUDE} -all`],
    says: good(4, [
      '"include:%{ir}.%{v}.%{d}.spf.crm.test" depends on each message. A test email shows what it authorizes.',
    ]),
  },
  'exists with macros': {
    texts: ['v=spf1 exists:%{i}._spf.crm.test -all'],
    says: bad('spf_not_authorized', NOT_AUTHORIZED, {
      advice: [
        '"exists:%{i}._spf.crm.test" depends on each message. A test email shows what it authorizes.',
      ],
      ...publish(`v=spf1 exists:%{i}._spf.crm.test ${INCLUDE} -all`),
    }),
  },
  'exists with macros, which says yes to the provider': {
    texts: ['v=spf1 exists:%{i}._spf.crm.test -all'],
    more: Object.fromEntries(
      ['35.190.247.0', '64.233.160.0', '2.0.0.1.4.8.6.0.4.8.6.4' + '.0'.repeat(20)].map((ip) => [
        `${ip}._spf.crm.test`,
        { A: ['127.0.0.2'] },
      ]),
    ),
    says: good(1, [
      '"exists:%{i}._spf.crm.test" depends on each message. A test email shows what it authorizes.',
    ]),
  },
  ptr: {
    texts: [`v=spf1 ${INCLUDE} ptr:shop.test -all`],
    says: {
      status: 'warning',
      code: 'spf_ptr',
      summary:
        '"ptr:shop.test" is slow, and receivers may ignore it. Replace it by ip4 and ip6 terms.',
    },
  },
  '+all': {
    texts: ['v=spf1 include:_spf.crm.test +all'],
    more: CRM,
    says: bad(
      'spf_open',
      '"+all" authorizes every server on the Internet. List your senders, then end the record with "-all".',
      {
        advice: [
          'The proposal authorizes only the senders that the record names. ' +
            'Add every other sender before you publish it.',
        ],
        ...publish(`v=spf1 include:_spf.crm.test ${INCLUDE} -all`),
      },
    ),
  },
  'an include that authorizes everyone': {
    texts: [`v=spf1 ${INCLUDE} include:open.crm.test -all`],
    more: { 'open.crm.test': { TXT: ['v=spf1 a:crm.test +all'] } },
    says: bad(
      'spf_open',
      '"include:open.crm.test" authorizes every server on the Internet. Remove it, or ask its owner to correct it.',
    ),
  },
  'an include of a domain without a record': {
    texts: [`v=spf1 include:old.crm.test ${INCLUDE} -all`],
    more: { 'old.crm.test': { TXT: ['hello'] } },
    says: bad(
      'spf_no_record',
      '"include:old.crm.test" leads to old.crm.test, which has no SPF record. ' +
        'Receivers treat the whole record as an error.',
      {
        advice: ['The proposal leaves out terms that authorize no server: include:old.crm.test.'],
        ...publish(`v=spf1 ${INCLUDE} -all`),
      },
    ),
  },
  'an include whose own record includes a domain without one: no proposal helps': {
    texts: [`v=spf1 include:_spf.crm.test ${INCLUDE} -all`],
    more: { '_spf.crm.test': { TXT: ['v=spf1 include:gone.crm.test -all'] } },
    says: bad(
      'spf_no_record',
      '"include:gone.crm.test" leads to gone.crm.test, which has no SPF record. ' +
        'Receivers treat the whole record as an error.',
    ),
  },
  'a parked domain': {
    texts: ['v=spf1 -all'],
    says: bad(
      'spf_no_senders',
      'The SPF record authorizes no server. It states that shop.test sends no email.',
      { advice: [NOT_AUTHORIZED], ...publish(`v=spf1 ${INCLUDE} -all`) },
    ),
  },
  'three terms that find nothing': {
    texts: [`v=spf1 a:old1.shop.test a:old2.shop.test mx:old3.shop.test ${INCLUDE} -all`],
    says: bad(
      'spf_voids',
      '3 DNS queries of the record find nothing (a:old1.shop.test, a:old2.shop.test, mx:old3.shop.test). ' +
        'Receivers accept 2 and treat more as an error.',
      {
        advice: [
          'The proposal leaves out terms that find nothing in DNS: ' +
            'a:old1.shop.test, a:old2.shop.test, mx:old3.shop.test.',
        ],
        ...publish(`v=spf1 ${INCLUDE} -all`),
      },
    ),
  },
  'three hosts without IPv6 before a sender with it': {
    texts: [`v=spf1 a:a.shop.test a:b.shop.test a:c.shop.test ${INCLUDE} -all`],
    more: Object.fromEntries(
      ['a', 'b', 'c'].map((at) => [`${at}.shop.test`, { A: ['192.0.2.9'] }]),
    ),
    says: {
      status: 'warning',
      code: 'spf_voids_ipv6',
      summary:
        '3 DNS queries of the record find no IPv6 address (a:a.shop.test, a:b.shop.test, a:c.shop.test). ' +
        'For senders that use IPv6, receivers may treat the record as an error.',
      ...publish(`v=spf1 ${INCLUDE} a:a.shop.test a:b.shop.test a:c.shop.test -all`),
    },
  },
  'the addresses of the provider in place of its include': {
    texts: ['v=spf1 ip4:35.190.247.0/24 ip4:64.233.160.0/19 ip6:2001:4860:4864::/56 -all'],
    says: good(0),
  },
  'a part of those addresses': {
    texts: ['v=spf1 ip4:35.190.247.0/24 -all'],
    says: bad(
      'spf_part_authorized',
      'The SPF record authorizes only a part of the servers of _spf.google.com.',
      publish(`v=spf1 ip4:35.190.247.0/24 ${INCLUDE} -all`),
    ),
  },
  'a loop of includes': {
    texts: [`v=spf1 include:r1.crm.test ${INCLUDE} -all`],
    more: {
      'r1.crm.test': { TXT: ['v=spf1 include:r2.crm.test -all'] },
      'r2.crm.test': { TXT: ['v=spf1 include:r1.crm.test -all'] },
    },
    says: bad(
      'spf_loop',
      'SPF records include each other in a loop: r1.crm.test → r2.crm.test → r1.crm.test. ' +
        'Receivers treat that as an error.',
    ),
  },
  'an address in place of a name, and "=" in place of ":"': {
    texts: ['v=spf1 a:192.0.2.1 include=_spf.google.com ?all'],
    says: bad(
      'spf_syntax',
      'Receivers cannot read the SPF record of shop.test: "a:192.0.2.1" is not a valid term.',
      publish(`v=spf1 ip4:192.0.2.1 ${INCLUDE} -all`),
    ),
  },
  'a term that cannot be read': {
    texts: [`v=spf1 ${INCLUDE} a:museum -all`],
    says: bad(
      'spf_syntax',
      'Receivers cannot read the SPF record of shop.test: "a:museum" is not a valid term.',
      { advice: ['Correct or remove the term "a:museum", then check again.'] },
    ),
  },
  'networks that are too large': {
    texts: [`v=spf1 ${INCLUDE} ip4:128.0.0.0/1 redirect=_spf.crm.test -all`],
    says: {
      status: 'warning',
      code: 'spf_wide',
      summary: '"ip4:128.0.0.0/1" authorizes a large part of the Internet. Name your own networks.',
      advice: ['"redirect=_spf.crm.test" has no effect beside "all".'],
      ...publish(`v=spf1 ${INCLUDE} ip4:128.0.0.0/1 -all`),
    },
  },
};

test.each(Object.entries(shapes))('%s', async (_name, { texts, more = {}, says }) => {
  const zone = { ...GOOGLE_SPF, ...more, 'shop.test': { TXT: texts, MX } };
  const { spf } = await checkWith(zone, { through: GOOGLE });
  expect(said(spf)).toEqual(says);
  expect(spf.found).toEqual(
    texts.map((strings) => [strings].flat().join('')).filter((text) => text.startsWith('v=spf1')),
  );
});

test.each([
  [
    '~all',
    'spf_softfail',
    'The record ends with "~all". Tighten it to "-all" when DMARC reports show no other senders.',
  ],
  [
    '?all',
    'spf_neutral',
    'The record ends with "?all", which refuses no sender. End it with "-all".',
  ],
  [
    '',
    'spf_no_all',
    'The record has no "all" at its end, so it refuses no sender. End it with "-all".',
  ],
])('a record that ends with %j is proposed with -all', async (end, code, summary) => {
  const zone = { ...GOOGLE_SPF, 'shop.test': { TXT: [`v=spf1 ${INCLUDE} ${end}`.trim()], MX } };
  expect(said((await checkWith(zone, { through: GOOGLE })).spf)).toEqual({
    status: 'warning',
    code,
    summary,
    ...publish(`v=spf1 ${INCLUDE} -all`),
  });
});

test('where the provider has a reverse-path of its own, a missing include is a warning that says so', async () => {
  const zone = { ...CRM, 'shop.test': { TXT: ['v=spf1 include:_spf.crm.test -all'], MX } };
  expect(said((await checkWith(zone, { through: SES })).spf)).toEqual({
    status: 'warning',
    code: 'spf_not_authorized',
    summary:
      'The SPF record does not authorize amazonses.com. ' +
      'DMARC does not depend on it: the provider has a reverse-path of its own.',
    ...publish('v=spf1 include:_spf.crm.test include:amazonses.com -all'),
  });
});

test('where the include of the provider is not known, the record is judged by itself', async () => {
  const zone = { 'shop.test': { TXT: ['v=spf1 ip4:192.0.2.25 -all'], MX } };
  expect(said((await checkWith(zone, { through: RELAY })).spf)).toEqual({
    status: 'good',
    code: 'spf_ok',
    summary: 'There is one SPF record. It needs 0 of 10 DNS lookups.',
  });
  const none = { 'news.shop.test': { MX } };
  const { spf } = await checkWith(none, { through: RELAY, fromEmail: 'a@news.shop.test' });
  expect(said(spf)).toEqual({
    status: 'bad',
    code: 'spf_missing',
    summary: 'There is no SPF record at news.shop.test.',
    advice: [
      'A record of shop.test does not apply to news.shop.test.',
      'Ask the email provider what to include, then publish one TXT record that ends with "-all".',
    ],
  });
});

test('what name servers do not answer is unknown, never missing, wherever it is', async () => {
  const zone = { ...GOOGLE_SPF, 'shop.test': { TXT: [`v=spf1 ${INCLUDE} -all`], MX } };
  for (const [name, records] of [
    ['shop.test', null],
    ['_spf.google.com', null],
    ['_netblocks2.google.com', { error: 2 }],
  ] as const) {
    const { spf } = await checkWith({ ...zone, [name]: records }, { through: GOOGLE });
    expect([name, spf.status, spf.publish]).toEqual([name, 'unknown', null]);
    expect(spf.summary).toBe('The name servers did not answer. Check again in a minute.');
  }
});
