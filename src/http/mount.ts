import { isUtf8 } from 'node:buffer';
import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { parse } from '../base/parse.ts';
import { Refusal } from '../base/refusal.ts';
import { BODY_BYTES_DEFAULT } from '../base/route.ts';
import type { JsonRoute, Route, WebhookRoute } from '../base/route.ts';
import { findCaller } from '../projects/projects.ts';
import { checkMediaType, parseJson, readBody } from './body.ts';
import { checkPath, readQuery } from './url.ts';

const BEARER = /^Bearer +([A-Za-z0-9_]{1,100}) *$/i;

/** Token (401), then key type (403). One indistinguishable body for every kind of wrong token. */
const authenticate = async (
  deps: Deps,
  ctx: RouterContext,
  access: JsonRoute['access'],
): Promise<Caller> => {
  const [, token] = BEARER.exec(ctx.get('authorization')) ?? [];
  const caller = token === undefined ? null : await findCaller(deps, token);
  if (!caller || caller.kind === 'hook') throw new Refusal('invalid_token');
  if (access === 'server' && caller.kind !== 'server') throw new Refusal('wrong_key_type');
  return caller;
};

const readJson = async (ctx: RouterContext, bytesMax = BODY_BYTES_DEFAULT): Promise<unknown> => {
  checkMediaType(ctx.req);
  return parseJson(await readBody(ctx.req, bytesMax));
};

/** Token, key type, object, query, body: the order in which a caller learns what is wrong. */
const serveJson = async (deps: Deps, declared: JsonRoute, ctx: RouterContext): Promise<void> => {
  const caller = await authenticate(deps, ctx, declared.access);
  checkPath(ctx);
  const addressed = { deps, caller, params: ctx.params };
  const found = await declared.find?.(addressed);
  if (found === null) throw new Refusal('not_found');
  const query = declared.query && parse(declared.query, readQuery(ctx));
  const body = declared.body && parse(declared.body, await readJson(ctx, declared.bodyBytesMax));
  ctx.body = await declared.handle({ ...addressed, found, query, body });
  ctx.status = declared.status;
};

/** A webhook proves itself before its body is read, unless the proof is in the body. */
const serveWebhook = async (
  deps: Deps,
  declared: WebhookRoute,
  ctx: RouterContext,
): Promise<void> => {
  const readRaw = async (): Promise<Buffer> => {
    checkMediaType(ctx.req);
    const raw = await readBody(ctx.req, declared.bodyBytesMax);
    if (!isUtf8(raw)) throw new Refusal('invalid_json');
    return raw;
  };
  const query = new URLSearchParams(ctx.querystring);
  const { params, headers } = ctx;
  ctx.body = await declared.handle({ deps, params, query, headers, readRaw });
  ctx.status = declared.status;
};

/** Puts the declared routes on a router. */
export const mountRoutes = (router: Router, deps: Deps, routes: readonly Route[]): void => {
  for (const declared of routes) {
    router.register(declared.path, [declared.method], (ctx) =>
      declared.access === 'webhook'
        ? serveWebhook(deps, declared, ctx)
        : serveJson(deps, declared, ctx),
    );
  }
};

/** 405 with Allow, for a path that exists but not for this method. */
export const refuseOtherMethods: Middleware = async (ctx, next) => {
  await next();
  const { matched = [] } = ctx as unknown as RouterContext;
  if (ctx.body != null || ctx.status !== 404 || matched.length === 0) return;
  ctx.set('Allow', [...new Set(matched.flatMap(({ methods }) => methods))].join(', '));
  throw new Refusal('method_not_allowed');
};
