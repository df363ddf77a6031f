import { serviceOfHost } from '../providers/providers.ts';
import type { Prepared } from '../providers/providers.ts';
import type { Category } from './queries.ts';

/** What a message tells mailbox providers and its own provider about itself. */
export type MailAbout = {
  projectId: string;
  automationId: string | null;
  templateId: string;
  templateVersion: number;
  category: Category;
  /** Where a reader leaves; null for mail that is no marketing. */
  unsubscribeUrl: string | null;
  /** The SMTP host that it goes through, if it does. */
  host: string | null;
};

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

const prepare = (value: string): Prepared => {
  if (!PRINTABLE_ASCII.test(value)) throw new Error('a prepared header is printable ASCII');
  return { value };
};

const SENDER_CHARS = 12;

/**
 * Gmail's Feedback-ID: automation, template, category, and last who sends, stable and 5 to 15 characters
 * long. Nothing of it is about the recipient.
 */
const feedbackIdOf = (about: MailAbout): string =>
  [
    about.automationId ?? 'none',
    `${about.templateId}.${about.templateVersion}`,
    about.category,
    // The end of the id is its random part: its beginning is when the project was made.
    about.projectId.replaceAll('-', '').slice(-SENDER_CHARS),
  ].join(':');

/** Returns our ids in the header that this relay repeats in its feedback; none for a relay without such a header. */
const tagHeaders = (sendId: string, { host, automationId }: MailAbout) => {
  const service = host === null ? null : serviceOfHost(host);
  if (service === 'mailgun')
    return {
      'X-Mailgun-Variables': prepare(JSON.stringify({ send_id: sendId })),
      ...(automationId === null ? {} : { 'X-Mailgun-Tag': prepare(automationId) }),
    };
  if (service === 'amazon_ses') {
    const tags = {
      send_id: sendId,
      ...(automationId === null ? {} : { automation_id: automationId }),
    };
    const said = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
    return { 'X-SES-MESSAGE-TAGS': prepare(said.join(', ')) };
  }
  return {};
};

/** RFC 2369 and RFC 8058, one field each: the address of a POST that unsubscribes at once. */
const unsubscribeHeaders = (url: string | null) =>
  url === null
    ? {}
    : {
        'List-Unsubscribe': prepare(`<${url}>`),
        'List-Unsubscribe-Post': prepare('List-Unsubscribe=One-Click'),
      };

/** The headers of a message besides those that every mail has. Their names are all here. */
export const mailHeaders = (sendId: string, about: MailAbout) => ({
  'Auto-Submitted': 'auto-generated',
  'X-Trunkline-Send-Id': sendId,
  'Feedback-ID': prepare(feedbackIdOf(about)),
  ...unsubscribeHeaders(about.unsubscribeUrl),
  ...tagHeaders(sendId, about),
});
