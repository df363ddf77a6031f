/**
 * What a provider's answer concerns, what it means and whether time helps; how answers are
 * compared, and what of them may be shown. Pure functions; the first answer reads the weights of the
 * model from a file.
 */
export { classifyHttpAnswer } from './http/classify_http.ts';
export type { HttpAnswer } from './http/read_answer.ts';
export { normalizeReply } from './shown/normalize_reply.ts';
export { sanitizeReply } from './shown/sanitize_reply.ts';
export type { ReplyToShow, ShownReply } from './shown/sanitize_reply.ts';
export {
  classifyRepeatedReply,
  classifySmtpReply,
  repliesOtherCause,
} from './smtp/classify_smtp.ts';
export type { SmtpAnswer } from './smtp/read_reply.ts';
export type {
  AnswerMeaning,
  AnswerRetry,
  AnswerScope,
  Classification,
  SmtpPhase,
} from './verdicts.ts';
