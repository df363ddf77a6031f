/** Each in all, not since the last byte: a relay may answer byte by byte. */
export type SmtpTimeouts = {
  /** Until the relay has greeted, and speaks TLS where it should. */
  connectMs: number;
  /** Until the connection is authenticated. */
  openMs: number;
  /** For the commands before a message, and then for taking the message in. */
  commandsMs: number;
  bodyMs: number;
  /** For a farewell. */
  quitMs: number;
};
export const SMTP_TIMEOUTS: SmtpTimeouts = {
  connectMs: 10_000,
  openMs: 30_000,
  commandsMs: 60_000,
  bodyMs: 120_000,
  quitMs: 5_000,
};
/** How long one hand-off may take in all: its commands, its message, and the answer to it. */
export const sendTimeoutMs = (
  answerTimeoutMs: number,
  { commandsMs, bodyMs }: SmtpTimeouts = SMTP_TIMEOUTS,
): number => commandsMs + bodyMs + answerTimeoutMs;
