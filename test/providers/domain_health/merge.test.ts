// A merge proposal authorizes every sender that one of the old records authorized, and receivers accept it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DnsQueries } from '../../../src/providers/domain_health/dns.ts';
import {
  evaluateSpf,
  propose,
  readClient,
  SPF_LOOKUPS_MAX,
  SPF_RECORD_CHARS_MAX,
  SPF_VOIDS_MAX,
} from '../../../src/providers/domain_health/spf/spf.ts';
import {
  countLookups,
  findVoids,
  listFaults,
} from '../../../src/providers/domain_health/spf/measure.ts';
import { survey } from '../../../src/providers/domain_health/spf/survey.ts';
import { readerOf } from './openspf.ts';
import type { FactZone } from './openspf.ts';

const RUNS = 1_000;
const DOMAIN = 'shop.test';
const MAIL_FROM = 'hello@shop.test';

/** Everything that generated records may ask about; whatever else they name does not exist. */
const ZONE: FactZone = {
  'h4.test': { A: ['192.0.2.1', '192.0.2.2'] },
  'h6.test': { AAAA: ['2001:db8::1'] },
  'h46.test': { A: ['192.0.2.3'], AAAA: ['2001:db8::3'] },
  'mx.test': {
    MX: [
      [10, 'h4.test'],
      [20, 'h6.test'],
    ],
  } as FactZone[string],
  'shop.test': { A: ['192.0.2.4'], MX: [[10, 'h46.test']] } as FactZone[string],
  '5.2.0.192.in-addr.arpa': { PTR: ['h5.shop.test'] },
  'h5.shop.test': { A: ['192.0.2.5'] },
  '192.0.2.6._e.test': { A: ['127.0.0.2'] },
  'fixed._e.test': { A: ['127.0.0.2'] },
  'one.test': { TXT: [['v=spf1 ip4:192.0.2.7 ip6:2001:db8::7 -all']] },
  'two.test': { TXT: [['v=spf1 include:one.test a:h4.test ~all']] },
  'three.test': { TXT: [['v=spf1 -ip4:192.0.2.7 include:two.test ip4:192.0.2.8 ?all']] },
  'softly.test': { TXT: [['v=spf1 ?ip4:192.0.2.9 ip4:192.0.2.8/30']] },
  'away.test': { TXT: [['v=spf1 redirect=two.test']] },
  'heavy.test': { TXT: [['v=spf1 a:h4.test a:h6.test mx:mx.test a:h46.test -all']] },
  'four.test': { TXT: [[`v=spf1 ${'a:h46.test '.repeat(4)}-all`]] },
  'empty.test': { TXT: [['v=spf1 a:none.test a:h6.test ip4:192.0.2.11 -all']] },
  'broken.test': { TXT: [['v=spf1 ip4:192.0.2.10 include:gone.test -all']] },
  'wanted.test': { TXT: [['v=spf1 ip4:192.0.2.12 ip6:2001:db8::12 -all']] },
};

const SENDERS = [
  ...Array.from({ length: 14 }, (_, at) => `192.0.2.${at}`),
  '198.51.100.1',
  '2001:db8::1',
  '2001:db8::3',
  '2001:db8::7',
  '2001:db8::12',
  '2001:db8::99',
];

const plain = fc.constantFrom(
  ...'ip4:192.0.2.1 ip4:192.0.2.7 ip4:192.0.2.8/30 ip4:192.0.2.0/28 ip4:192.0.2.12'.split(' '),
  ...'ip6:2001:db8::1 ip6:2001:db8::/120 a a:h4.test A:H46.test mx include:one.test'.split(' '),
  ...'include:two.test include:softly.test include:away.test include:wanted.test'.split(' '),
);
/** What finds nothing, costs much, excludes or is an error. */
const difficult = fc.constantFrom(
  ...'a:h6.test/24//120 a:none.test a:none2.test mx:mx.test mx:none.test ptr'.split(' '),
  ...'exists:%{i}._e.test exists:fixed._e.test exists:none._e.test include:gone.test'.split(' '),
  ...'include:three.test include:heavy.test include:empty.test include:broken.test'.split(' '),
  'include:%{d1r}.none.test',
);
const mechanism = fc.oneof({ arbitrary: plain, weight: 4 }, { arbitrary: difficult, weight: 1 });
const qualifier = fc.constantFrom('', '', '', '', '+', '-', '~', '?');
const term = fc.tuple(qualifier, mechanism).map((parts) => parts.join(''));
const end = fc.constantFrom(
  '-all',
  '~all',
  '?all',
  '',
  'redirect=two.test',
  'redirect=gone.test',
  'exp=why.test -all',
);
/** `all` may stand anywhere: what follows it is never evaluated. */
const record = fc
  .tuple(fc.array(term, { maxLength: 6 }), end, fc.array(term, { maxLength: 2 }))
  .map(([head, last, tail]) => ['v=spf1', ...head, last, ...tail].filter(Boolean).join(' '));
const records = fc.array(record, { minLength: 1, maxLength: 3 });

const dns = () => new DnsQueries(readerOf(ZONE), { queries: Infinity, timeMs: Infinity });

const resultsOf = async (text: string): Promise<Map<string, string>> => {
  const results = new Map<string, string>();
  for (const sender of SENDERS) {
    const address = readClient(sender);
    if (!address) throw new Error(sender);
    const client = { address, mailFrom: MAIL_FROM, helo: DOMAIN };
    results.set(sender, await evaluateSpf(dns(), client, text));
  }
  return results;
};

const proposalFor = (texts: string[], include: string | null) =>
  propose(dns(), { domain: DOMAIN, mailFrom: MAIL_FROM, records: texts, include });

const outcomes = { record: 0, none: 0, refusing: 0 };

describe('a merge proposal', () => {
  test(`of ${RUNS} generated sets of records removes no sender, or says why there is none`, async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.constantFrom(null, 'wanted.test'), async (texts, include) => {
        const proposal = await proposalFor(texts, include);
        outcomes[proposal.kind] += 1;
        if (proposal.kind === 'none') {
          expect(proposal.why).toMatch(/^[A-Z"].{20,}[.]$/s);
          return;
        }
        const { value } = proposal;
        expect(value).toMatch(/^v=spf1 (?:.* )?-all(?: exp=\S+)?$/);
        expect(value.length).toBeLessThanOrEqual(SPF_RECORD_CHARS_MAX);
        const results = await resultsOf(value);
        const found = await survey(dns(), { domain: DOMAIN, mailFrom: MAIL_FROM }, value);
        expect(listFaults(found)).toEqual([]);
        expect(countLookups(found)).toBeLessThanOrEqual(SPF_LOOKUPS_MAX);
        expect(findVoids(found).count).toBeLessThanOrEqual(SPF_VOIDS_MAX);
        // Of hosts without an IPv4 address, and of clients without a name, more may find nothing for a stranger.
        expect(results.get('198.51.100.1')).toMatch(/^(?:fail|permerror)$/);
        if (results.get('198.51.100.1') === 'fail') outcomes.refusing += 1;
        if (include !== null) expect(results.get('192.0.2.12')).toBe('pass');
        for (const text of texts)
          for (const [sender, before] of await resultsOf(text))
            if (before === 'pass') expect([text, sender, results.get(sender)]).toContain('pass');
      }),
      { numRuns: RUNS },
    );
    console.log(`proposals: ${outcomes.record} records, ${outcomes.none} refused with a reason`);
    expect(outcomes.record).toBeGreaterThan(RUNS / 4);
    expect(outcomes.refusing / outcomes.record).toBeGreaterThan(0.9);
  });

  test.each([
    [['v=spf1 ip4:192.0.2.1 -all'], null, 'v=spf1 ip4:192.0.2.1 -all'],
    [['v=spf1 +include:one.test INCLUDE:one.test ~all'], null, 'v=spf1 include:one.test -all'],
    // What a redirect leads to stays, as an include.
    [
      ['v=spf1 redirect=two.test'],
      'wanted.test',
      'v=spf1 include:two.test include:wanted.test -all',
    ],
    [['v=spf1 mx redirect=two.test -all'], null, 'v=spf1 mx -all'],
    // Exclusions keep their order, behind the records that have none.
    [
      ['v=spf1 -ip4:192.0.2.1 ip4:192.0.2.0/28 -all', 'v=spf1 ip4:192.0.2.1 -all'],
      null,
      'v=spf1 ip4:192.0.2.1 ip4:192.0.2.0/28 -all',
    ],
    [
      ['v=spf1 -ip4:192.0.2.1 ip4:192.0.2.0/28 -all', 'v=spf1 a:h46.test ~a:h4.test ~all'],
      'wanted.test',
      'v=spf1 a:h46.test include:wanted.test -ip4:192.0.2.1 ip4:192.0.2.0/28 ~a:h4.test -all',
    ],
    // Only one modifier may explain.
    [
      ['v=spf1 a exp=a.test -all', 'v=spf1 mx exp=b.test -all'],
      null,
      'v=spf1 a mx -all exp=a.test',
    ],
    // What certainly was meant.
    [
      ['v=spf1 a:192.0.2.1 ip4:2001:db8::1 include=one.test; -all'],
      null,
      'v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 include:one.test -all',
    ],
  ])('of %j with %s', async (texts, include, value) => {
    expect(await proposalFor(texts, include)).toMatchObject({ kind: 'record', value });
  });

  test.each([
    [
      ['v=spf1 -ip4:192.0.2.1 ip4:192.0.2.0/28 -all', 'v=spf1 -a:h4.test a:h46.test -all'],
      'Several records exclude servers before they authorize others, so their order decides. Merge them by hand.',
    ],
    [['v=spf1 a:museum -all'], 'Correct or remove the term "a:museum", then check again.'],
    [
      ['v=spf1 include:broken.test -all'],
      '"include:gone.test" leads to gone.test, which has no SPF record. Receivers treat the whole record as an error.',
    ],
    [
      [
        `v=spf1 ${Array.from({ length: 120 }, (_, at) => `ip4:203.0.113.${at + 100}`).join(' ')} -all`,
      ],
      'One record would have 2171 characters. Move a part of it to a name of its own, and include that.',
    ],
  ])('is refused for %j', async (texts, why) => {
    expect(await proposalFor(texts, null)).toEqual({ kind: 'none', why });
  });

  test(`needs ${SPF_LOOKUPS_MAX} lookups at most: repeated ones are left out, others are counted`, async () => {
    const four = 'include:four.test'; // 5
    const two = 'include:two.test'; // 3
    expect(await proposalFor([`v=spf1 ${four} ${two} mx a -all`], null)).toMatchObject({
      kind: 'record',
    });
    // 11: one.test is in two.test already.
    expect(await proposalFor([`v=spf1 ${four} ${two} mx a include:one.test -all`], null)).toEqual({
      kind: 'record',
      value: `v=spf1 ${four} ${two} mx a -all`,
      notes: ['The proposal leaves out terms that another include covers: include:one.test.'],
    });
    expect(await proposalFor([`v=spf1 ${four} ${two} mx a a:h4.test -all`], null)).toEqual({
      kind: 'none',
      why:
        'One record for all senders needs 11 DNS lookups: include:four.test 5, include:two.test 3, mx 1, a 1, ' +
        'a:h4.test 1. Replace some by ip4 and ip6 terms, or send from a subdomain.',
    });
  });
});
