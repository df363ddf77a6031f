export { classifySmtpReply } from './smtp_answer.ts';
export { classifyHttpAnswer } from './http/http_answer.ts';
export type { AnswerMeaning, AnswerRetry, AnswerScope, Classification, SmtpPhase } from './classification.ts';
export declare const normalizeReply: (reply: string) => string;
export declare const sanitizeReply: (given: { reply: string; to: string; secrets: string[] }) => { code: number | null; enhanced: string | null; text: string | null; queueId: string | null };
