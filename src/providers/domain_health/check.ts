import { checkAlignment } from './alignment.ts';
import { checkDkim, isLikelyKey, USUAL_SELECTORS } from './dkim/dkim.ts';
import type { Dkim, Signer } from './dkim/dkim.ts';
import { checkDmarc } from './dmarc/dmarc.ts';
import { DnsQueries } from './dns.ts';
import type { DnsLimits, DomainReader } from './dns.ts';
import { toFinding, worstOf } from './findings.ts';
import type { Finding, Status } from './findings.ts';
import { checkMailFrom } from './mail_from.ts';
import type { MailFrom } from './mail_from.ts';
import { isPublicName, registeredOf, toDomain } from './names.ts';
import { checkReplies } from './replies.ts';
import type { EmailServiceFacts } from './email_services.ts';
import { checkSpf } from './spf/spf.ts';
import { organizationIn, policyIn, walkTree } from './dmarc/dmarc.ts';
import type { TreeWalk } from './dmarc/dmarc.ts';

/** What receivers find out about a sender's domain. */
export type DomainHealth = {
  domain: string;
  organisation: string;
  status: Status;
  spf: Finding;
  dkim: Dkim[];
  dmarc: Finding;
  alignment: Finding;
  mail_from: MailFrom;
  replies: Finding;
};

/** What is checked. */
export type DomainSubject = {
  fromEmail: string;
  replyTo: string | null;
  service: EmailServiceFacts;
  /** The selectors that the email provider issued; without any the usual ones are tried. */
  selectors: readonly string[];
  /** Selectors that an earlier check found by trying: one that is gone is missed. */
  knownSelectors?: readonly string[];
  /** The customer's own MAIL FROM domain. */
  mailFromDomain: string | null;
};

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/**
 * Checks SPF, DKIM, DMARC, their alignment and MX of the domain that people see. Sends a bounded number of DNS queries
 * within a bounded time, and keeps nothing.
 */
export const checkDomain = async (
  reader: DomainReader,
  subject: DomainSubject,
  limits: Partial<DnsLimits> = {},
): Promise<DomainHealth> => {
  const written = domainOf(subject.fromEmail).toLowerCase();
  const domain = toDomain(written);
  if (domain === null || !isPublicName(domain)) return describePrivate(domain ?? written);
  const dns = new DnsQueries(reader, limits);
  const walk = await walkTree(dns, domain);
  const organization = organizationIn(walk) ?? registeredOf(domain);
  const spf = await checkSpf(dns, {
    domain,
    mailFrom: subject.fromEmail,
    include: subject.service.include,
    isReversePath: subject.service.mailFrom === 'sender' && subject.mailFromDomain === null,
  });
  const dmarc = await checkDmarc(dns, { domain, walk, exists: await doesExist(dns, domain) });
  const signer = { domain, organization: registeredOf(domain), service: subject.service };
  const { dkim, areSelectorsKnown } = await checkSelectors(dns, signer, subject);
  const mailFrom = await checkMailFrom(dns, {
    domain,
    fromEmail: subject.fromEmail,
    mailFromDomain: subject.mailFromDomain,
    service: subject.service,
    spf,
  });
  const alignment = await checkAlignment(dns, {
    domain,
    isStrict: strictnessIn(walk, domain),
    dkim,
    areSelectorsKnown,
    mailFrom,
  });
  const replyDomain = toDomain(domainOf(subject.replyTo ?? subject.fromEmail)) ?? domain;
  const replies = await checkReplies(dns, { domain, replyDomain });
  return {
    domain,
    organisation: organization,
    status: worstOf([spf, dmarc, alignment, mailFrom, replies, ...dkim]),
    spf,
    dkim,
    dmarc,
    alignment,
    mail_from: mailFrom,
    replies,
  };
};

/** The alignment modes that apply to a domain; null where the walk failed before a record of its own. */
const strictnessIn = (walk: TreeWalk, domain: string) => {
  const policy = policyIn(walk);
  if (walk.failed !== null && policy?.domain !== domain) return null;
  return policy?.record.isStrict ?? { dkim: false, spf: false };
};

/** Whether a domain exists for DMARC: it has an address or an exchange (RFC 9989 §3.2.13). */
const doesExist = async (dns: DnsQueries, domain: string): Promise<boolean> => {
  const exchanges = await dns.exchanges(domain);
  if (exchanges.kind !== 'absent') return true;
  const [four, six] = await Promise.all([dns.addresses(domain, 4), dns.addresses(domain, 6)]);
  return four.kind !== 'absent' || six.kind !== 'absent';
};

/** Of selectors that were only tried, what is not there means nothing. */
const checkSelectors = async (
  dns: DnsQueries,
  signer: Signer,
  { selectors, knownSelectors = [] }: DomainSubject,
): Promise<{ dkim: Dkim[]; areSelectorsKnown: boolean }> => {
  const areSelectorsKnown = selectors.length > 0;
  const tried = areSelectorsKnown
    ? selectors
    : [...new Set([...knownSelectors, ...USUAL_SELECTORS])];
  const all = await Promise.all(tried.map((selector) => checkDkim(dns, signer, selector)));
  const dkim = areSelectorsKnown
    ? all
    : all.filter((one) => knownSelectors.includes(one.selector) || isLikelyKey(one));
  return { dkim, areSelectorsKnown };
};

/** Nothing is asked about a name that receivers in other networks cannot look up. */
const describePrivate = (domain: string): DomainHealth => {
  const finding = toFinding({
    status: 'bad',
    code: 'private_name',
    summary: `${domain} is no public domain, so receivers cannot look it up. Send from a registered domain.`,
  });
  return {
    domain,
    organisation: domain,
    status: 'bad',
    spf: finding,
    dkim: [],
    dmarc: finding,
    alignment: finding,
    mail_from: { ...finding, domain: null },
    replies: finding,
  };
};
