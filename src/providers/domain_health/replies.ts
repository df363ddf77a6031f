import type { DnsQueries, Exchange } from './dns.ts';
import { toFinding, toUnknown } from './findings.ts';
import type { Finding } from './findings.ts';

/** How many exchanges are looked up: one that is there is enough. */
const EXCHANGES_TRIED_MAX = 3;

export type RepliesSubject = {
  /** The sender's domain. */
  domain: string;
  /** The domain that replies go to, where it is another. */
  replyDomain: string;
};

const isNull = (exchanges: readonly Exchange[]): boolean =>
  exchanges.some(({ exchange }) => exchange === '');

/** Checks whether replies can arrive (RFC 5321 §5.1), and whether the sender's domain says that it takes no email. */
export const checkReplies = async (
  dns: DnsQueries,
  { domain, replyDomain }: RepliesSubject,
): Promise<Finding> => {
  const own = await dns.exchanges(domain);
  if (own.kind === 'failed') return toUnknown(own.why);
  if (own.kind === 'found' && isNull(own.records)) return describeNull(domain, own.records);
  const answer = replyDomain === domain ? own : await dns.exchanges(replyDomain);
  if (answer.kind === 'failed') return toUnknown(answer.why);
  if (answer.kind === 'absent') return describeWithout(dns, replyDomain);
  if (isNull(answer.records)) return describeNull(replyDomain, answer.records);
  return checkExchanges(dns, replyDomain, answer.records);
};

const show = (exchanges: readonly Exchange[]): string[] =>
  exchanges.map(({ priority, exchange }) => `${priority} ${exchange === '' ? '.' : exchange}`);

/** A null MX (RFC 7505): nothing arrives, and receivers may refuse email from such a domain. */
const describeNull = (domain: string, exchanges: readonly Exchange[]): Finding =>
  toFinding(
    {
      status: 'bad',
      code: 'replies_refused',
      summary: `${domain} states that it takes no email (null MX). Replies fail, and some receivers refuse its email.`,
    },
    { found: show(exchanges) },
  );

/** Without MX records email goes to the address of the domain itself. */
const describeWithout = async (dns: DnsQueries, domain: string): Promise<Finding> => {
  const [four, six] = await Promise.all([dns.addresses(domain, 4), dns.addresses(domain, 6)]);
  if (four.kind === 'found' || six.kind === 'found')
    return toFinding({
      status: 'warning',
      code: 'replies_implicit',
      summary: `${domain} has no MX record, so replies go to its own address. Publish an MX record.`,
    });
  const failed = [four, six].find((answer) => answer.kind === 'failed');
  if (failed?.kind === 'failed') return toUnknown(failed.why);
  return toFinding({
    status: 'warning',
    code: 'replies_missing',
    summary: `${domain} has neither an MX record nor an address, so replies do not arrive.`,
  });
};

const checkExchanges = async (
  dns: DnsQueries,
  domain: string,
  exchanges: readonly Exchange[],
): Promise<Finding> => {
  const first = exchanges.toSorted((a, b) => a.priority - b.priority);
  let unknown: 'no_answer' | 'limit' | null =
    exchanges.length > EXCHANGES_TRIED_MAX ? 'no_answer' : null;
  for (const { exchange } of first.slice(0, EXCHANGES_TRIED_MAX)) {
    const [four, six] = await Promise.all([dns.addresses(exchange, 4), dns.addresses(exchange, 6)]);
    if (four.kind === 'found' || six.kind === 'found')
      return toFinding(
        { status: 'good', code: 'replies_ok', summary: `Replies go to ${exchange}.` },
        { found: show(first) },
      );
    for (const answer of [four, six]) if (answer.kind === 'failed') unknown = answer.why;
  }
  if (unknown) return toUnknown(unknown, { found: show(first) });
  return toFinding(
    {
      status: 'bad',
      code: 'replies_lost',
      summary: `No MX record of ${domain} leads to an address, so replies do not arrive.`,
    },
    { found: show(first) },
  );
};
