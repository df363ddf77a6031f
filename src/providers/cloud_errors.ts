import type { HttpsAnswer } from '../base/https.ts';
import { refusalOf } from './http_answers.ts';
import { BAD_ADDRESS, bounced, deferred } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import type { Parties } from './reply.ts';

/** What the cloud's client makes of an answer that is an error. */
export type CloudError = { name: string; message: string };

/** A signature that is too old or from the future: the clock that is wrong is ours. */
const ABOUT_CLOCK = /signature (?:expired|not yet current)/i;

/** Server errors by which Amazon SES says that it did not take the message (API reference, common errors). */
const TYPED = new Set(['InternalServiceErrorException', 'ServiceUnavailableException']);

/** What the client calls its own failure to read an answer. */
const NOT_UNDERSTOOD = new Set(['SyntaxError', 'Unknown', 'UnknownError']);

/** What is said of an address that is none. The sender's was proved when the record was saved. */
const BAD_REQUEST = 'BadRequestException';
const ABOUT_ADDRESS =
  /missing final '@domain'|^(?:local address|domain) (?:contains|starts|ends)\b|\billegal address\b/i;

const isNoAddress = ({ name, message }: CloudError, from: string): boolean =>
  name === BAD_REQUEST && ABOUT_ADDRESS.test(message) && !(from !== '' && message.includes(from));

const isSuccess = ({ status }: HttpsAnswer): boolean => status >= 200 && status < 300;

/** Returns what an error of Amazon SES means for a message. Without a known name the status decides. */
export const classify = (error: CloudError, answer: HttpsAnswer, parties: Parties): SendOutcome => {
  if (isNoAddress(error, parties.from)) return bounced(BAD_ADDRESS);
  if (ABOUT_CLOCK.test(error.message)) return deferred('provider_unavailable', 'provider');
  const parts = { provider: 'Amazon SES', ...parties };
  if (NOT_UNDERSTOOD.has(error.name))
    return isSuccess(answer) ? { kind: 'unknown' } : refusalOf(answer, parts);
  // The client reads the message also where the body has another form.
  const body = Buffer.from(JSON.stringify({ __type: error.name, message: error.message }));
  const isTyped = TYPED.has(error.name);
  return refusalOf({ ...answer, body }, { ...parts, exception: error.name, isTyped });
};
