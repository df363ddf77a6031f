import { TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { incomingMessageToRequest } from '@trpc/server/adapters/node-http';
import type { Context, Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { toRefusal } from '../base/procedure.ts';
import type { Person, ProcedureContext } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { confirmPassword } from './confirm.ts';
import { FOLDER_BODY_BYTES_MAX } from './folder_limits.ts';
import { folderTurnsOf } from './folder_turns.ts';
import { findRole } from './members.ts';
import { appRouter } from './router.ts';
import { findPerson, SESSION_DAYS, sessionHashOf } from './sessions.ts';
import { hasLeft, streamsOf } from './streams.ts';

const ENDPOINT = '/admin/trpc';
export const CALLS_PER_REQUEST_MAX = 20;
export const ADMIN_BODY_BYTES_MAX = 256 * 1024;
const FOLDER_CALL = /^\/admin\/trpc\/folder\.(?:compareFiles|applyFiles)$/;
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
 * comes from, so one that says nothing must not bring a browser's cookie. Of what changes nothing they
 * say it to a page that could read the answer, and, where the connection is secure, in `Sec-Fetch-Site`.
 */
const isFromOurPages = (ctx: Context, sessionToken: string | null): boolean => {
  const origin = ctx.get('origin');
  if (origin !== '') return URL.canParse(origin) && new URL(origin).host === ctx.host;
  const site = ctx.get('sec-fetch-site');
  return sessionToken === null || site === 'same-origin' || (site === '' && ctx.method === 'GET');
};

type Caller = { sessionToken: string | null; findPerson: () => Promise<Person | null> };

const callerOf = (deps: Deps, ctx: Context): Caller => {
  const sessionToken = ctx.cookies.get(SESSION_COOKIE) ?? null;
  let person: Promise<Person | null> | undefined;
  return { sessionToken, findPerson: () => (person ??= findPerson(deps, sessionToken)) };
};

const toContext = (
  deps: Deps,
  ctx: Context,
  { answer, caller }: { answer: Headers; caller: Caller },
): ProcedureContext => {
  const { sessionToken } = caller;
  return {
    deps,
    requestId: ctx.state['requestId'] as string,
    address: ctx.ip,
    isFromOurPages: isFromOurPages(ctx, sessionToken),
    sessionToken,
    keepSession: (token) => answer.set('set-cookie', cookieOf(token, ctx.secure)),
    findPerson: caller.findPerson,
    findRole: (who, projectId) => findRole(deps, who, projectId),
    openStream: ({ person_id: personId }, projectId) => {
      const session = sessionToken === null ? null : sessionHashOf(deps, sessionToken);
      if (session === null) throw new Refusal('not_signed_in');
      return streamsOf(deps).open({ session, personId, projectId, answer: ctx.res });
    },
    confirm: (who, password) => confirmPassword(deps, { person: who, password, address: ctx.ip }),
  };
};

/** Says when to come back, where an error knows it. */
const retryAfter = (errors: readonly TRPCError[]): Record<string, string> => {
  const seconds = errors.map((error) => toRefusal(error).extras.retryAfterSeconds ?? 0);
  const longest = Math.max(0, ...seconds);
  return longest > 0 ? { 'retry-after': String(longest) } : {};
};

/** How much of a request is read: it is kept in memory before any procedure sees it. */
const bodyMaxOf = async (ctx: Context, caller: Caller): Promise<number> =>
  FOLDER_CALL.test(ctx.path) && (await caller.findPerson().catch(() => null)) !== null
    ? FOLDER_BODY_BYTES_MAX
    : ADMIN_BODY_BYTES_MAX;

/** Refuses a folder where there are too many, before it is read. Whoever is not signed in is refused anyway. */
const takeTurn = async (deps: Deps, ctx: Context, caller: Caller): Promise<void> => {
  if (!FOLDER_CALL.test(ctx.path)) return;
  const person = await caller.findPerson().catch(() => null);
  if (person === null) return;
  try {
    folderTurnsOf(deps).take(person.person_id, ctx.res);
  } catch (cause) {
    throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause });
  }
};

/** The request as tRPC wants it. What is no address cannot be turned into one. */
const toRequest = (ctx: Context, maxBodySize: number): Request => {
  try {
    return incomingMessageToRequest(ctx.req, ctx.res, { maxBodySize });
  } catch (cause) {
    const detail = 'The Host header and the path do not make an address.';
    throw new Refusal('invalid_request', { detail, cause });
  }
};

/** Nobody reads what is told to a client that has left meanwhile: it must not be left waiting for that. */
const giveAnswer = async (ctx: Context, answer: Response): Promise<void> => {
  if (ctx.writable && !hasLeft(ctx.res)) {
    ctx.body = answer;
    return;
  }
  ctx.status = answer.status;
  await answer.body?.cancel().catch(() => {});
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
    const caller = callerOf(deps, ctx);
    const answer = await fetchRequestHandler({
      endpoint: ENDPOINT,
      router: appRouter,
      req: toRequest(ctx, await bodyMaxOf(ctx, caller)),
      maxBatchSize: CALLS_PER_REQUEST_MAX,
      createContext: async ({ resHeaders }) => {
        await takeTurn(deps, ctx, caller);
        return toContext(deps, ctx, { answer: resHeaders, caller });
      },
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
    await giveAnswer(ctx, answer);
    ctx.set('X-Content-Type-Options', 'nosniff');
    // What was not read of a refused body must not be taken for the next request.
    if (!ctx.req.complete) ctx.set('Connection', 'close');
  };
