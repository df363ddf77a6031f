import { getPublicSuffix } from 'tldts';
import type { DnsQueries } from '../dns.ts';
import { isWithoutPolicy, policyFor } from './record.ts';
import type { DmarcRecord } from './record.ts';
import { toFinding, toUnknown, toVerdict, VALUE_CHARS_MAX } from '../findings.ts';
import type { DnsRecord, Finding, Problem } from '../findings.ts';
import { isWithin, registeredOf } from '../names.ts';
import { checkReports } from './reports.ts';
import { organizationIn, policyIn } from './tree_walk.ts';
import type { TreeWalk } from './tree_walk.ts';

export { findOrganization, organizationIn, policyIn, walkNames, walkTree } from './tree_walk.ts';
export type { TreeWalk } from './tree_walk.ts';

/** What a walk from the sender's domain found, and what it means for the sender. */
export type DmarcSubject = {
  domain: string;
  walk: TreeWalk;
  /** Whether the domain has an address or an exchange (RFC 9989 §3.2.13). */
  exists: boolean;
};

const warning = (code: string, text: string): Problem => ({ status: 'warning', code, text });
const bad = (code: string, text: string): Problem => ({ status: 'bad', code, text });

/** What to start with, in the shape that the product recommends. */
const startOf = (domain: string, more = ''): DnsRecord => ({
  name: `_dmarc.${domain}`,
  type: 'TXT',
  value: `v=DMARC1; p=none; rua=mailto:dmarc@${domain}; fo=1${more}`,
});

const MAILBOX = 'Create the mailbox in "rua" first, or name one that exists.';

/** Checks the DMARC record that applies to a domain (RFC 9989), and where its reports go (RFC 9990). */
export const checkDmarc = async (dns: DnsQueries, subject: DmarcSubject): Promise<Finding> => {
  const { domain, walk } = subject;
  const policy = policyIn(walk);
  if (walk.failed && policy?.domain !== domain) return toUnknown(walk.failed);
  if (!policy) return describeMissing(subject);
  const { record } = policy;
  const organization = organizationIn(walk) ?? registeredOf(domain);
  const refused = await checkReports(dns, { domain: policy.domain, organization }, [
    ...record.reports.addresses,
    ...record.failures.addresses,
  ]);
  const shared = findShared(domain, organization) ?? findForeign(policy, organization);
  const problems = [
    ...listIgnored(walk),
    ...listPolicyProblems(record, policy.domain),
    ...(shared ? [shared.problem] : []),
    ...listReportProblems(record),
    ...refused.map(({ status, code, text }) => ({ status, code, text })),
    ...listTagProblems(record, policy.domain === domain),
  ];
  const offers = [
    ...(shared ? [shared.publish] : []),
    ...(record.reports.addresses.length === 0 ? withReports(policy.domain, record) : []),
    ...refused.flatMap(({ publish }) => publish ?? []),
  ];
  return toVerdict(problems, describeGood(subject, policy), {
    found: [record.text, ...(walk.steps[0]?.several ?? [])],
    publish: offers[0] ?? null,
    publish_also: offers.slice(1),
    advice: listAdvice(record, policy.domain, organization),
  });
};

/** Records at the sender's own name that receivers do not read. */
const listIgnored = ({ steps: [own] }: TreeWalk): Problem[] => {
  if (!own || own.record) return [];
  if (own.several.length > 0)
    return [
      bad(
        'dmarc_several',
        `There are ${own.several.length} DMARC records at _dmarc.${own.domain}, so receivers use none of them. ` +
          'Keep one.',
      ),
    ];
  return own.others.length > 0
    ? [
        bad(
          'dmarc_ignored',
          `Receivers ignore the record at _dmarc.${own.domain}. It has to begin with "v=DMARC1;".`,
        ),
      ]
    : [];
};

const describeMissing = ({ domain, walk }: DmarcSubject): Finding => {
  const [problem] = listIgnored(walk);
  const found = walk.steps.flatMap(({ several, others }) => [...several, ...others]);
  const home = problem ? domain : registeredOf(domain);
  const summary = `There is no DMARC record for ${domain}.`;
  const said = problem
    ? { status: 'bad' as const, code: problem.code, summary: problem.text }
    : { status: 'bad' as const, code: 'dmarc_missing', summary };
  const hasSeveral = problem?.code === 'dmarc_several';
  return toFinding(said, {
    found,
    publish: hasSeveral ? null : startOf(home),
    advice: hasSeveral ? [] : [MAILBOX],
  });
};

const listPolicyProblems = (record: DmarcRecord, at: string): Problem[] => {
  if (!isWithoutPolicy(record)) return [];
  const invalid = (['p', 'sp', 'np'] as const).find((tag) => record[tag] === 'invalid');
  const effect =
    record.reports.addresses.length > 0
      ? 'receivers act as if it said "p=none"'
      : 'receivers ignore the record';
  if (invalid !== undefined)
    return [
      bad(
        'dmarc_policy',
        `The value of "${invalid}" is none of none, quarantine and reject, so ${effect}.`,
      ),
    ];
  const say = record.reports.addresses.length > 0 ? warning : bad;
  return [
    say('dmarc_no_policy', `The record at _dmarc.${at} has no "p", so ${effect}. Add "p=none".`),
  ];
};

/** A public suffix whose record does not say that it is one: its domains count as one organization. */
const findShared = (domain: string, organization: string) => {
  const suffix = getPublicSuffix(domain, { allowPrivateDomains: true });
  if (suffix !== organization || domain === organization) return null;
  const own = registeredOf(domain);
  return {
    problem: warning(
      'dmarc_shared',
      `${suffix} is a public suffix, but its DMARC record does not say so. ` +
        'Receivers count all of its domains as one organization.',
    ),
    publish: startOf(own, '; psd=n'),
  };
};

/** The record of the public suffix applies: it says what its operator wants, and reports go there. */
const findForeign = (policy: { domain: string }, organization: string) => {
  if (isWithin(policy.domain, organization)) return null;
  return {
    problem: warning(
      'dmarc_of_suffix',
      `${organization} has no DMARC record, so the one of the public suffix ${policy.domain} applies. ` +
        'Publish your own.',
    ),
    publish: startOf(organization),
  };
};

const listReportProblems = ({ reports }: DmarcRecord): Problem[] => [
  ...(reports.addresses.length === 0
    ? [
        warning(
          'dmarc_no_reports',
          'No address receives DMARC reports. Add "rua=mailto:<address>".',
        ),
      ]
    : []),
  ...reports.ignored.map((uri) =>
    warning(
      'dmarc_report_address',
      `Receivers send no reports to "${uri}". Write it as "mailto:<address>".`,
    ),
  ),
];

/** The same record with an address for reports; none where it is too long to be published again. */
const withReports = (domain: string, { text }: DmarcRecord): DnsRecord[] => {
  if (text.length > VALUE_CHARS_MAX) return [];
  const rest = text.replace(/[;\s]+$/, '').replace(/;\s*rua\s*=[^;]*/i, '');
  const value = `${rest}; rua=mailto:dmarc@${domain}`;
  return [{ name: `_dmarc.${domain}`, type: 'TXT', value }];
};

const listTagProblems = (record: DmarcRecord, isOwn: boolean): Problem[] => {
  const share = record.removed.find(([tag, value]) => tag === 'pct' && value !== '100');
  const isEnforced = policyFor(record, { isOwn: true, exists: true }).policy !== 'none';
  return [
    ...(share && isEnforced
      ? [
          warning(
            'dmarc_pct',
            `"pct=${share[1]}" has no effect since RFC 9989: receivers apply the policy to all email. ` +
              'Use "t=y" to test a policy.',
          ),
        ]
      : []),
    ...(record.psd === 'y' && isOwn
      ? [warning('dmarc_psd', '"psd=y" is for public suffixes alone. Remove it.')]
      : []),
  ];
};

const listAdvice = (record: DmarcRecord, at: string, organization: string): string[] => {
  const removed = record.removed.map(([tag]) => `"${tag}"`).join(', ');
  const isBelow = at !== organization && isWithin(at, organization);
  const hasOthers = record.sp !== null || record.np !== null;
  return [
    ...(isBelow && hasOthers
      ? [`"sp" and "np" have no effect at _dmarc.${at}, below ${organization}.`]
      : []),
    ...(removed === ''
      ? []
      : [`DMARC no longer has ${removed} (RFC 9989). Remove that from the record.`]),
    ...(record.reports.addresses.length === 0 ? [MAILBOX] : []),
  ];
};

const NEXT = {
  none: 'When the reports are clean, tighten it to quarantine, then to reject.',
  quarantine: 'When the reports are clean, tighten it to reject.',
  reject: '',
} as const;

const describeGood = (
  { domain, exists }: DmarcSubject,
  policy: { domain: string; record: DmarcRecord },
) => {
  const isOwn = policy.domain === domain;
  const { tag, policy: stated, applied } = policyFor(policy.record, { isOwn, exists });
  const place = isOwn
    ? `The record is published with ${tag}=${stated}.`
    : `The record of ${policy.domain} applies to ${domain} with ${tag}=${stated}.`;
  const test =
    applied === stated
      ? ''
      : ` In test mode (t=y), receivers apply ${applied}. Remove "t=y" when you are done.`;
  const next = test === '' && NEXT[stated] !== '' ? ` ${NEXT[stated]}` : '';
  return { code: stated === 'none' ? 'dmarc_none' : 'dmarc_ok', summary: `${place}${test}${next}` };
};
