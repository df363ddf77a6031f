import MailComposer from 'nodemailer/lib/mail-composer';
import { newId } from '../base/ids.ts';
import type { WireMessage } from './transport.ts';

type Probe = {
  from: string;
  fromName?: string | null;
  replyTo?: string | null;
  to: string;
  /** The same when the same test is tried again. */
  probeId?: string;
  mayStart?: () => boolean;
  /** What it says instead of what it is for. */
  mail?: ProbeMail;
};

/** A mail that somebody wants to see in a mailbox. */
export type ProbeMail = { subject: string; html: string; text: string };

const TEXT = [
  'This is a test message.',
  '',
  'It was sent to see whether this sender and its e-mail provider work. They do.',
  '',
].join('\r\n');

/** One kind of line end: a CR or LF alone is a line to one relay and none to the next (RFC 5321 §2.3.8). */
const toLines = (content: string): string => content.replaceAll(/\r\n?/g, '\n');

/** A small message to one address, ready for the wire, that says what it is for. */
export const probeMessage = async ({
  from,
  fromName = null,
  replyTo = null,
  to,
  probeId = newId(),
  mayStart = () => true,
  mail,
}: Probe): Promise<WireMessage> => {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const raw = await new MailComposer({
    from: { address: from, name: fromName ?? '' },
    to: { address: to, name: '' },
    ...(replyTo === null ? {} : { replyTo: { address: replyTo, name: '' } }),
    subject: mail?.subject ?? 'Test message',
    newline: 'windows',
    messageId: `<${probeId}.1@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Trunkline-Send-Id': probeId },
    text: toLines(mail?.text ?? TEXT),
    ...(mail ? { html: toLines(mail.html) } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
  return { sendId: probeId, from, to, raw, mayStart };
};
