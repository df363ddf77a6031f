import { bounceTypeOf, MAILBOX_GONE, readCodes } from '../base/bounce_type.ts';
import type { BounceCodes } from '../base/bounce_type.ts';
import type { SaidBounce } from './outcome.ts';

/** Refusals that are about the mailbox itself: it is not there, is closed, or is full (RFC 3463). */
const ABOUT_MAILBOX: readonly string[] = [...MAILBOX_GONE, '2.2'].flatMap((detail) => [
  `4.${detail}`,
  `5.${detail}`,
]);

/** A receiver that asks the sender's own host first tells what that said: codes about the sender. */
const ABOUT_CALLBACK =
  /\bsender (?:address )?(?:verif|rejected|refused)|\bverification failed for\b/i;

const NO_RELAYING =
  /\brelay(?:ing)?(?: access)? (?:denied|not (?:permitted|allowed))|not permitted to relay/i;

/** No relaying, whatever code it comes with: the relay's policy. */
export const isAboutRelaying = (text: string): boolean => NO_RELAYING.test(text);

const isAboutElse = (text: string): boolean => ABOUT_CALLBACK.test(text) || isAboutRelaying(text);

/** What hosts say of whom they are asked to take mail for, where no enhanced code says what it is about. */
const RECIPIENT_WORDS = /\b(?:user|account|mailbox|recipient|domain)\b/i;

/** Whether a receiver's refusal, passed on with its code, is about the recipient, by its words. */
export const isAboutRecipient = (reply: string): boolean => {
  const { code, enhanced } = readCodes([], [reply]);
  const mayBe = code !== null && (enhanced === null || /^5\.[12]\./.test(enhanced));
  return mayBe && RECIPIENT_WORDS.test(reply) && !isAboutElse(reply);
};

/** What is said of an address that is none. */
export const BAD_ADDRESS: SaidBounce = { type: 'hard', codes: '5.1.3' };

/** A full mailbox in words, where there is no enhanced code. What is too big is not said of the mailbox. */
const OVER_QUOTA = 552;
const MAILBOX_FULL =
  /\bquota\b|\bmailbox (?:is |size |has )?(?:full|exceed)|\binsufficient (?:\w+ )?storage/i;
const TOO_BIG = /\btoo (?:big|large|long)\b|\bmessage (?:\w+ )?size\b/i;

const isFullInWords = ({ code, enhanced }: BounceCodes, reply: string): boolean =>
  enhanced === null &&
  code !== null &&
  !TOO_BIG.test(reply) &&
  (code === OVER_QUOTA || MAILBOX_FULL.test(reply));

/** Whether a reply is about the recipient's mailbox, by its enhanced code; of words alone nobody can be sure. */
export const isAboutMailbox = (reply: string): boolean => {
  const { enhanced } = readCodes([], [reply]);
  return enhanced !== null && ABOUT_MAILBOX.includes(enhanced) && !isAboutElse(reply);
};

/** The codes alone: what a receiver writes beside them may name somebody. */
const toText = ({ code, enhanced }: BounceCodes): string =>
  [code, enhanced].filter((part) => part !== null).join(' ');

/**
 * What a definite refusal says of the mailbox: that there is none and never will be, or that it takes nothing now;
 * null where it is about anything else. After the message the words of a reply are about the message, so only an
 * enhanced code is believed.
 */
export const readSaidBounce = (
  reply: string,
  saidOf: 'recipient' | 'message',
): SaidBounce | null => {
  if (isAboutElse(reply)) return null;
  const codes = readCodes([], [reply]);
  const believed = saidOf === 'recipient' ? codes : { ...codes, code: null, reason: null };
  if (bounceTypeOf(believed) === 'hard') return { type: 'hard', codes: toText(codes) };
  const isFull = isAboutMailbox(reply) || isFullInWords(believed, reply);
  return isFull ? { type: 'soft', codes: toText(codes) } : null;
};
