import type { Bounce } from '../delivery/delivery.ts';
import type { Notice } from './notice.ts';

/** How those are called who tell what is said while a message is handed over. */
export const HAND_OFF = 'hand_off/';

/** Who tells what is said while a message is handed over: no webhook, but the provider of that kind. */
export const handOffOf = (provider: Bounce['provider']): string => `${HAND_OFF}${provider}`;

/** How those are called who report by email. */
export const MAILBOX = 'bounce_mailbox/';

/** Returns who reports by email to the mailbox of a provider. */
export const mailboxOf = (providerId: string): string => `${MAILBOX}${providerId}`;

const isOfMailbox = (source: string): boolean => source.startsWith(MAILBOX);

export const isOfHandOff = (source: string): boolean => source.startsWith(HAND_OFF);

/** Where it stands in the history of an address: the webhook, the mailbox, or the provider and the send it refused. */
export const saidBy = (source: string, { sendId }: Pick<Notice, 'sendId'>): string => {
  if (isOfMailbox(source)) return source;
  return isOfHandOff(source) ? `${source}/${sendId ?? ''}` : `webhook/${source}`;
};

/** The same on a timeline, where the send is told of besides. */
export const toldBy = (source: string): Record<string, string> => {
  if (isOfMailbox(source)) return { bounce_mailbox: source.slice(MAILBOX.length) };
  return isOfHandOff(source) ? { hand_off: source.slice(HAND_OFF.length) } : { webhook: source };
};

/** Who may have told before of the same bounce: of a webhook only the hand-off and mailboxes, else everyone. */
export const toldTwiceBy = (source: string): readonly string[] =>
  isOfHandOff(source) || isOfMailbox(source) ? ['%'] : [`${HAND_OFF}%`, `${MAILBOX}%`];
