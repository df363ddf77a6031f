import { TRPCClientError } from '@trpc/client';
import type { AppRouter } from '../admin/client.ts';
import { Failure } from './failure.ts';
import type { Ending } from './failure.ts';

const SIGNED_OUT = ['not_signed_in', 'wrong_login'];
const CHANGED = ['folder_changed', 'automation_changed', 'template_changed', 'segment_changed'];
const AWAY = ['unavailable', 'overloaded'];

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
const UNSENT = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|bad port|.*CERT.*)$/;

/** Something answers, but not the admin API. */
export const notTrunkline = (url: string, cause?: unknown): Failure =>
  new Failure('unreachable', `What answers at ${url} is no Trunkline.`, {
    todo: ['Say the address under which you open the Console: --url https://…'],
    cause,
  });

/** What went wrong with a call, for people and for programs. */
export const toFailure = (error: unknown, url: string): unknown => {
  if (!(error instanceof TRPCClientError)) return error;
  const { data, message, cause } = error as TRPCClientError<AppRouter>;
  if (cause instanceof Failure) return cause;
  if (data?.detail === undefined) {
    const isAnswered = cause instanceof SyntaxError || error.meta?.['response'] !== undefined;
    if (isAnswered) return notTrunkline(url, error);
    const reason = reasonOf(error);
    const unknown = 'What was to be changed may have been: look before you repeat it.';
    const isAsked =
      'Is the address right, and the service up? --url or TRUNKLINE_URL says another.';
    return new Failure('unreachable', `${url} does not answer (${reason}).`, {
      todo: [UNSENT.test(reason) ? isAsked : unknown],
      cause: error,
    });
  }
  const { detail, request_id, issues, members } = data;
  const failing = issues.map(({ path, message: says }) => `${path} ${says}`.trim());
  const asked = message === 'internal_error' ? [`request id: ${request_id}`] : [];
  return new Failure(endingOf(message), detail, {
    todo: [...failing, ...Object.values(members), ...asked, ...todoOf(message, detail, url)],
    said: { error: message, request_id, issues, ...members },
    cause: error,
  });
};
