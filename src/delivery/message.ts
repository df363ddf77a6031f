import { z } from 'zod';
import { hasLineBreak } from '../base/text.ts';
import type { Rendered } from '../rendering/rendering.ts';
import { toRaw } from '../providers/providers.ts';
import type { Sender } from '../providers/providers.ts';
import { mailHeaders } from './mail_headers.ts';
import type { MailAbout } from './mail_headers.ts';

/** How long the finished message may be. Most relays stop at 10 to 25 MB; text mail is far below. */
export const MESSAGE_BYTES_MAX = 2 * 1024 * 1024;

/** Why a send can never become a message: its template or its size, not an accident of ours. */
export class Unbuildable extends Error {
  override readonly name = 'Unbuildable';
}

export type Envelope = {
  sendId: string;
  attempt: number;
  sender: Sender;
  to: string;
  about: MailAbout;
};

/** `<send-id.attempt@sender-domain>`: deterministic, so that feedback finds its send and its attempt. */
export const messageIdOf = ({ sendId, attempt, sender }: Omit<Envelope, 'to' | 'about'>): string =>
  `<${sendId}.${attempt}@${sender.from_email.slice(sender.from_email.lastIndexOf('@') + 1)}>`;

/** The send and attempt in a Message-ID of ours, with or without its brackets; null for any other. */
export const readMessageId = (messageId: string): { sendId: string; attempt: number } | null => {
  const [, sendId, attempt] = /^<?([0-9a-f-]{36})\.(\d{1,6})@/i.exec(messageId.trim()) ?? [];
  return z.uuid().safeParse(sendId).success && sendId && attempt
    ? { sendId: sendId.toLowerCase(), attempt: Number(attempt) }
    : null;
};

/** Of UTF-8, so that an encoded word has at most 75 characters (RFC 2047 §2). */
const ENCODED_WORD_BYTES_MAX = 45;
/** RFC 5322 §2.1.1. Whoever breaks a longer line breaks the DKIM signature with it. */
export const LINE_BYTES_MAX = 998;
/** A word that cannot be folded at a blank; encoded, it is of words that can. */
const LONG_WORD = /\S{200}/;
/** Folded, so many would be a line of nothing else, which none may be (RFC 5322 §3.2.2): some take it for the end. */
const LONG_BLANK = /\s{60}/;

/** A text as encoded words (RFC 2047), no character of which is cut in two. */
const toEncodedWords = (text: string): string => {
  const words = [''];
  for (const character of text) {
    const word = (words.at(-1) ?? '') + character;
    if (Buffer.byteLength(word) > ENCODED_WORD_BYTES_MAX) words.push(character);
    else words[words.length - 1] = word;
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ');
};

/**
 * A subject as it goes into the header. One that looks like an encoded word (RFC 2047) is encoded
 * itself: whoever's name is in it must not choose how it is read.
 */
const toSubjectHeader = (subject: string) =>
  subject.includes('=?') || LONG_WORD.test(subject) || LONG_BLANK.test(subject)
    ? ({ value: toEncodedWords(subject), isFolded: true } as const)
    : subject;

const checkValues = (values: Record<string, string | null>): void => {
  for (const [name, value] of Object.entries(values))
    if (value !== null && hasLineBreak(value)) throw new Unbuildable(`${name} has a line break`);
};

const hasLongLine = (raw: Buffer): boolean => {
  // A character of Latin 1 is a byte, and a string is searched without calls out of the engine.
  const bytes = raw.toString('latin1');
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf('\r\n', from);
    const to = end < 0 ? bytes.length : end;
    if (to - from > LINE_BYTES_MAX) return true;
    from = to + 2;
  }
  return false;
};

/** Builds the message as it goes over the wire (RFC 5322): one recipient, no files, no URLs fetched. */
export const buildMessage = (envelope: Envelope, { subject, html, text }: Rendered): Buffer => {
  const { sender, to, sendId, about } = envelope;
  checkValues({ ...sender, to, subject });
  const fields = {
    From: { name: sender.from_name ?? '', address: sender.from_email },
    To: { name: '', address: to },
    ...(sender.reply_to === null ? {} : { 'Reply-To': { name: '', address: sender.reply_to } }),
    Subject: toSubjectHeader(subject),
    'Message-ID': messageIdOf(envelope),
    ...mailHeaders(sendId, about),
  };
  const raw = toRaw(fields, { text, html });
  if (raw.length > MESSAGE_BYTES_MAX)
    throw new Unbuildable(`message larger than ${MESSAGE_BYTES_MAX} bytes`);
  if (hasLongLine(raw)) throw new Unbuildable(`a line longer than ${LINE_BYTES_MAX} bytes`);
  return raw;
};
