import type { TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { incomingMessageToRequest } from '@trpc/server/adapters/node-http';
import type { Context, Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { toRefusal } from '../base/procedure.ts';
import type { Person, ProcedureContext } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { confirmPassword } from './confirm.ts';
import { findRole } from './members.ts';
import { appRouter } from './router.ts';
import { findPerson, SESSION_DAYS } from './sessions.ts';

const ENDPOINT = '/admin/trpc';
export const CALLS_PER_REQUEST_MAX = 20;
export const ADMIN_BODY_BYTES_MAX = 256 * 1024;
export const SESSION_COOKIE = 'trunkline_session';
const SESSION_SECONDS = SESSION_DAYS * 24 * 60 * 60;

/** Host-only, for our own pages only, out of reach of scripts. */
const cookieOf = (token: string | null, isSecure: boolean): string =>
  [
    `${SESSION_COOKIE}=${token ?? ''}`,
    `Max-Age=${token === null ? 0 : SESSION_SECONDS}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ');

/**
 * Whether a request comes from a page of ours, or from no page: browsers always say where a change
 * comes from, so one that says nothing must not bring a browser's cookie.
 */
const isFromOurPages = (ctx: Context, sessionToken: string | null): boolean => {
  const origin = ctx.get('origin');
  if (origin !== '') return URL.canParse(origin) && new URL(origin).host === ctx.host;
  return sessionToken === null || ctx.get('sec-fetch-site') === 'same-origin';
};

const toContext = (deps: Deps, ctx: Context, answer: Headers): ProcedureContext => {
  const sessionToken = ctx.cookies.get(SESSION_COOKIE) ?? null;
  let person: Promise<Person | null> | undefined;
  return {
    deps,
    requestId: ctx.state['requestId'] as string,
    address: ctx.ip,
    isFromOurPages: isFromOurPages(ctx, sessionToken),
    sessionToken,
    keepSession: (token) => answer.set('set-cookie', cookieOf(token, ctx.secure)),
    findPerson: () => (person ??= findPerson(deps, sessionToken)),
    findRole: (who, projectId) => findRole(deps, who, projectId),
    confirm: (who, password) => confirmPassword(deps, { person: who, password, address: ctx.ip }),
  };
};

/** Says when to come back, where an error knows it. */
const retryAfter = (errors: readonly TRPCError[]): Record<string, string> => {
  const seconds = errors.map((error) => toRefusal(error).extras.retryAfterSeconds ?? 0);
  const longest = Math.max(0, ...seconds);
  return longest > 0 ? { 'retry-after': String(longest) } : {};
};

/** The request as tRPC wants it. What is no address cannot be turned into one. */
const toRequest = (ctx: Context): Request => {
  try {
    return incomingMessageToRequest(ctx.req, ctx.res, { maxBodySize: ADMIN_BODY_BYTES_MAX });
  } catch (cause) {
    const detail = 'The Host header and the path do not make an address.';
    throw new Refusal('invalid_request', { detail, cause });
  }
};

/** The admin API: tRPC for the Console and for `src/admin/client.ts`. */
export const adminDoor =
  (deps: Deps): Middleware =>
  async (ctx, next) => {
    if (!ctx.path.startsWith(`${ENDPOINT}/`)) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'POST') {
      ctx.set('Allow', 'GET, POST');
      throw new Refusal('method_not_allowed');
    }
    ctx.body = await fetchRequestHandler({
      endpoint: ENDPOINT,
      router: appRouter,
      req: toRequest(ctx),
      maxBatchSize: CALLS_PER_REQUEST_MAX,
      createContext: ({ resHeaders }) => toContext(deps, ctx, resHeaders),
      responseMeta: ({ errors }) => ({
        headers: { 'cache-control': 'no-store', ...retryAfter(errors) },
      }),
      onError: ({ error, path }) => {
        const { reason } = toRefusal(error);
        if (reason !== 'internal_error' && reason !== 'unavailable') return;
        const { cause } = error.cause ?? error;
        deps.log.error({ err: cause ?? error, request_id: ctx.state['requestId'], path }, reason);
      },
    });
    ctx.set('X-Content-Type-Options', 'nosniff');
    // What was not read of a refused body must not be taken for the next request.
    if (!ctx.req.complete) ctx.set('Connection', 'close');
  };
