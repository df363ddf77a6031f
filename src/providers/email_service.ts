import type { Settings } from './settings.ts';

/** The email services whose feedback has a dialect of its own, and `other` for every other relay. */
export const EMAIL_SERVICES = ['amazon_ses', 'mailgun', 'smtp2go', 'other'] as const;
export type EmailService = (typeof EMAIL_SERVICES)[number];

const MAILGUN = /(?:^|\.)mailgun\.(?:org|com)$/i;
const SMTP2GO = /(?:^|\.)smtp2go\.com$/i;
/** Also the endpoints inside a VPC, and those of the Chinese and the European sovereign partition. */
const AMAZON_SES =
  /(?:^|\.)email-smtp(?:-fips)?\.([a-z0-9-]{3,30})\.(?:vpce\.)?amazonaws\.(?:com|com\.cn|eu)$/i;

/** Returns the region of an Amazon SES host; null for another host. */
export const sesRegionOf = (host: string): string | null =>
  AMAZON_SES.exec(host)?.[1]?.toLowerCase() ?? null;

/** Returns the service behind an SMTP host. A relay in front of a service is `other`. */
export const serviceOfHost = (host: string): EmailService => {
  if (AMAZON_SES.test(host)) return 'amazon_ses';
  if (MAILGUN.test(host)) return 'mailgun';
  return SMTP2GO.test(host) ? 'smtp2go' : 'other';
};

/** Returns the service that carries an email which goes out with these settings. */
export const serviceOf = (settings: Settings): EmailService => {
  switch (settings.provider) {
    case 'cloud_api':
      return 'amazon_ses';
    case 'relay_api':
      return 'smtp2go';
    case 'smtp':
      return serviceOfHost(settings.smtp_host);
  }
};
