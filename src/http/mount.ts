import Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { parse } from '../base/parse.ts';
import { Refusal } from '../base/refusal.ts';
import type { JsonRoute, Route, WebhookRoute } from '../base/route.ts';
import { findCaller } from '../projects/projects.ts';
import { checkMediaType, parseJson, readBody } from './body.ts';

const BODY_BYTES_DEFAULT = 64 * 1024;
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

const readQuery = (ctx: RouterContext): Record<string, string> => {
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(ctx.querystring)) query[name] = value;
  return query;
};

const serveJson = async (deps: Deps, declared: JsonRoute, ctx: RouterContext): Promise<void> => {
  const caller = await authenticate(deps, ctx, declared.access);
  const query = declared.query ? parse(declared.query, { ...readQuery(ctx) }) : undefined;
  let body: unknown;
  if (declared.body) {
    checkMediaType(ctx.req);
    const raw = await readBody(ctx.req, declared.bodyBytesMax ?? BODY_BYTES_DEFAULT);
    body = parse(declared.body, parseJson(raw));
  }
  ctx.body = await declared.handle({ deps, caller, params: ctx.params, query, body });
  ctx.status = declared.status;
};

const serveWebhook = async (
  deps: Deps,
  declared: WebhookRoute,
  ctx: RouterContext,
): Promise<void> => {
  const raw = await readBody(ctx.req, declared.bodyBytesMax);
  const query = new URLSearchParams(ctx.querystring);
  ctx.body = await declared.handle({ deps, params: ctx.params, query, headers: ctx.headers, raw });
  ctx.status = declared.status;
};

/** Puts the declared routes on a router that answers 405 with Allow for their other methods. */
export const mount = (deps: Deps, routes: readonly Route[]): Router => {
  const router = new Router();
  for (const declared of routes) {
    router.register(declared.path, [declared.method], (ctx) =>
      declared.access === 'webhook'
        ? serveWebhook(deps, declared, ctx)
        : serveJson(deps, declared, ctx),
    );
  }
  return router;
};

/** 405 with Allow, for a path that exists but not for this method. */
export const refuseOtherMethods: Middleware = async (ctx, next) => {
  await next();
  const { matched = [] } = ctx as unknown as RouterContext;
  if (ctx.body != null || ctx.status !== 404 || matched.length === 0) return;
  ctx.set('Allow', [...new Set(matched.flatMap(({ methods }) => methods))].join(', '));
  throw new Refusal('method_not_allowed');
};
