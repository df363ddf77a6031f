const ID = '([^\\s<>"()\\[\\],;]{1,120})';

/**
 * How servers name the message that they took. Sources: the servers themselves, and their manuals.
 */
const FORMS: readonly RegExp[] = [
  // Postfix, SendGrid, Mailjet, Brevo, Hostinger: `250 2.0.0 Ok: queued as 4XyZ`.
  new RegExp(`queued (?:mail )?as <?${ID}`, 'i'),
  // Exim, SMTP2GO, IONOS: `250 OK id=1rAbCd-000xyz-1A`; KumoMTA: `250 OK ids=…`.
  new RegExp(`(?:^|[\\s:,])ids?=${ID}`, 'i'),
  // Exchange Online: `250 2.6.0 <id@host> [InternalId=123, Hostname=…] … Queued mail for delivery`.
  /internalid=(\d{1,40})/i,
  // Stalwart: `Message queued with id 1a2b3c.`; others: `Message-ID: …`, `message id 123`.
  new RegExp(
    `(?:queued|accepted|received|message) (?:with|under|as)? ?(?:message[- ])?id:? ${ID}`,
    'i',
  ),
  // Haraka: `250 Message Queued (8FD0B6B9-….1)`.
  /message queued \(([\w.-]{1,120})\)/i,
  // qmail, MessageLabs: `250 ok 1700000000 qp 12345`.
  /\bqp (\d{1,20})\b/i,
  // Sendmail, OpenSMTPD, Proofpoint: `250 2.0.0 3AKBcd123 Message accepted for delivery`.
  /^([\w.-]{6,120}) message accepted/i,
  // Mimecast: `250 SmtpThread-123 Received OK [id.us123]`.
  /received ok \[([\w.-]{1,120})\]/i,
  // Gmail: `250 2.0.0 OK  1700000000 d2e1a72fcca58-….328 - gsmtp`.
  /^ok \d{6,12} (\S{1,120}) - gsmtp/i,
  // SparkPost: `250 2.0.0 OK 5F/3A-12345-ABCDEF`; Amazon SES: `250 Ok 0102018b…-000000`.
  /^ok:? ([0-9a-f][0-9a-z/-]{9,119})$/i,
  // Postmark and others: `250 2.0.0 Message received: 7f3c2b1e-…`.
  /message received:? ([\w-]{8,120})/i,
];

/** Reads the relay's id of a message out of the text of its acceptance, or null. */
export const readQueueId = (text: string): string | null => {
  const line = text.trim().slice(0, 1_000);
  const [found] = FORMS.flatMap((form) => form.exec(line)?.[1] ?? []);
  return found?.replace(/[.,>]{1,3}$/, '') ?? null;
};
