import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import { z } from 'zod';
import { asOneCall, listPathTargets, listTargets, withAudit } from '../base/audit.ts';
import type { Deps } from '../base/deps.ts';
import { parse } from '../base/parse.ts';
import { Refusal } from '../base/refusal.ts';
import { isAudited, JsonStream } from '../base/route.ts';
import type { Addressed, JsonRoute, Route, WebhookRoute } from '../base/route.ts';
import { inTurnsOf } from '../base/session_turns.ts';
import { findKey } from '../projects/projects.ts';
import type { Key } from '../projects/projects.ts';
import { PostBody, RequestBody } from './bodies/bodies.ts';
import { refuseRepeated } from './body.ts';
import { answerPreflight, isForBrowsers, letBrowsersRead } from './cors.ts';
import {
  answerOnce,
  AS_GIVEN,
  countKept,
  findKept,
  readIdempotencyKey,
  wasRefused,
} from './idempotency.ts';
import type { Answer, Keeping, Keyed } from './idempotency.ts';
import { takesIdempotencyKey } from './openapi_headers.ts';
import { limitRequest, limitWork, writeLimits } from './limit_requests.ts';
import { sendStream } from './send_stream.ts';
import { readBearer, readWriteKey } from './tokens.ts';
import { checkPath, inLowerCase, readQuery } from './url.ts';

type Request = { ctx: RouterContext; requestBody: RequestBody };
type Asked = Key & Request;

/** Token (401), then key type (403). One indistinguishable body for every kind of wrong token. */
const authenticate = async (
  deps: Deps,
  declared: JsonRoute,
  { ctx, requestBody }: Request,
): Promise<Key> => {
  const authorization = ctx.get('authorization');
  const token = declared.takesWriteKey
    ? await readWriteKey(authorization, () => requestBody.readKeyless())
    : readBearer(authorization);
  const key = token === undefined ? null : await findKey(deps, token, { address: ctx.ip });
  if (!key || key.caller.kind === 'hook') throw new Refusal('invalid_token');
  if (declared.access === 'server' && key.caller.kind !== 'server')
    throw new Refusal('wrong_key_type');
  if (key.caller.kind === 'server') return key;
  return { ...key, caller: { ...key.caller, address: ctx.ip } };
};

/** Of a route that takes no parameters: whoever sends one has misspelt something. */
const NO_QUERY = z.strictObject({});

const toKeyed = (
  declared: JsonRoute,
  ctx: RouterContext,
  { projectId, kind }: Key['caller'],
): Omit<Keyed, 'body'> | null => {
  const key = takesIdempotencyKey(declared) ? readIdempotencyKey(ctx.req.headers) : null;
  // What is kept of an answer belongs to its scope: whoever changes the one changes the other.
  const scope = `${declared.method} ${declared.path} ${kind}${declared.again ? ' again' : ''}`;
  return key === null ? null : { projectId, key, scope, url: ctx.url };
};

const ONE_UNIT = [{ units: 1 }];

const toKeeping = ({ again }: JsonRoute, addressed: Addressed & { body?: unknown }): Keeping =>
  again ? { keep: again.idIn, tell: (id) => again.find(addressed, String(id)) } : AS_GIVEN;

/** What was answered to this very request before its object went, or 404 whatever else is wrong with it. */
const answerForGone = async (
  deps: Deps,
  declared: JsonRoute,
  { ctx, requestBody, ...key }: Asked,
): Promise<Answer & { isReplayed: boolean }> => {
  const find = async (): Promise<Answer | null> => {
    const keyed = toKeyed(declared, ctx, key.caller);
    if (keyed === null) return null;
    const body = await requestBody.read();
    const keeping = toKeeping(declared, { deps, ...key, params: ctx.params });
    return findKept(deps, { ...keyed, body }, keeping);
  };
  const kept = await find().catch((error: unknown) => {
    if (wasRefused(error)) return null;
    throw error;
  });
  if (!kept) throw new Refusal('not_found');
  return { ...kept, isReplayed: true };
};

/** What the bearer of the key changes by this request, for the audit log: ids only, nothing of its body. */
const auditedBy = (
  deps: Deps,
  { method, path }: JsonRoute,
  { ctx, keyId }: Omit<Asked, 'requestBody'>,
  body: unknown,
): Deps =>
  withAudit(deps, {
    actor: { kind: 'key', id: keyId },
    action: `${method} ${path}`,
    targets: { ...listTargets(body), ...listPathTargets(ctx.params) },
    requestId: (ctx.state as { requestId: string }).requestId,
  });

/** Object, query, body: the order in which a caller whose key may call the route learns what is wrong. */
const answerJson = async (
  deps: Deps,
  declared: JsonRoute,
  { ctx, requestBody, ...key }: Asked,
): Promise<Answer & { isReplayed: boolean }> => {
  checkPath(ctx);
  const { traceparent } = ctx.state as { traceparent?: string };
  const addressed = { deps, ...key, params: ctx.params, traceparent };
  const found = await declared.find?.(addressed);
  if (found === null) return answerForGone(deps, declared, { ctx, requestBody, ...key });
  const keyed = toKeyed(declared, ctx, key.caller);
  const query = parse(declared.query ?? NO_QUERY, readQuery(ctx));
  const { bytes, body } = await requestBody.parse(key);
  limitWork(deps, ctx, key, declared.workOf?.(body, found) ?? ONE_UNIT);
  const audited = isAudited(declared) ? auditedBy(deps, declared, { ctx, ...key }, body) : deps;
  const run = async (repeatable: Pick<Addressed, 'repetitionId'>): Promise<Answer> => ({
    status: declared.status,
    body: await declared.handle({
      ...addressed,
      ...repeatable,
      deps: asOneCall(audited, repeatable.repetitionId),
      found,
      query,
      body,
    }),
  });
  if (!keyed) return { ...(await run({})), isReplayed: false };
  return answerOnce(
    deps,
    { ...keyed, body: bytes },
    (repetitionId) => countKept(deps, key.caller, () => run({ repetitionId })),
    toKeeping(declared, { ...addressed, body }),
  );
};

/** Token, key type, rate limit, then the request itself. */
const serveJson = async (deps: Deps, declared: JsonRoute, ctx: RouterContext): Promise<void> => {
  if (isForBrowsers(declared)) letBrowsersRead(ctx);
  refuseRepeated(ctx.req);
  const requestBody = new RequestBody(deps, declared, ctx);
  try {
    const key = await authenticate(deps, declared, { ctx, requestBody });
    limitRequest(deps, ctx, key);
    requestBody.open(key);
    const kind = key.caller.kind === 'publishable' ? 'publishable' : 'server';
    const answer = await answerJson(inTurnsOf(deps, kind), declared, { ctx, requestBody, ...key });
    if (answer.isReplayed) ctx.set('Idempotency-Replayed', 'true');
    ctx.status = answer.status;
    if (answer.body instanceof JsonStream) await sendStream(deps, ctx, answer.body);
    else ctx.body = answer.body;
  } finally {
    writeLimits(ctx);
    requestBody.close();
  }
};

/** A webhook proves itself before its body is read, unless the proof is in the body. */
const serveWebhook = async (
  deps: Deps,
  declared: WebhookRoute,
  ctx: RouterContext,
): Promise<void> => {
  refuseRepeated(ctx.req);
  const query = new URLSearchParams(ctx.querystring);
  const { params, headers, ip: address } = ctx;
  const post = new PostBody(deps, declared, ctx);
  const { countAs, charge, readRaw } = post;
  const known = { deps, params, query, headers, address };
  try {
    ctx.body = await declared.handle({ ...known, countAs, charge, readRaw });
    ctx.status = declared.status;
  } finally {
    post.close();
  }
};

type Serve = (ctx: RouterContext) => Promise<void>;

const serverOf =
  (deps: Deps, declared: Route): Serve =>
  (ctx) => {
    ctx.params = inLowerCase(ctx.params);
    return declared.access === 'webhook'
      ? serveWebhook(deps, declared, ctx)
      : serveJson(deps, declared, ctx);
  };

/** Puts the declared routes on a router. */
export const mountRoutes = (router: Router, deps: Deps, routes: readonly Route[]): void => {
  for (const declared of routes) {
    if (isForBrowsers(declared)) router.register(declared.path, ['OPTIONS'], answerPreflight);
    router.register(declared.path, [declared.method], serverOf(deps, declared));
  }
};

/**
 * Serves the declared routes whose paths have no parameters. Finds them by name: the router tries the pattern of each
 * route in turn, which costs a request that stores one event a tenth of its time.
 */
export const serveExactPaths = (deps: Deps, routes: readonly Route[]): Middleware => {
  const servers = new Map(
    routes
      .filter(({ path }) => !path.includes(':'))
      .map((declared) => [`${declared.method} ${declared.path}`, serverOf(deps, declared)]),
  );
  return (ctx, next) => {
    const serve = servers.get(`${ctx.method} ${ctx.path}`);
    if (!serve) return next();
    return serve(Object.assign(ctx as RouterContext, { params: {}, _matchedRoute: ctx.path }));
  };
};
