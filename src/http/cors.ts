import type { Context, Middleware } from 'koa';
import type { Route } from '../base/route.ts';

/** How long a browser need not ask again; each has a bound of its own below a day. */
const PREFLIGHT_SECONDS = 86_400;
const METHODS = 'POST';
/** The last two are what Segment's and RudderStack's libraries add. */
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, X-Request-Id, traceparent, X-Retry-Count, AnonymousId';
const ANSWER_HEADERS =
  'Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, X-Request-Id, traceparent';

/** What pages of other origins may call: what a publishable key is for, and nothing else. */
export const isForBrowsers = ({ method, access }: Route): boolean =>
  method === 'POST' && access === 'publishable';

/** Lets a page of any origin read the answer. No cookies are ever involved, so "any" gives nothing away. */
export const letBrowsersRead = (ctx: Context): void => {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', ANSWER_HEADERS);
};

/** Answers a browser that asks first whether it may send what a page wants to (Fetch, CORS preflight). */
export const answerPreflight: Middleware = (ctx) => {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Allow-Methods', METHODS);
  ctx.set('Access-Control-Allow-Headers', REQUEST_HEADERS);
  ctx.set('Access-Control-Max-Age', String(PREFLIGHT_SECONDS));
  ctx.status = 204;
};
