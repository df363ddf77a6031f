import { TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { incomingMessageToRequest } from '@trpc/server/adapters/node-http';
import type { Context, Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { toRefusal } from '../base/procedure.ts';
import type { Person, ProcedureContext } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import type { RefusalName } from '../base/refusal.ts';
import { confirmPassword } from './confirm.ts';
import type { CookieName } from './cookie_names.ts';
import { PROOF_HEADER } from './cookie_names.ts';
import { readCookie, toSetCookie } from './cookies.ts';
import { DEVICE_DAYS } from './devices.ts';
import { FOLDER_BODY_BYTES_MAX } from './folder_limits.ts';
import { folderTurnsOf } from './folder_turns.ts';
import { holdBody } from './held_body.ts';
import { findRole } from './members.ts';
import { checkSite } from './own_origin.ts';
import { appRouter } from './router.ts';
import { findPerson, readSession, SESSION_DAYS, sessionHashOf } from './sessions.ts';
import { hasLeft, streamsOf } from './streams.ts';

const ENDPOINT = '/admin/trpc';
export const CALLS_PER_REQUEST_MAX = 20;
export const ADMIN_BODY_BYTES_MAX = 256 * 1024;
/** Refusals that an operator has to know of. */
const LOGGED: readonly RefusalName[] = ['internal_error', 'unavailable', 'database_timeout'];
const FOLDER_CALL = /^\/admin\/trpc\/folder\.(?:compareFiles|applyFiles)$/;

type Tokens = {
  sessionToken: string | null;
  /** Whether there is a session cookie, with or without its proof. */
  hasCookie: boolean;
  deviceCookie: string | null;
};
type Caller = Tokens & {
  /** Why the cookies are refused. */
  refusal: Refusal | null;
  findPerson: () => Promise<Person | null>;
};

const readTokens = (deps: Deps, ctx: Context): Tokens => {
  const { publicUrl } = deps.config;
  const token = readCookie(publicUrl, ctx.get('cookie'), 'session');
  return {
    sessionToken: readSession(deps, { token, proof: ctx.get(PROOF_HEADER) }),
    hasCookie: token !== null,
    deviceCookie: readCookie(publicUrl, ctx.get('cookie'), 'device'),
  };
};

const callerOf = (deps: Deps, ctx: Context): Caller => {
  let tokens: Tokens = { sessionToken: null, hasCookie: false, deviceCookie: null };
  let refusal: Refusal | null = null;
  try {
    tokens = readTokens(deps, ctx);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refusal = error;
  }
  let person: Promise<Person | null> | undefined;
  const find = () => (person ??= findPerson(deps, tokens.sessionToken, ctx.ip));
  return { ...tokens, refusal, findPerson: find };
};

/** Returns what sets a cookie on the answer; of two with one name the last counts. */
const cookieSetter = ({ publicUrl }: Deps['config'], ctx: Context) => {
  const lines = new Map<CookieName, string>();
  return (name: CookieName, cookie: { token: string | null; days: number }): void => {
    lines.set(name, toSetCookie(publicUrl, name, cookie));
    ctx.set('Set-Cookie', [...lines.values()]);
  };
};

const toContext = (deps: Deps, ctx: Context, caller: Caller): ProcedureContext => {
  const { sessionToken, hasCookie, deviceCookie } = caller;
  const setCookie = cookieSetter(deps.config, ctx);
  return {
    deps,
    requestId: ctx.state['requestId'] as string,
    address: ctx.ip,
    checkSite: ({ isReading }) => checkSite(deps.config, ctx, { isReading, hasSession: hasCookie }),
    sessionToken,
    deviceCookie,
    keepSession: (token) => setCookie('session', { token, days: SESSION_DAYS }),
    keepDevice: (value) => setCookie('device', { token: value, days: DEVICE_DAYS }),
    findPerson: caller.findPerson,
    findRole: (who, projectId) => findRole(deps, who, projectId),
    openStream: ({ person_id: personId }, projectId) => {
      const session = sessionToken === null ? null : sessionHashOf(deps, sessionToken);
      if (session === null) throw new Refusal('not_signed_in');
      return streamsOf(deps).open({ session, personId, projectId, answer: ctx.res });
    },
    confirm: (person, password) =>
      confirmPassword(deps, { person, password, sessionToken: sessionToken ?? '' }),
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
    const held = holdBody(deps, ctx, {
      request: toRequest(ctx, await bodyMaxOf(ctx, caller)),
      isFolder: FOLDER_CALL.test(ctx.path),
    });
    const answer = await fetchRequestHandler({
      endpoint: ENDPOINT,
      router: appRouter,
      req: held.request,
      maxBatchSize: CALLS_PER_REQUEST_MAX,
      createContext: async () => {
        if (caller.refusal) throw new TRPCError({ code: 'BAD_REQUEST', cause: caller.refusal });
        held.open();
        await takeTurn(deps, ctx, caller);
        return toContext(deps, ctx, caller);
      },
      responseMeta: ({ errors }) => ({
        headers: { 'cache-control': 'no-store', ...retryAfter(errors) },
      }),
      onError: ({ error, path }) => {
        const { reason } = toRefusal(error);
        if (!LOGGED.includes(reason)) return;
        const { cause } = error.cause ?? error;
        deps.log.error({ err: cause ?? error, request_id: ctx.state['requestId'], path }, reason);
      },
    }).finally(held.release);
    await giveAnswer(ctx, answer);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
    // What was not read of a refused body must not be taken for the next request.
    if (!ctx.req.complete) ctx.set('Connection', 'close');
  };
