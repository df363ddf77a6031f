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
};

const TEXT = [
  'This is a test message.',
  '',
  'It was sent to see whether this sender and its e-mail provider work. They do.',
  '',
].join('\r\n');

/** A small message to one address, ready for the wire, that says what it is for. */
export const probeMessage = async ({
  from,
  fromName = null,
  replyTo = null,
  to,
  probeId = newId(),
  mayStart = () => true,
}: Probe): Promise<WireMessage> => {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const raw = await new MailComposer({
    from: { address: from, name: fromName ?? '' },
    to: { address: to, name: '' },
    ...(replyTo === null ? {} : { replyTo: { address: replyTo, name: '' } }),
    subject: 'Test message',
    messageId: `<${probeId}.1@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Trunkline-Send-Id': probeId },
    text: TEXT,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
  return { sendId: probeId, from, to, raw, mayStart };
};
