import type { DnsQueries } from './dns.ts';
import { toFinding, toUnknown } from './findings.ts';
import type { DnsRecord, Finding } from './findings.ts';
import { isWithin, registeredOf, toName } from './names.ts';
import type { EmailServiceFacts } from './email_services.ts';
import { checkSpf } from './spf/spf.ts';

/** What was found of the reverse-path; `domain` is whose SPF receivers check, null where that is the service's own. */
export type MailFrom = Finding & { domain: string | null };

export type MailFromSubject = {
  /** The domain that people see. */
  domain: string;
  fromEmail: string;
  /** The customer's own MAIL FROM domain; null for the service's default. */
  mailFromDomain: string | null;
  service: EmailServiceFacts;
  /** What was found of the sender's own SPF record. */
  spf: Finding;
};

/**
 * Checks the domain of the reverse-path (MAIL FROM), whose SPF record receivers evaluate (RFC 7208 §2.4): the sender's
 * own, or a custom one that leads to the email service.
 */
export const checkMailFrom = async (
  dns: DnsQueries,
  subject: MailFromSubject,
): Promise<MailFrom> => {
  const { domain, mailFromDomain, service, spf } = subject;
  if (mailFromDomain !== null) {
    const found = await checkCustom(dns, { ...subject, mailFromDomain });
    return { ...found, domain: mailFromDomain };
  }
  return service.mailFrom === 'service'
    ? { ...describeDefault(service), domain: null }
    : { ...describeSender(dns, subject, spf), domain };
};

const describeDefault = ({ name, mailFromRecords }: EmailServiceFacts): Finding =>
  toFinding(
    {
      status: 'good',
      code: 'mail_from_service',
      summary: `${name} uses a reverse-path of its own unless you set one up. DMARC then depends on DKIM.`,
    },
    {
      advice:
        mailFromRecords === undefined
          ? []
          : ['If you have set one up, enter its MAIL FROM domain and check again.'],
    },
  );

const describeSender = (
  dns: DnsQueries,
  { domain, fromEmail }: MailFromSubject,
  spf: Finding,
): Finding => {
  switch (spf.status) {
    case 'bad':
      return toFinding({
        status: 'bad',
        code: 'mail_from_fails',
        summary: `The reverse-path is ${fromEmail}, so its SPF record has to be in order first.`,
      });
    case 'unknown':
      return toUnknown(dns.silence);
    case 'good':
    case 'warning':
      return toFinding({
        status: 'good',
        code: 'mail_from_sender',
        summary: `The reverse-path is ${fromEmail}, so receivers check the SPF record of ${domain}.`,
      });
  }
};

type Custom = MailFromSubject & { mailFromDomain: string };

const checkCustom = async (dns: DnsQueries, subject: Custom): Promise<Finding> => {
  const { service } = subject;
  switch (service.mailFromRecords?.kind) {
    case 'alias':
      return checkAlias(dns, subject, service.mailFromRecords.target);
    case 'exchange':
      return checkExchange(dns, subject, service.mailFromRecords.host);
    case undefined:
      return checkPolicy(dns, subject);
  }
};

/** One CNAME leads to all records of the service, the SPF record among them. */
const checkAlias = async (
  dns: DnsQueries,
  { mailFromDomain, service }: Custom,
  target: string,
): Promise<Finding> => {
  const answer = await dns.aliases(mailFromDomain);
  if (answer.kind === 'failed') return toUnknown(answer.why);
  const [found] = answer.kind === 'found' ? answer.records.map(toName) : [];
  if (found === target)
    return toFinding(
      {
        status: 'good',
        code: 'mail_from_ok',
        summary: `The reverse-path ${mailFromDomain} leads to ${service.name}.`,
      },
      { found: [`CNAME ${found}`] },
    );
  return toFinding(
    {
      status: 'bad',
      code: 'mail_from_alias',
      summary: `${mailFromDomain} does not point to ${target}, so ${service.name} cannot use it as reverse-path.`,
    },
    {
      found: found === undefined ? [] : [`CNAME ${found}`],
      publish: { name: mailFromDomain, type: 'CNAME', value: target },
    },
  );
};

/** An MX record of the service, and an SPF record that authorizes it. */
const checkExchange = async (dns: DnsQueries, subject: Custom, host: string): Promise<Finding> => {
  const { domain, mailFromDomain, service } = subject;
  if (mailFromDomain === domain || !isWithin(mailFromDomain, registeredOf(domain)))
    return toFinding({
      status: 'bad',
      code: 'mail_from_place',
      summary: `${service.name} needs a MAIL FROM domain below the verified domain that is used for nothing else.`,
    });
  const [answer, spf] = await Promise.all([
    dns.exchanges(mailFromDomain),
    checkPolicy(dns, subject),
  ]);
  if (answer.kind === 'failed') return toUnknown(answer.why);
  const found = answer.kind === 'found' ? answer.records : [];
  const isServed = found.some(({ exchange }) => toName(exchange) === host);
  const shown = [
    ...found.map(({ priority, exchange }) => `MX ${priority} ${exchange}`),
    ...spf.found,
  ];
  const exchange: DnsRecord = { name: mailFromDomain, type: 'MX', value: `10 ${host}` };
  if (isServed) return { ...spf, found: shown };
  return toFinding(
    {
      status: 'bad',
      code: 'mail_from_exchange',
      summary: `${mailFromDomain} has no MX record that leads to ${host}, so ${service.name} does not use it.`,
    },
    {
      found: shown,
      publish: exchange,
      publish_also: spf.publish ? [spf.publish] : [],
      advice: spf.status === 'good' ? [] : [spf.summary, ...spf.advice],
    },
  );
};

/** The SPF record alone: what receivers check. */
const checkPolicy = async (
  dns: DnsQueries,
  { mailFromDomain, fromEmail, service }: Custom,
): Promise<Finding> => {
  const local = fromEmail.slice(0, fromEmail.lastIndexOf('@'));
  const spf = await checkSpf(dns, {
    domain: mailFromDomain,
    mailFrom: `${local}@${mailFromDomain}`,
    include: service.include,
    isReversePath: true,
  });
  // The manuals of some services end this record with "~all", which is enough where only the service sends.
  const isEnough = spf.status === 'good' || spf.code === 'spf_softfail';
  if (!isEnough) return spf;
  return toFinding(
    {
      status: 'good',
      code: 'mail_from_ok',
      summary: `The reverse-path ${mailFromDomain} passes SPF.`,
    },
    { found: spf.found },
  );
};
