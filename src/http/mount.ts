import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import { z } from 'zod';
import { asOneCall, listPathTargets, listTargets, withAudit } from '../base/audit.ts';
import type { Deps } from '../base/deps.ts';
import { parseStrictJson } from '../base/json.ts';
import { parse } from '../base/parse.ts';
import { Refusal } from '../base/refusal.ts';
import { BODY_BYTES_DEFAULT, isAudited, JsonStream } from '../base/route.ts';
import type { Addressed, JsonRoute, RawInbound, Route, WebhookRoute } from '../base/route.ts';
import { inTurnsOf } from '../base/session_turns.ts';
import { findKey } from '../projects/projects.ts';
import type { Key } from '../projects/projects.ts';
import {
  bytesToRead,
  checkCharset,
  checkMediaType,
  hasBody,
  readBody,
  readPackedBody,
  refuseRepeated,
} from './body.ts';
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
import {
  chargeRefusedBody,
  limitPost,
  limitRequest,
  limitUnauthenticated,
  limitWork,
} from './limit_requests.ts';
import { sendStream } from './send_stream.ts';
import { readBearer, readWriteKey } from './tokens.ts';
import { checkPath, inLowerCase, readQuery } from './url.ts';

/** Token (401), then key type (403). One indistinguishable body for every kind of wrong token. */
const authenticate = async (deps: Deps, ctx: RouterContext, declared: JsonRoute): Promise<Key> => {
  const authorization = ctx.get('authorization');
  const token = declared.takesWriteKey
    ? await readWriteKey(authorization, () => readUnauthenticated(deps, declared, ctx))
    : readBearer(authorization);
  const key = token === undefined ? null : await findKey(deps, token, { address: ctx.ip });
  if (!key || key.caller.kind === 'hook') throw new Refusal('invalid_token');
  if (declared.access === 'server' && key.caller.kind !== 'server')
    throw new Refusal('wrong_key_type');
  return key;
};

const NO_BODY = Buffer.alloc(0);
/** Of a route that takes no parameters: whoever sends one has misspelt something. */
const NO_QUERY = z.strictObject({});

const bytesMaxOf = ({ bodyBytesMax }: JsonRoute): number => bodyBytesMax ?? BODY_BYTES_DEFAULT;

const readBytes = async (declared: JsonRoute, ctx: RouterContext): Promise<Buffer> => {
  if (!declared.body || (declared.isBodyOptional && !hasBody(ctx.req))) return NO_BODY;
  const bytesMax = bytesMaxOf(declared);
  if (declared.takesWriteKey) return readPackedBody(ctx.req, bytesMax);
  checkMediaType(ctx.req);
  checkCharset(ctx.req);
  return readBody(ctx.req, bytesMax);
};

/** The body's bytes, read once: a token may have been looked for in them. */
const readJsonBytes = (declared: JsonRoute, ctx: RouterContext): Promise<Buffer> => {
  const known = ctx.state as { bytes?: Promise<Buffer> };
  known.bytes ??= readBytes(declared, ctx);
  return known.bytes;
};

/** The same before the key is known. The body costs something, so the address is counted first. */
const readUnauthenticated = (
  deps: Deps,
  declared: JsonRoute,
  ctx: RouterContext,
): Promise<Buffer> => {
  limitUnauthenticated(deps, ctx);
  return readJsonBytes(declared, ctx);
};

/** The parsed body. One that is refused is charged by its size: reading and parsing it was work. */
const readJson = async (
  deps: Deps,
  declared: JsonRoute,
  { ctx, ...key }: Asked,
): Promise<{ bytes: Buffer; body: unknown }> => {
  let size = declared.body ? bytesToRead(ctx.req, bytesMaxOf(declared)) : 0;
  try {
    const bytes = await readJsonBytes(declared, ctx);
    size = bytes.length;
    const isLeftOut = declared.isBodyOptional && bytes.length === 0;
    const body = declared.body && parse(declared.body, isLeftOut ? {} : parseStrictJson(bytes));
    return { bytes, body };
  } catch (error) {
    if (wasRefused(error)) chargeRefusedBody(deps, ctx, key, size);
    throw error;
  }
};

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

type Asked = Key & { ctx: RouterContext };
const ONE_UNIT = [{ units: 1 }];

const toKeeping = ({ again }: JsonRoute, addressed: Addressed & { body?: unknown }): Keeping =>
  again ? { keep: again.idIn, tell: (id) => again.find(addressed, String(id)) } : AS_GIVEN;

/** What was answered to this very request before its object went, or 404 whatever else is wrong with it. */
const answerForGone = async (
  deps: Deps,
  declared: JsonRoute,
  { ctx, ...key }: Asked,
): Promise<Answer & { isReplayed: boolean }> => {
  const find = async (): Promise<Answer | null> => {
    const keyed = toKeyed(declared, ctx, key.caller);
    if (keyed === null) return null;
    const body = await readJsonBytes(declared, ctx);
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
  { ctx, keyId }: Asked,
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
  { ctx, ...key }: Asked,
): Promise<Answer & { isReplayed: boolean }> => {
  checkPath(ctx);
  const { traceparent } = ctx.state as { traceparent?: string };
  const addressed = { deps, ...key, params: ctx.params, traceparent };
  const found = await declared.find?.(addressed);
  if (found === null) return answerForGone(deps, declared, { ctx, ...key });
  const keyed = toKeyed(declared, ctx, key.caller);
  const query = parse(declared.query ?? NO_QUERY, readQuery(ctx));
  const { bytes, body } = await readJson(deps, declared, { ctx, ...key });
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
  const key = await authenticate(deps, ctx, declared);
  limitRequest(deps, ctx, key);
  const kind = key.caller.kind === 'publishable' ? 'publishable' : 'server';
  const answer = await answerJson(inTurnsOf(deps, kind), declared, { ctx, ...key });
  if (answer.isReplayed) ctx.set('Idempotency-Replayed', 'true');
  ctx.status = answer.status;
  if (answer.body instanceof JsonStream) await sendStream(deps, ctx, answer.body);
  else ctx.body = answer.body;
};

/** A webhook proves itself before its body is read, unless the proof is in the body. */
const serveWebhook = async (
  deps: Deps,
  declared: WebhookRoute,
  ctx: RouterContext,
): Promise<void> => {
  refuseRepeated(ctx.req);
  const readRaw: RawInbound['readRaw'] = async (mediaTypes, bytesMax = declared.bodyBytesMax) => {
    checkMediaType(ctx.req, mediaTypes);
    return readBody(ctx.req, Math.min(bytesMax, declared.bodyBytesMax));
  };
  const query = new URLSearchParams(ctx.querystring);
  const { params, headers, ip: address } = ctx;
  const limits = limitPost(deps, ctx);
  ctx.body = await declared.handle({ deps, params, query, headers, address, readRaw, ...limits });
  ctx.status = declared.status;
};

/** Puts the declared routes on a router. */
export const mountRoutes = (router: Router, deps: Deps, routes: readonly Route[]): void => {
  for (const declared of routes) {
    if (isForBrowsers(declared)) router.register(declared.path, ['OPTIONS'], answerPreflight);
    router.register(declared.path, [declared.method], (ctx) => {
      ctx.params = inLowerCase(ctx.params);
      return declared.access === 'webhook'
        ? serveWebhook(deps, declared, ctx)
        : serveJson(deps, declared, ctx);
    });
  }
};
