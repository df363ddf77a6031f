import { newId } from '../base/ids.ts';
import { toRaw } from './raw_message.ts';
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

/** A small message to one address, ready for the wire, that says what it is for. */
export const probeMessage = ({
  from,
  fromName = null,
  replyTo = null,
  to,
  probeId = newId(),
  mayStart = () => true,
  mail,
}: Probe): WireMessage => {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const fields = {
    From: { address: from, name: fromName ?? '' },
    To: { address: to, name: '' },
    ...(replyTo === null ? {} : { 'Reply-To': { address: replyTo, name: '' } }),
    Subject: mail?.subject ?? 'Test message',
    'Message-ID': `<${probeId}.1@${domain}>`,
    'Auto-Submitted': 'auto-generated',
    'X-Trunkline-Send-Id': probeId,
  };
  const raw = toRaw(fields, { text: mail?.text ?? TEXT, html: mail?.html ?? null });
  return { sendId: probeId, from, to, raw, mayStart };
};
