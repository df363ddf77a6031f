import type { Bounce } from '../delivery/delivery.ts';
import type { Notice } from './notice.ts';

/** How those are called who tell what is said while a message is handed over. */
export const HAND_OFF = 'hand_off/';

/** Who tells what is said while a message is handed over: no webhook, but the provider of that kind. */
export const handOffOf = (provider: Bounce['provider']): string => `${HAND_OFF}${provider}`;

export const isOfHandOff = (source: string): boolean => source.startsWith(HAND_OFF);

/** Where it stands in the history of an address: the webhook, or the provider and the send that it refused. */
export const saidBy = (source: string, { sendId }: Pick<Notice, 'sendId'>): string =>
  isOfHandOff(source) ? `${source}/${sendId ?? ''}` : `webhook/${source}`;

/** The same on a timeline, where the send is told of besides. */
export const toldBy = (source: string): Record<string, string> =>
  isOfHandOff(source) ? { hand_off: source.slice(HAND_OFF.length) } : { webhook: source };

/** Who may have told before of the same bounce: of a hand-off whoever told of it, of a webhook the hand-off alone. */
export const toldTwiceBy = (source: string): string => (isOfHandOff(source) ? '%' : `${HAND_OFF}%`);
