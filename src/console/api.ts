import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
} from '@trpc/client';
import type { inferRouterOutputs } from '@trpc/server';
import { EventSource } from 'eventsource';
import type { AppRouter } from '../admin/router.ts';
import { NotReached, Replaced } from './no_code.ts';
import { proofHeaders } from './proof.ts';

/** As many as the server takes in one request. */
const BATCH_CALLS_MAX = 20;
const URL_CHARS_MAX = 4_000;

const url = '/admin/trpc';

/** Streams send the proof as well, which the browser's own EventSource cannot. */
const fetchStream: NonNullable<ConstructorParameters<typeof EventSource>[1]>['fetch'] = (
  at,
  init,
) => fetch(at, { ...init, headers: { ...init.headers, ...proofHeaders() } });

/**
 * The admin API of the installation that this page came from. The browser keeps the cookie of the session, and
 * `proof.ts` its proof.
 */
export const api = createTRPCClient<AppRouter>({
  links: [
    splitLink({
      condition: ({ type }) => type === 'subscription',
      true: httpSubscriptionLink({ url, EventSource, eventSourceOptions: { fetch: fetchStream } }),
      false: httpBatchLink({
        url,
        headers: proofHeaders,
        maxItems: BATCH_CALLS_MAX,
        maxURLLength: URL_CHARS_MAX,
      }),
    }),
  ],
});

export type Outputs = inferRouterOutputs<AppRouter>;
export type Person = NonNullable<Outputs['session']['current']['person']>;
export type Project = Outputs['projects']['list']['items'][number];
export type Sending = Outputs['installation']['sending'];
export type Resumed = Outputs['installation']['resumeSending'];
export type Overview = Outputs['overview']['read'];
export type Entry = Outputs['events']['list']['items'][number];
export type Send = Outputs['sends']['list']['items'][number];
export type SendDetail = Outputs['sends']['read'];
export type Profile = Outputs['profiles']['read'];
export type Suppression = Outputs['suppressions']['list']['items'][number];
export type Unsubscribe = Outputs['suppressions']['unsubscribes']['items'][number];
export type AddressState = Outputs['suppressions']['read'];
export type Provider = Outputs['providers']['read'];
export type Webhook = Outputs['webhooks']['read']['items'][number];
export type DomainHealth = NonNullable<Outputs['providers']['domainHealth']['health']>;
export type DomainChange = Outputs['providers']['domainHistory']['items'][number];
export type Imported = Outputs['suppressions']['import'];

const saidOf = (error: unknown) =>
  error instanceof TRPCClientError ? (error as TRPCClientError<AppRouter>).data : null;

/** What a field is called: the last name in its path. */
const nameOf = (path: string): string =>
  path.split('/').findLast((part) => !/^\d*$/.test(part)) ?? '';

/** What the server said of single fields, by their names. */
export const issuesOf = (error: unknown): Record<string, string> =>
  Object.fromEntries(
    (saidOf(error)?.issues ?? []).map(({ path, message }) => [nameOf(path), message]),
  );

/** The same of every field, each with its whole path. */
export const allIssuesOf = (error: unknown): readonly { path: string; message: string }[] =>
  saidOf(error)?.issues ?? [];

/** The class of a provider's failure, with its cause and what to do about it; null for any other. */
export const failureOf = (
  error: unknown,
): { reason: string; cause: string; fix: string } | null => {
  const { reason, cause, fix } = saidOf(error)?.members ?? {};
  return reason && cause && fix ? { reason, cause, fix } : null;
};

/** Whether the server refused with this name of its catalogue. */
export const isRefused = (error: unknown, name: string): boolean =>
  error instanceof TRPCClientError && error.message === name;

/** Refusals that time mends: RFC 9110 §15.5.9 and RFC 6585 §4. */
const MENDED_BY_TIME = [408, 429];

/** Whether whoever asks the same again is refused again. */
export const isFinal = (error: unknown): boolean => {
  const status = saidOf(error)?.httpStatus ?? 0;
  return status >= 400 && status < 500 && !MENDED_BY_TIME.includes(status);
};

/** What is wrong with one field, in words. */
export const sayIssue = (name: string, message: string): string =>
  name === '' ? message : `${name.replaceAll('_', ' ')}: ${message}`;

/** Whether what was said is wrong field by field: the issues say what, and nothing else does. */
export const isOfFields = (error: unknown): boolean =>
  isRefused(error, 'invalid_request') && allIssuesOf(error).length > 0;

const sayFields = (error: unknown): string =>
  Object.entries(issuesOf(error))
    .map(([name, message]) => sayIssue(name, message))
    .join('; ');

/** Of what no server has said anything: it was not reached, or the fault is this page's. */
const sayUnsaid = (error: unknown): string => {
  if (error instanceof Replaced) return 'There is a newer release. Load the Console again.';
  return error instanceof TRPCClientError || error instanceof NotReached
    ? 'The service cannot be reached. Try again in a moment.'
    : 'The Console has failed here. Load it again; if it goes on failing, tell who runs it.';
};

/** What the server said about a failure, in words; or that it could not be asked; or that the fault is this page's. */
export const explain = (error: unknown): string =>
  isOfFields(error) ? sayFields(error) : (saidOf(error)?.detail ?? sayUnsaid(error));

export const isSignedOut = (error: unknown): boolean => isRefused(error, 'not_signed_in');

/** An id is from the page's address: what is none there is of nothing. */
const isOfNoId = (error: unknown): boolean =>
  isOfFields(error) && allIssuesOf(error).every(({ path }) => /^\/\w+Id$/.test(path));

/** Whether there is nothing of this id, be it because it is no id at all. */
export const isNotFound = (error: unknown): boolean =>
  isRefused(error, 'not_found') || isOfNoId(error);
