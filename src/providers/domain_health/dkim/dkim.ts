import type { DnsQueries } from '../dns.ts';
import { describeKey, judgeKey } from './key.ts';
import { toFinding, toUnknown, toVerdict } from '../findings.ts';
import type { DnsRecord, Finding } from '../findings.ts';
import { isWithin, parentOf, toName } from '../names.ts';
import type { EmailServiceFacts } from '../email_services.ts';

/** How many selectors one check looks for. */
export const DKIM_SELECTORS_MAX = 10;
/** How many domains a check tries for one selector: the sender's, and those above it. */
const SIGNING_DOMAINS_MAX = 5;

/** Selectors that email providers use by default. Name servers do not list them, so they are tried. */
export const USUAL_SELECTORS: readonly string[] =
  'k1 mx pic smtp s1 s2 selector1 selector2 default'.split(' ');

/** What a key looks like. Other texts may stand there by a wildcard. */
const KEY = /^\s*v\s*=\s*DKIM|(?:^|;)\s*[pk]\s*=/i;
const DKIM_TARGET = /dkim|domainkey/i;

/** What was found for a selector; `domain` is the one that signatures name (d=). */
export type Dkim = Finding & { selector: string; domain: string };

export type Signer = {
  /** The sender's domain. */
  domain: string;
  /** The domain above which no key counts. */
  organization: string;
  service: EmailServiceFacts;
};

/** The sender's domain and those above it whose signatures may count for it. */
const signingDomains = ({ domain, organization }: Signer): string[] => {
  const domains = [domain];
  for (
    let name = parentOf(domain);
    name !== null && isWithin(name, organization) && domains.length < SIGNING_DOMAINS_MAX;
    name = parentOf(name)
  )
    domains.push(name);
  return domains;
};

/** Checks the key of a selector (RFC 6376): at the sender's domain, then at the domains above it. */
export const checkDkim = async (
  dns: DnsQueries,
  signer: Signer,
  selector: string,
): Promise<Dkim> => {
  const domains = signingDomains(signer);
  let first: Dkim | null = null;
  for (const domain of domains) {
    const found = await checkAt(dns, signer, { selector, domain });
    if (found.code !== 'dkim_missing') return found;
    first ??= found;
  }
  const name = `${selector}._domainkey.${signer.domain}`;
  const also = domains.length > 1 ? ', nor at the domains above it' : '';
  return {
    ...(first ?? { ...toUnknown(dns.silence), selector, domain: signer.domain }),
    summary: `There is no DKIM key at ${name}${also}. Copy the record exactly as the email provider shows it.`,
  };
};

type KeyLocation = { selector: string; domain: string };

const checkAt = async (dns: DnsQueries, signer: Signer, place: KeyLocation): Promise<Dkim> => {
  const name = `${place.selector}._domainkey.${place.domain}`;
  const [texts, aliases] = await Promise.all([dns.texts(name, KEY), dns.aliases(name)]);
  if (texts.kind === 'failed') return { ...toUnknown(texts.why), ...place };
  const [target] = aliases.kind === 'found' ? aliases.records.map(toName) : [];
  const records = texts.kind === 'found' ? texts.records.map((one) => one.join('')) : [];
  const found = [...(target === undefined ? [] : [`CNAME ${target}`]), ...records];
  const [record] = records;
  if (record === undefined)
    return { ...describeMissing({ name, target, found }, signer, place), ...place };
  if (records.length > 1)
    return {
      ...toFinding(
        {
          status: 'bad',
          code: 'dkim_several',
          summary: `There are ${records.length} keys at ${name}, and receivers may take any of them. Keep one.`,
        },
        { found },
      ),
      ...place,
    };
  const good = { code: 'dkim_ok', summary: describeKey(record) };
  const advice =
    place.domain === signer.domain
      ? []
      : [
          `The key belongs to ${place.domain}. Signatures have to name that domain (d=${place.domain}).`,
        ];
  return { ...toVerdict(judgeKey(record), good, { found, advice }), ...place };
};

type MissingKey = { name: string; target: string | undefined; found: string[] };

const describeMissing = (
  { name, target, found }: MissingKey,
  { service }: Signer,
  { selector, domain }: KeyLocation,
): Finding => {
  const wanted = service.dkimTarget?.(selector) ?? null;
  const publish: DnsRecord | null = wanted === null ? null : { name, type: 'CNAME', value: wanted };
  if (target === undefined)
    return toFinding(
      { status: 'bad', code: 'dkim_missing', summary: `There is no DKIM key at ${name}.` },
      { found, publish },
    );
  const isAppended = target.endsWith(`.${domain}`) && DKIM_TARGET.test(target);
  const meant = target.slice(0, -domain.length - 1);
  return toFinding(
    {
      status: 'bad',
      code: 'dkim_dangling',
      summary: `${name} points to ${target}, where there is no key.`,
    },
    {
      found,
      publish: isAppended ? { name, type: 'CNAME', value: meant } : publish,
      advice: [
        isAppended
          ? `The DNS host added ${domain} to the target. Enter the target with a dot at its end.`
          : 'Copy the target again from the email provider.',
      ],
    },
  );
};

/** Whether something that is there without being asked for is a key of email, and no wildcard. */
export const isLikelyKey = ({ code, found }: Dkim): boolean =>
  code !== 'dkim_missing' &&
  (code !== 'dkim_dangling' || found.some((one) => DKIM_TARGET.test(one)));
