import { TrunklineError } from './errors.ts';
import type { TrunklineIssue } from './errors.ts';
import type { Settings } from './options.ts';
import { startTimer } from './timer.ts';

/** What became of one request. Never thrown. */
export type Outcome =
  /** It is stored, and was before if the same was sent before. */
  | { kind: 'taken' }
  /** Nobody knows, or not now: the same again later. */
  | { kind: 'later'; retryAfterMs: number; cause: unknown }
  /** It would be refused again; the issues say why. */
  | {
      kind: 'refused';
      status: number;
      detail: string;
      issues: TrunklineIssue[];
      requestId?: string;
    }
  /** Nothing that this client sends can be taken. */
  | { kind: 'stopped'; error: TrunklineError };

export type Request = { path: string; body: string; signal: AbortSignal };

/** Longer than anybody means: a wait that is asked for beyond it is cut to it. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/** Whole seconds, or a date (RFC 9110 §10.2.3). */
const readRetryAfter = (given: string | null): number => {
  if (given === null) return 0;
  const ms = /^\d+$/.test(given.trim()) ? Number(given) * 1_000 : Date.parse(given) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS) : 0;
};

type Answer = {
  accepted?: unknown;
  link?: unknown;
  error?: unknown;
  detail?: unknown;
  issues?: unknown;
  request_id?: unknown;
};

const parse = (text: string): Answer | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
};

const isIssue = (value: unknown): value is TrunklineIssue => {
  const { path, message } = (value ?? {}) as Partial<TrunklineIssue>;
  return typeof path === 'string' && typeof message === 'string';
};

const stop = (code: 'wrong_token' | 'wrong_host', message: string): Outcome => ({
  kind: 'stopped',
  error: new TrunklineError(code, message),
});

const RESTART = 'Nothing more is sent: mend it and make a new client.';

/** The statuses that say: later, or that nobody knows. */
const isLater = (status: number): boolean => status === 408 || status === 429 || status >= 500;

const wrongHost = (apiHost: string, status: number): Outcome =>
  stop(
    'wrong_host',
    `${apiHost} answered ${status}, as the service does not: check apiHost (no redirects). ${RESTART}`,
  );

/** What an answer of the service says that is no success. */
const toRefusal = ({ apiHost }: Settings, status: number, answer: Answer | null): Outcome => {
  if (status === 401)
    return stop(
      'wrong_token',
      `The service does not know the token (401): check that it is a live server key of this project. ${RESTART}`,
    );
  if (status === 403)
    return stop(
      'wrong_token',
      `The token may not do this (403): a server key is needed, svc_secret_live_…. ${RESTART}`,
    );
  // Whatever refuses with the service's own words is the service; a proxy's bound on bodies is as good.
  const isService = typeof answer?.error === 'string';
  if (!isService && status !== 413 && status !== 400) return wrongHost(apiHost, status);
  if (status === 404 || status === 405) return wrongHost(apiHost, status);
  const { detail, issues, request_id } = answer ?? {};
  return {
    kind: 'refused',
    status,
    detail: typeof detail === 'string' ? detail : `the service answered ${status}`,
    issues: Array.isArray(issues) ? issues.filter(isIssue) : [],
    ...(typeof request_id === 'string' ? { requestId: request_id } : {}),
  };
};

const toOutcome = (settings: Settings, response: Response, text: string): Outcome => {
  const { status } = response;
  if (isLater(status)) {
    const cause = new Error(`the service answered ${status}`);
    return {
      kind: 'later',
      retryAfterMs: readRetryAfter(response.headers.get('retry-after')),
      cause,
    };
  }
  const answer = parse(text);
  if (!response.ok) return toRefusal(settings, status, answer);
  // A page that says 200 to everything has stored nothing.
  const isTaken = typeof answer?.accepted === 'number' || typeof answer?.link === 'object';
  return isTaken ? { kind: 'taken' } : wrongHost(settings.apiHost, status);
};

/** Sends one request and waits for the whole of its answer, not longer than `requestTimeoutMs`. */
export const post = async (
  settings: Settings,
  { path, body, signal }: Request,
): Promise<Outcome> => {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const stopTimer = startTimer(abort, settings.requestTimeoutMs);
  signal.addEventListener('abort', abort);
  try {
    const response = await fetch(settings.apiHost + path, {
      method: 'POST',
      redirect: 'manual',
      signal: controller.signal,
      headers: { authorization: `Bearer ${settings.token}`, 'content-type': 'application/json' },
      body,
    });
    return toOutcome(settings, response, await response.text());
  } catch (cause) {
    return { kind: 'later', retryAfterMs: 0, cause };
  } finally {
    stopTimer();
    signal.removeEventListener('abort', abort);
  }
};
