import type { Keys } from '../base/keys.ts';
import type { Prepared } from '../providers/providers.ts';
import type { Category } from './queries.ts';
import { tagHeadersOf } from './tags/tags.ts';

/** What a message tells mailbox providers and its own provider about itself. */
export type MailAbout = {
  /** Stands for the project in Feedback-ID: `feedbackSenderOf`. */
  feedbackSender: string;
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

/** Gmail takes 5 to 15 characters. */
const SENDER_CHARS = 12;

/**
 * Returns the sender in a project's Feedback-ID: stable for the project, and a keyed digest. A recipient who could read
 * the project's id in an email could address its public endpoints.
 */
export const feedbackSenderOf = (keys: Keys, projectId: string): string =>
  keys.hash('feedback-id', projectId).toString('hex').slice(0, SENDER_CHARS);

/**
 * Returns Gmail's Feedback-ID: automation, template, category, and last the sender. Gmail's Postmaster Tools group spam
 * complaints by these fields, and a customer finds the automation and the template in the Console by their ids. The ids
 * open nothing without a key or a session, and no field is about the recipient.
 */
const feedbackIdOf = (about: MailAbout): string =>
  [
    about.automationId ?? 'none',
    `${about.templateId}.${about.templateVersion}`,
    about.category,
    about.feedbackSender,
  ].join(':');

/** Returns our ids in the headers that this relay repeats in its feedback; none for a relay without such headers. */
const tagHeaders = (sendId: string, { host, automationId }: MailAbout): Record<string, Prepared> =>
  Object.fromEntries(
    Object.entries(tagHeadersOf(host, { sendId, automationId })).map(([name, value]) => [
      name,
      prepare(value),
    ]),
  );

/** RFC 2369 and RFC 8058, one field each: the address of a POST that unsubscribes at once. */
const unsubscribeHeaders = (url: string | null) =>
  url === null
    ? {}
    : {
        'List-Unsubscribe': prepare(`<${url}>`),
        'List-Unsubscribe-Post': prepare('List-Unsubscribe=One-Click'),
      };

/**
 * Returns the headers of a message besides those that every email has. Their names are here and in `tags/tags.ts`. A
 * recipient may read all of them. Provider tags repeat ids that the other headers hold.
 */
export const mailHeaders = (sendId: string, about: MailAbout) => ({
  'Auto-Submitted': 'auto-generated',
  'X-Trunkline-Send-Id': sendId,
  'Feedback-ID': prepare(feedbackIdOf(about)),
  ...unsubscribeHeaders(about.unsubscribeUrl),
  ...tagHeaders(sendId, about),
});
