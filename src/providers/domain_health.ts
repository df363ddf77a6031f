import { checkDkim } from './domain_dkim.ts';
import type { Dkim } from './domain_dkim.ts';
import { checkDmarc, organisationOf } from './domain_dmarc.ts';
import { NOT_TOLD, readExchanges } from './domain_names.ts';
import type { DomainReader, Finding } from './domain_names.ts';
import { checkSpf } from './domain_spf.ts';
import type { Settings } from './settings.ts';

/** How many selectors one look may ask for. */
export const DKIM_SELECTORS_MAX = 10;

/** Selectors that providers are known to use. Name servers do not list them, so they are tried. */
const USUAL_SELECTORS = ['k1', 'mx', 'pic', 'smtp', 's1', 's2', 'selector1', 'default'];

/** What a domain that sends through SMTP2GO, Amazon SES or Mailgun includes (their manuals). */
const INCLUDES: readonly [host: RegExp, include: string][] = [
  [/(?:^|\.)smtp2go\.com$/, 'spf.smtp2go.com'],
  [/^email-smtp\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/, 'amazonses.com'],
  [/(?:^|\.)mailgun\.org$/, 'mailgun.org'],
];

/** What the SPF record has to include for a provider; null where only the customer knows. */
export const includeOf = (settings: Pick<Settings, 'provider'> & { smtp_host?: string | null }) => {
  if (settings.provider === 'relay_api') return 'spf.smtp2go.com';
  if (settings.provider === 'cloud_api') return 'amazonses.com';
  const host = settings.smtp_host?.toLowerCase() ?? '';
  return INCLUDES.find(([form]) => form.test(host))?.[1] ?? null;
};

/** What receivers will find out about a sender's domain. */
export type DomainHealth = {
  domain: string;
  organisation: string;
  status: Finding['status'];
  spf: Finding;
  dkim: Dkim[];
  dmarc: Finding;
  alignment: Finding;
  replies: Finding;
};

const finding = (status: Finding['status'], summary: string, found: string[] = []): Finding => ({
  status,
  summary,
  found,
  publish: null,
});

/** Whether what a receiver authenticates is the domain that people see (DMARC's alignment). */
const alignmentOf = (domain: string, dkim: readonly Dkim[], isAsked: boolean): Finding => {
  const signed = dkim.filter(({ status }) => status === 'good' || status === 'warning');
  if (signed.length > 0)
    return finding(
      'good',
      `Messages signed with ${signed[0]?.selector}._domainkey.${domain} pass DMARC.`,
    );
  if (dkim.some(({ status }) => status === 'unknown')) return NOT_TOLD;
  return isAsked
    ? finding(
        'bad',
        `None of these selectors has a key for ${domain}, so DMARC rests on SPF alone.`,
      )
    : finding(
        'unknown',
        'Selectors cannot be listed: ask again with those that your provider issued (dkim_selectors).',
      );
};

const checkReplies = async (reader: DomainReader, domain: string): Promise<Finding> => {
  const told = await readExchanges(reader, domain);
  if (told.kind === 'unknown') return NOT_TOLD;
  if (told.kind === 'absent')
    return finding('warning', 'There is no MX record: replies may not arrive.');
  const found = told.records.map(({ priority, exchange }) => `${priority} ${exchange}`);
  // A single empty exchange says that the domain takes no mail (RFC 7505).
  return told.records.every(({ exchange }) => exchange === '')
    ? finding('bad', 'The domain says that it takes no mail: nobody can reply.', found)
    : finding('good', 'Replies find their way.', found);
};

const WORST_FIRST: readonly Finding['status'][] = ['bad', 'unknown', 'warning', 'good'];

const worstOf = (findings: readonly Finding[]): Finding['status'] =>
  WORST_FIRST.find((status) => findings.some((one) => one.status === status)) ?? 'good';

export type Look = {
  fromEmail: string;
  include: string | null;
  /** Those that the provider issued; none tries the usual ones. */
  selectors: readonly string[];
};

/** Looks at SPF, DKIM, DMARC and MX of the domain that people see. Asks name servers, keeps nothing. */
export const lookAtDomain = async (
  reader: DomainReader,
  { fromEmail, include, selectors }: Look,
): Promise<DomainHealth> => {
  const domain = fromEmail.slice(fromEmail.lastIndexOf('@') + 1).toLowerCase();
  const isAsked = selectors.length > 0;
  const tried = await Promise.all(
    (isAsked ? selectors : USUAL_SELECTORS).map((selector) => checkDkim(reader, domain, selector)),
  );
  // Of those that were only tried, what is not there means nothing.
  const dkim = isAsked ? tried : tried.filter(({ found }) => found.length > 0);
  const [spf, dmarc, replies] = await Promise.all([
    checkSpf(reader, domain, include),
    checkDmarc(reader, domain),
    checkReplies(reader, domain),
  ]);
  const alignment = alignmentOf(domain, dkim, isAsked);
  return {
    domain,
    organisation: organisationOf(domain),
    status: worstOf([spf, dmarc, alignment, replies, ...dkim]),
    spf,
    dkim,
    dmarc,
    alignment,
    replies,
  };
};
