import type { Dkim } from './dkim/dkim.ts';
import type { DnsQueries } from './dns.ts';
import { toFinding, toUnknown } from './findings.ts';
import type { Finding } from './findings.ts';
import type { MailFrom } from './mail_from.ts';
import { registeredOf } from './names.ts';
import { organizationIn, walkTree } from './dmarc/dmarc.ts';

export type AlignmentSubject = {
  /** The domain that people see. */
  domain: string;
  /** What the DMARC record asks for; null where name servers did not say. */
  isStrict: { dkim: boolean; spf: boolean } | null;
  dkim: readonly Dkim[];
  /** Whether the selectors are those that the email provider issued. */
  areSelectorsKnown: boolean;
  mailFrom: MailFrom;
};

/**
 * How an authenticated domain stands to the sender's. `older`: aligned only where receivers use the Public Suffix List;
 * `unknown`: name servers did not answer.
 */
type Match = 'aligned' | 'older' | 'none' | 'unknown';

const matchOf = async (
  dns: DnsQueries,
  domain: string,
  authenticated: string,
  isStrict: boolean | undefined,
): Promise<Match> => {
  if (authenticated === domain) return 'aligned';
  if (isStrict === undefined) return 'unknown';
  if (isStrict) return 'none';
  const walks = await Promise.all([walkTree(dns, domain), walkTree(dns, authenticated)]);
  if (walks.some(({ failed }) => failed !== null)) return 'unknown';
  const [own, other] = walks.map(organizationIn);
  if ((own ?? registeredOf(domain)) === (other ?? registeredOf(authenticated))) return 'aligned';
  return registeredOf(domain) === registeredOf(authenticated) ? 'older' : 'none';
};

const isUsable = ({ status }: Finding): boolean => status === 'good' || status === 'warning';

const isUnanswered = ({ status }: Finding): boolean => status === 'unknown';

/**
 * Checks whether receivers authenticate the domain that people see (RFC 9989 §4.4): one signature or the
 * reverse-path is enough.
 */
export const checkAlignment = async (
  dns: DnsQueries,
  subject: AlignmentSubject,
): Promise<Finding> => {
  const { domain, isStrict, dkim, mailFrom } = subject;
  const signatures = [];
  for (const key of dkim.filter(isUsable))
    signatures.push({ key, match: await matchOf(dns, domain, key.domain, isStrict?.dkim) });
  const path =
    mailFrom.domain !== null && isUsable(mailFrom)
      ? await matchOf(dns, domain, mailFrom.domain, isStrict?.spf)
      : 'none';
  const signed = signatures.find(({ match }) => match === 'aligned')?.key;
  if (signed) return describeSigned(signed, path === 'aligned' ? mailFrom.domain : null);
  const isOpen = dkim.some(isUnanswered) || signatures.some(({ match }) => match === 'unknown');
  if (isOpen) return toUnknown(dns.silence);
  if (path === 'aligned') return describeSpfAlone(subject);
  if (path === 'unknown' || (mailFrom.domain !== null && isUnanswered(mailFrom)))
    return toUnknown(dns.silence);
  const older = signatures.find(({ match }) => match === 'older')?.key.domain;
  if (older !== undefined) return describeOlder(domain, older);
  return describeUnaligned(
    subject,
    signatures.map(({ key }) => key.domain),
  );
};

const describeSigned = ({ selector, domain }: Dkim, path: string | null): Finding =>
  toFinding(
    {
      status: 'good',
      code: 'aligned_dkim',
      summary: `Email that is signed with the selector ${selector} for ${domain} passes DMARC.`,
    },
    {
      advice:
        path === null ? [] : [`Email from the reverse-path ${path} passes DMARC by SPF, too.`],
    },
  );

const describeSpfAlone = ({ areSelectorsKnown, mailFrom }: AlignmentSubject): Finding =>
  toFinding(
    {
      status: 'warning',
      code: 'aligned_spf',
      summary: areSelectorsKnown
        ? `DMARC depends on SPF alone, for the reverse-path ${mailFrom.domain ?? ''}. Forwarded email then fails.`
        : `DMARC can pass by SPF, for the reverse-path ${mailFrom.domain ?? ''}. Forwarded email needs DKIM, too.`,
    },
    { advice: [areSelectorsKnown ? PUBLISH_KEY : NAME_SELECTORS] },
  );

const describeOlder = (domain: string, signing: string): Finding =>
  toFinding(
    {
      status: 'warning',
      code: 'aligned_older',
      summary: `Signatures of ${signing} pass DMARC for ${domain} only where receivers use the Public Suffix List.`,
    },
    {
      advice: [
        `Publish a DMARC record at _dmarc.${registeredOf(domain)}. It makes both names one organization (RFC 9989).`,
      ],
    },
  );

const PUBLISH_KEY = 'Publish the DKIM record of the email provider.';
const NAME_SELECTORS = 'Enter the DKIM selectors that the email provider issued, and check again.';

const describeUnaligned = (
  { domain, isStrict, areSelectorsKnown }: AlignmentSubject,
  signing: readonly string[],
): Finding => {
  if (!areSelectorsKnown && signing.length === 0)
    return toFinding({
      status: 'unknown',
      code: 'selectors_unknown',
      summary: `DNS does not list DKIM selectors. ${NAME_SELECTORS}`,
    });
  const [other] = signing;
  if (other !== undefined && isStrict?.dkim)
    return toFinding({
      status: 'bad',
      code: 'aligned_strict',
      summary:
        'The DMARC record asks for strict alignment (adkim=s), ' +
        `so signatures of ${other} do not count for ${domain}.`,
    });
  return toFinding(
    {
      status: 'bad',
      code: 'aligned_none',
      summary: `No email from ${domain} passes DMARC: neither DKIM nor SPF authenticates the domain.`,
    },
    { advice: [PUBLISH_KEY] },
  );
};
