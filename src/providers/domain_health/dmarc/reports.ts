import type { DnsQueries } from '../dns.ts';
import { isDmarc } from './record.ts';
import type { DnsRecord, Problem } from '../findings.ts';
import { isQueryable, registeredOf, toDomain } from '../names.ts';
import { findOrganization } from './tree_walk.ts';

/** How many domains of addresses for reports one check looks up. */
export const REPORT_DOMAINS_MAX = 5;

export type ReportProblem = Problem & { publish: DnsRecord | null };

type PolicyLocation = {
  /** The domain at which the policy record stands. */
  domain: string;
  organization: string;
};

/**
 * Finds addresses to which receivers send no reports: their domain belongs to another organization, and does not say
 * that it wants them (RFC 9990 §4, for failure reports RFC 9991).
 */
export const checkReports = async (
  dns: DnsQueries,
  policy: PolicyLocation,
  addresses: readonly string[],
): Promise<ReportProblem[]> => {
  const hosts = new Set(addresses.map((address) => address.slice(address.lastIndexOf('@') + 1)));
  const problems = [];
  for (const host of [...hosts].slice(0, REPORT_DOMAINS_MAX)) {
    const problem = await checkHost(dns, policy, host);
    if (problem) problems.push(problem);
  }
  return problems;
};

const checkHost = async (
  dns: DnsQueries,
  { domain, organization }: PolicyLocation,
  host: string,
): Promise<ReportProblem | null> => {
  const destination = toDomain(host);
  if (destination === null)
    return {
      status: 'warning',
      code: 'dmarc_report_address',
      text: `"${host}" is no domain, so receivers send no reports there.`,
      publish: null,
    };
  if (registeredOf(destination) === registeredOf(domain)) return null;
  if ((await findOrganization(dns, destination)) === organization) return null;
  const name = `${domain}._report._dmarc.${destination}`;
  const answer = isQueryable(name)
    ? await dns.texts(name, /^v[ \t]*=[ \t]*DMARC1/)
    : ({ kind: 'absent' } as const);
  if (answer.kind === 'failed')
    return {
      status: 'unknown',
      code: 'dmarc_report_unknown',
      text: `The name servers of ${destination} did not say whether it accepts reports about ${domain}.`,
      publish: null,
    };
  const isAuthorized =
    answer.kind === 'found' && answer.records.some((strings) => isDmarc(strings.join('')));
  if (isAuthorized) return null;
  return {
    status: 'warning',
    code: 'dmarc_report_refused',
    text:
      `Receivers send no reports to ${destination}: it does not accept reports about ${domain}. ` +
      'Its owner has to publish a record.',
    publish: isQueryable(name) ? { name, type: 'TXT', value: 'v=DMARC1' } : null,
  };
};
