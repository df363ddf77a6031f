import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWords } from 'nodemailer/lib/mime-funcs';
import { z } from 'zod';
import type { Rendered } from '../rendering/rendering.ts';
import type { Sender } from '../providers/providers.ts';

/** How long the finished message may be. Most relays stop at 10 to 25 MB; text mail is far below. */
export const MESSAGE_BYTES_MAX = 2 * 1024 * 1024;

/** Why a send can never become a message: its template or its size, not an accident of ours. */
export class Unbuildable extends Error {
  override readonly name = 'Unbuildable';
}

export type Envelope = { sendId: string; attempt: number; sender: Sender; to: string };

/** `<send-id.attempt@sender-domain>`: deterministic, so that feedback finds its send and its attempt. */
export const messageIdOf = ({ sendId, attempt, sender }: Omit<Envelope, 'to'>): string =>
  `<${sendId}.${attempt}@${sender.from_email.slice(sender.from_email.lastIndexOf('@') + 1)}>`;

/** The send and attempt in a Message-ID of ours, with or without its brackets; null for any other. */
export const readMessageId = (messageId: string): { sendId: string; attempt: number } | null => {
  const [, sendId, attempt] = /^<?([0-9a-f-]{36})\.(\d{1,6})@/i.exec(messageId.trim()) ?? [];
  return z.uuid().safeParse(sendId).success && sendId && attempt
    ? { sendId: sendId.toLowerCase(), attempt: Number(attempt) }
    : null;
};

const ENCODED_WORD_CHARS_MAX = 52;

/**
 * A subject as it goes into the header. One that looks like an encoded word (RFC 2047) is encoded
 * itself: whoever's name is in it must not choose how it is read.
 */
const toSubjectHeader = (subject: string) =>
  subject.includes('=?')
    ? { prepared: true, value: encodeWords(subject, 'B', ENCODED_WORD_CHARS_MAX, true) }
    : subject;

/** Builds the message as it goes over the wire (RFC 5322): one recipient, no files, no URLs fetched. */
export const buildMessage = async (
  envelope: Envelope,
  { subject, html, text }: Rendered,
): Promise<Buffer> => {
  const { sender, to, sendId } = envelope;
  const raw = await new MailComposer({
    from: { name: sender.from_name ?? '', address: sender.from_email },
    to: { name: '', address: to },
    ...(sender.reply_to === null ? {} : { replyTo: { name: '', address: sender.reply_to } }),
    text,
    html,
    messageId: messageIdOf(envelope),
    headers: {
      Subject: toSubjectHeader(subject),
      'Auto-Submitted': 'auto-generated',
      'X-Trunkline-Send-Id': sendId,
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
  if (raw.length > MESSAGE_BYTES_MAX)
    throw new Unbuildable(`message larger than ${MESSAGE_BYTES_MAX} bytes`);
  return raw;
};
