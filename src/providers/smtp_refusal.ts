import type { SmtpError } from './smtp_errors.ts';

/** What nodemailer keeps of an envelope without saying so in its types. A test of lost connections covers it. */
type Tracking = { _envelope?: { mailError?: SmtpError; rejectedErrors?: SmtpError[] } | false };

/**
 * Returns the reply that refused the sender or recipient of the current message. MAIL, RCPT and DATA go out together
 * (PIPELINING); nodemailer drops that reply when the connection ends before DATA is answered, as Postfix ends it under
 * stress after one error (`smtpd_hard_error_limit`).
 */
export const findRefusal = (connection: object): SmtpError | null => {
  const { _envelope: envelope } = connection as Tracking;
  return envelope ? (envelope.mailError ?? envelope.rejectedErrors?.[0] ?? null) : null;
};
