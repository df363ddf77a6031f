/** What a report says; each member has a default that makes a hard bounce. */
export type DsnGiven = {
  action?: string;
  status?: string;
  diagnostic?: string | null;
  /** The recipient of the email. */
  to?: string;
  original?: string | null;
  /** The envelope sender of the email: the recipient of the report. */
  sender?: string;
  /** The header of the returned email. */
  headers?: string;
  at?: Date;
};

const date = (at: Date): string => at.toUTCString().replace('GMT', '+0000');

const DIAGNOSTIC = 'smtp; 550 5.1.1 <ann@example.net>: Recipient address rejected: User unknown';

/** A delivery status notification (RFC 3464) as Postfix writes it. */
export const dsn = ({
  action = 'failed',
  status = '5.1.1',
  diagnostic = DIAGNOSTIC,
  to = 'ann@example.net',
  original = null,
  sender = 'bounces@shop.test',
  headers = '',
  at = new Date(),
}: DsnGiven = {}): string =>
  [
    'Return-Path: <>',
    `Date: ${date(at)}`,
    'From: MAILER-DAEMON@relay.test (Mail Delivery System)',
    'Subject: Undelivered Mail Returned to Sender',
    `To: ${sender}`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b1"',
    '',
    '--b1',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    "I'm sorry to have to inform you that your message could not be delivered.",
    '',
    '--b1',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; relay.test',
    `Arrival-Date: ${date(at)}`,
    '',
    `Final-Recipient: rfc822; ${to}`,
    ...(original === null ? [] : [`Original-Recipient: rfc822;${original}`]),
    `Action: ${action}`,
    `Status: ${status}`,
    ...(diagnostic === null ? [] : [`Diagnostic-Code: ${diagnostic}`]),
    '',
    '--b1',
    'Content-Type: text/rfc822-headers',
    '',
    headers,
    '',
    '--b1--',
    '',
  ].join('\r\n');

export type ArfGiven = { type?: string; to?: string | null; mailFrom?: string; headers?: string };

/** A feedback report (RFC 5965). */
export const arf = ({
  type = 'abuse',
  to = 'ann@example.net',
  mailFrom = 'bounces@shop.test',
  headers = '',
}: ArfGiven = {}): string =>
  [
    `Date: ${date(new Date())}`,
    'From: <abuse@mailbox.test>',
    'Subject: FW: Welcome',
    'To: <bounces@shop.test>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b1"',
    '',
    '--b1',
    'Content-Type: text/plain',
    '',
    'This is an email abuse report.',
    '',
    '--b1',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: Feedback/1.0',
    'Version: 1',
    `Original-Mail-From: <${mailFrom}>`,
    ...(to === null ? [] : [`Original-Rcpt-To: <${to}>`]),
    '',
    '--b1',
    'Content-Type: message/rfc822',
    '',
    headers,
    '',
    'Hi',
    '--b1--',
    '',
  ].join('\r\n');

/** An automatic reply (RFC 3834) to an email. */
export const outOfOffice = (sender = 'bounces@shop.test', headers = ''): string =>
  [
    `Date: ${date(new Date())}`,
    'From: Ann <ann@example.net>',
    `To: ${sender}`,
    'Subject: Automatic reply: Welcome',
    'Auto-Submitted: auto-replied',
    ...(/Message-ID: (.*)/i.exec(headers)
      ? [`In-Reply-To: ${/Message-ID: (.*)/i.exec(headers)?.[1]}`]
      : []),
    'Content-Type: text/plain',
    '',
    'I am away. Mail could not be delivered to me, says my secretary.',
    '',
  ].join('\r\n');
