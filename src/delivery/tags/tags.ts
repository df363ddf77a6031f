import { serviceOfHost } from '../../providers/providers.ts';

/** Our ids of an email, for its vendor to return in feedback. */
type Ids = { sendId: string; automationId: string | null };

const withAutomation = ({ sendId, automationId }: Ids): Record<string, string> => ({
  send_id: sendId,
  ...(automationId === null ? {} : { automation_id: automationId }),
});

type Vendor = { isOf: (host: string) => boolean; headersOf: (ids: Ids) => Record<string, string> };

/**
 * SMTP hosts whose vendor returns what certain headers hold, and these headers (the vendors'
 * manuals of SMTP).
 */
const VENDORS: readonly Vendor[] = [
  {
    isOf: (host) => serviceOfHost(host) === 'mailgun',
    headersOf: ({ sendId, automationId }) => ({
      'X-Mailgun-Variables': JSON.stringify({ send_id: sendId }),
      ...(automationId === null ? {} : { 'X-Mailgun-Tag': automationId }),
    }),
  },
  {
    isOf: (host) => serviceOfHost(host) === 'amazon_ses',
    headersOf: (ids) => ({
      'X-SES-MESSAGE-TAGS': Object.entries(withAutomation(ids))
        .map(([name, value]) => `${name}=${value}`)
        .join(', '),
    }),
  },
  {
    isOf: (host) => /(?:^|\.)postmarkapp\.com$/i.test(host),
    headersOf: ({ sendId }) => ({ 'X-PM-Metadata-send_id': sendId }),
  },
  {
    isOf: (host) => /(?:^|\.)sendgrid\.net$/i.test(host),
    headersOf: (ids) => ({ 'X-SMTPAPI': JSON.stringify({ unique_args: withAutomation(ids) }) }),
  },
  {
    isOf: (host) => /(?:^|\.)(?:brevo|sendinblue)\.com$/i.test(host),
    headersOf: ({ sendId }) => ({ 'X-Mailin-custom': `send_id:${sendId}` }),
  },
  {
    isOf: (host) => /(?:^|\.)mailjet\.com$/i.test(host),
    headersOf: ({ sendId }) => ({ 'X-MJ-CustomID': sendId }),
  },
  {
    isOf: (host) => /(?:^|\.)sparkpostmail\.com$/i.test(host),
    headersOf: (ids) => ({ 'X-MSYS-API': JSON.stringify({ metadata: withAutomation(ids) }) }),
  },
];

/**
 * Returns the headers that make the vendor behind an SMTP host return our ids; none for a host of
 * another vendor.
 */
export const tagHeadersOf = (host: string | null, ids: Ids): Record<string, string> =>
  VENDORS.find((vendor) => host !== null && vendor.isOf(host))?.headersOf(ids) ?? {};
