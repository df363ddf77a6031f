import type { IncomingHttpHeaders } from 'node:http';
import type { Reading } from '../rules/rule.ts';
import { readWords } from '../text/words.ts';
import { readBody } from './read_body.ts';
import type { BodyReading } from './read_body.ts';

export type HttpAnswer = {
  /** The vendor's name or slug, as `Postmark`. */
  provider: string;
  status: number;
  headers?: IncomingHttpHeaders;
  body: string;
  /** The error's name where a client library found one, as `TooManyRequestsException`. */
  exception?: string;
  from?: string;
  to?: string;
};

const toReading = ({ from, to, status }: HttpAnswer, { text }: BodyReading): Reading => ({
  code: null,
  enhanced: null,
  lines: [text],
  ...readWords(text, { from, to }),
  phase: 'any',
  class: status >= 500 ? 4 : 5,
  knowsFrom: from !== undefined && from !== '',
});

/** An answer as the rules and the model see it: its masked words, its error codes and its status. */
export type AnswerReading = Reading & { provider: string; status: number; codes: string[] };

/** Reads an answer. Never throws. */
export const readAnswer = (answer: HttpAnswer): AnswerReading => {
  const body = readBody(answer.body);
  return {
    ...toReading(answer, body),
    provider: answer.provider.toLowerCase(),
    status: answer.status,
    codes: [...(answer.exception ? [answer.exception.toLowerCase()] : []), ...body.codes],
  };
};
