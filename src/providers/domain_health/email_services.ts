import { serviceOfHost, sesRegionOf } from '../email_service.ts';
import type { Settings } from '../settings.ts';

/** What is known of the email service behind a provider's record, from its manuals. */
export type EmailServiceFacts = {
  name: string;
  /** What its customers include in SPF; null where only the customer knows. */
  include: string | null;
  /**
   * Whose domain the reverse-path (MAIL FROM) is by default: the sender's, or the service's own, so that SPF says
   * nothing of the sender.
   */
  mailFrom: 'sender' | 'service';
  /** Where the CNAME of a selector points; null where only the service knows. */
  dkimTarget?: (selector: string) => string | null;
  /** The records of a MAIL FROM domain of the customer's own. */
  mailFromRecords?: MailFromRecords;
};

/** A CNAME that brings everything along, or an MX of the service. */
export type MailFromRecords =
  { kind: 'alias'; target: string } | { kind: 'exchange'; host: string };

export type Connection = Pick<Settings, 'provider'> & {
  smtp_host?: string | null;
  region?: string | null;
};

/**
 * Amazon SES sends from a domain of its own until the customer sets up a custom MAIL FROM domain, whose MX is the
 * region's (SES developer guide, "Using a custom MAIL FROM domain").
 */
const amazonSes = (region: string | null): EmailServiceFacts => ({
  name: 'Amazon SES',
  include: 'amazonses.com',
  mailFrom: 'service',
  ...(region === null
    ? {}
    : {
        mailFromRecords: {
          kind: 'exchange' as const,
          host: `feedback-smtp.${region}.amazonses.com`,
        },
      }),
});

/** SMTP2GO's set-up of a sender domain: CNAMEs for DKIM and the return path. */
const SMTP2GO: EmailServiceFacts = {
  name: 'SMTP2GO',
  include: 'spf.smtp2go.com',
  mailFrom: 'service',
  dkimTarget: (selector) => (/^s\d+$/.test(selector) ? 'dkim.smtp2go.net' : null),
  mailFromRecords: { kind: 'alias', target: 'return.smtp2go.net' },
};

const MAILGUN: EmailServiceFacts = { name: 'Mailgun', include: 'mailgun.org', mailFrom: 'sender' };

const OTHERS: readonly [host: RegExp, facts: EmailServiceFacts][] = [
  [
    /^smtp(?:-relay)?\.gmail\.com$/,
    { name: 'Google Workspace', include: '_spf.google.com', mailFrom: 'sender' },
  ],
  [
    /^smtp\.office365\.com$/,
    { name: 'Microsoft 365', include: 'spf.protection.outlook.com', mailFrom: 'sender' },
  ],
];

const ANY_RELAY: EmailServiceFacts = { name: 'The relay', include: null, mailFrom: 'sender' };

/** Returns what is known of the service that carries a provider's email. A relay in front of one hides it. */
export const factsOf = ({ provider, smtp_host, region }: Connection): EmailServiceFacts => {
  if (provider === 'relay_api') return SMTP2GO;
  if (provider === 'cloud_api') return amazonSes(region ?? null);
  const host = smtp_host?.toLowerCase() ?? '';
  switch (serviceOfHost(host)) {
    case 'amazon_ses':
      return amazonSes(sesRegionOf(host));
    case 'mailgun':
      return MAILGUN;
    case 'smtp2go':
      return SMTP2GO;
    case 'other':
      return OTHERS.find(([form]) => form.test(host))?.[1] ?? ANY_RELAY;
  }
};
