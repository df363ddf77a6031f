import type { Meaning } from '../notice.ts';

/** What a report says happened. Only a failure says how hard it is, in words that are judged with the recipient. */
export type Reported = Extract<
  Meaning['kind'],
  'bounced' | 'deferred' | 'delivered' | 'accepted' | 'complained' | 'not_spam' | 'unsubscribed'
>;

/** What a report says about one recipient. */
export type ReportedRecipient = {
  kind: Reported;
  /** The addresses that it names: the recipient, or the address that the email was forwarded to. Empty: none. */
  addresses: readonly string[];
  /** Whether it names an address to which another one passed the email on. */
  isForwarded: boolean;
  /** What the other host said, or the words of the report; null without any. */
  diagnostic: string | null;
};

/** A report about one email. */
export type Report = {
  recipients: readonly ReportedRecipient[];
  /** Trunkline's own send id, where the report returns the header with it. */
  sendId: string | null;
  /** The ids of the email, the most certain first. */
  messageIds: readonly string[];
  /** Where the envelope sender of the email may stand. */
  envelope: string;
  /** When the report says that it happened. */
  time: string | null;
};

/**
 * What an email in a bounce mailbox is. `automatic`: an automatic reply or a challenge, which changes nothing. `other`:
 * anything else, which stays for people to read.
 */
export type ReadEmail =
  { kind: 'report'; report: Report } | { kind: 'automatic' } | { kind: 'other' };
