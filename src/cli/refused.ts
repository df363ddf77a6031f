import { TRPCClientError } from '@trpc/client';
import type { AppRouter } from '../admin/client.ts';
import { Failure } from './failure.ts';
import type { Ending } from './failure.ts';

const SIGNED_OUT = ['not_signed_in', 'wrong_login'];
const CHANGED = ['folder_changed', 'automation_changed', 'template_changed', 'segment_changed'];
const AWAY = ['unavailable', 'database_timeout', 'overloaded'];

const endingOf = (name: string): Ending => {
  if (SIGNED_OUT.includes(name)) return 'signed_out';
  if (CHANGED.includes(name)) return 'changed';
  return AWAY.includes(name) ? 'unreachable' : 'failed';
};

/** What helps against some refusals, besides what they say themselves. */
const todoOf = (name: string, detail: string, url: string): string[] => {
  if (name === 'not_found' && /project here/.test(detail))
    return ['trunkline projects lists yours; trunkline use chooses one.'];
  if (name === 'not_signed_in') return [`trunkline login --url ${url}`];
  if (name === 'body_too_large')
    return ['Apply it in parts: make project-apply, on its machine, takes any size.'];
  return [];
};

type Caused = { code?: unknown; message?: unknown; cause?: unknown };

/** Why a request never got an answer: the innermost cause says it best. */
const reasonOf = (error: unknown): string => {
  let said = 'no answer';
  for (let at = error as Caused | undefined, depth = 0; at && depth < 6; depth += 1) {
    if (typeof at.code === 'string') said = at.code;
    else if (typeof at.message === 'string') said = at.message;
    at = at.cause as Caused | undefined;
  }
  return said;
};

/** Why nobody can have got the request; after anything else it may have been done. */
const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|bad port|ERR_(?:SSL|TLS)_.*|UNABLE_TO_.*|.*CERT.*)$/;
/** What answered the first byte of TLS was none. */
const NO_TLS = /^(?:EPROTO|ERR_SSL_(?!.*(?:CERT|ALERT)).*)$/;
/** What answered was no HTTP, or nothing at all: so does what waits for TLS. */
const NO_HTTP = /^(?:HPE_.*|UND_ERR_SOCKET|ECONNRESET)$/;

const withScheme = (scheme: 'http' | 'https', url: string): string =>
  url.replace(/^https?:/, `${scheme}:`);

/** Why there was no answer, and what to do about it. */
const toUnanswered = (url: string, cause: unknown): Failure => {
  const reason = reasonOf(cause);
  const isTls = url.startsWith('https:');
  if (isTls && NO_TLS.test(reason))
    return new Failure('unreachable', `Nothing at ${url} speaks TLS (${reason}).`, {
      todo: [`Is ${withScheme('http', url)} meant? Nothing was sent.`],
      cause,
    });
  const isAsked = 'Is the address right, and the service up? --url or TRUNKLINE_URL says another.';
  const unknown = 'What was to be changed may have been: look before you repeat it.';
  const other = `If it speaks TLS: is ${withScheme('https', url)} meant?`;
  return new Failure('unreachable', `${url} does not answer (${reason}).`, {
    todo: [
      UNSENT.test(reason) ? isAsked : unknown,
      ...(!isTls && NO_HTTP.test(reason) ? [other] : []),
    ],
    cause,
  });
};

/** Something answers, but not the admin API. */
export const notTrunkline = (url: string, cause?: unknown): Failure =>
  new Failure('unreachable', `What answers at ${url} is no Trunkline.`, {
    todo: ['Say the address under which you open the Console: --url https://…'],
    cause,
  });

/** What is wrong with a field, in words: with one of a list by its number, too. */
const sayIssue = ([path, message]: [path: string, message: string]): string => {
  const field = path.slice(1).replaceAll('/', ' ').replaceAll('_', ' ');
  return field === '' ? message : `${field}: ${message}`;
};

/** What went wrong with a call, for people and for programs. */
export const toFailure = (error: unknown, url: string): unknown => {
  if (!(error instanceof TRPCClientError)) return error;
  const { data, message, cause } = error as TRPCClientError<AppRouter>;
  if (cause instanceof Failure) return cause;
  if (data?.detail === undefined) {
    const isAnswered = cause instanceof SyntaxError || error.meta?.['response'] !== undefined;
    return isAnswered ? notTrunkline(url, error) : toUnanswered(url, error);
  }
  const { detail, request_id, issues, members } = data;
  // Of one field one thing is enough: it may be why there are others.
  const failing = [...new Map(issues.map((one) => [one.path, one.message]))].map(sayIssue);
  const [first, ...more] = failing;
  // What is wrong with what was said is in the issues; that there are issues, nobody needs to hear.
  const isOfFields = message === 'invalid_request' && first !== undefined;
  const says = isOfFields ? `This is refused: ${first}` : detail;
  const asked = message === 'internal_error' ? [`request id: ${request_id}`] : [];
  return new Failure(endingOf(message), says, {
    todo: [
      ...(isOfFields ? more : failing),
      ...Object.values(members),
      ...asked,
      ...todoOf(message, detail, url),
    ],
    said: { error: message, request_id, issues, ...members },
    cause: error,
  });
};
