// How much one check of a domain looks at: each bound, and one past it.
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  checkReports,
  REPORT_DOMAINS_MAX,
} from '../../../src/providers/domain_health/dmarc/reports.ts';
import { DNS_QUERY_TIME_MAX_MS, DnsQueries } from '../../../src/providers/domain_health/dns.ts';
import type { DomainReader } from '../../../src/providers/domain_health/dns.ts';
import {
  findAuthorization,
  SAMPLED_NETWORKS_MAX,
} from '../../../src/providers/domain_health/spf/authorization.ts';
import { survey } from '../../../src/providers/domain_health/spf/survey.ts';
import { readerOf } from './openspf.ts';
import type { FactZone } from './openspf.ts';

const queriesOf = (zone: FactZone): DnsQueries => new DnsQueries(readerOf(zone));

describe('domains of addresses for reports', () => {
  const refusedOf = async (count: number) => {
    const addresses = Array.from({ length: count }, (_, at) => `a@reports${at}.test`);
    const policy = { domain: 'shop.test', organization: 'shop.test' };
    return (await checkReports(queriesOf({}), policy, addresses)).map(({ code }) => code);
  };

  test.each([REPORT_DOMAINS_MAX, REPORT_DOMAINS_MAX + 1])('of %d are looked up', async (count) => {
    const all = Array.from({ length: REPORT_DOMAINS_MAX }, () => 'dmarc_report_refused');
    expect(await refusedOf(count)).toEqual(all);
  });

  test('that come twice count once', async () => {
    const many = Array.from({ length: REPORT_DOMAINS_MAX + 1 }, (_, at) => `a${at}@reports.test`);
    const policy = { domain: 'shop.test', organization: 'shop.test' };
    const problems = await checkReports(queriesOf({}), policy, [...many, 'a@other.test']);
    expect(problems).toHaveLength(2);
  });
});

describe("a provider's networks", () => {
  const networks = (count: number): string =>
    Array.from({ length: count }, (_, at) => `ip4:192.0.${at}.0/24`).join(' ');
  /** The provider has so many networks; the record names the first of them. */
  const authorizationOf = async (ofProvider: number, named: number) => {
    const dns = queriesOf({
      'shop.test': { TXT: [`v=spf1 ${networks(named)} -all`] },
      'provider.test': { TXT: [`v=spf1 ${networks(ofProvider)} -all`] },
    });
    const subject = { domain: 'shop.test', mailFrom: 'hello@shop.test' };
    const found = await survey(dns, subject);
    return findAuthorization(dns, { ...subject, include: 'provider.test' }, found);
  };

  test('are all tried, up to the bound', async () => {
    const most = SAMPLED_NETWORKS_MAX;
    expect(await authorizationOf(most, most)).toBe('whole');
    expect(await authorizationOf(most, most - 1)).toBe('part');
  });

  test('past it so many of them are tried', async () => {
    const most = SAMPLED_NETWORKS_MAX;
    expect(await authorizationOf(most + 1, most)).toBe('whole');
    expect(await authorizationOf(most + 1, most - 1)).toBe('part');
  });
});

describe('a query', () => {
  afterEach(() => void vi.useRealTimers());
  const answerAfter = async (waitMs: number) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const late = new Promise<string[]>((resolve) => setTimeout(resolve, waitMs, ['192.0.2.1']));
    const reader = { resolve4: () => late } as unknown as DomainReader;
    const answer = new DnsQueries(reader).addresses('shop.test', 4);
    await vi.advanceTimersByTimeAsync(waitMs);
    return answer;
  };

  test('is waited for up to the bound, and no longer', async () => {
    expect(await answerAfter(DNS_QUERY_TIME_MAX_MS)).toMatchObject({ kind: 'found' });
    expect(await answerAfter(DNS_QUERY_TIME_MAX_MS + 1)).toEqual({
      kind: 'failed',
      why: 'no_answer',
    });
  });
});
