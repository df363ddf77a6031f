import type { Middleware } from 'koa';
import { newId } from '../base/ids.ts';
import { takeRandom } from '../base/random.ts';

const REQUEST_ID = /^[\w.:-]{8,128}$/;
/** W3C Trace Context, version 00: trace id, parent id, flags. All zeroes are no id. */
const TRACEPARENT = /^00-((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
const TRACE_ID_BYTES = 16;
const PARENT_ID_BYTES = 8;
const NOT_SAMPLED = '00';

export const newRequestId = (): string => `req_${newId()}`;

/** The caller's trace with a parent id of our own, or a new trace where the header is none. */
const continueTrace = (given: string): string => {
  const [, traceId = takeRandom(TRACE_ID_BYTES).toString('hex'), flags = NOT_SAMPLED] =
    TRACEPARENT.exec(given) ?? [];
  return `00-${traceId}-${takeRandom(PARENT_ID_BYTES).toString('hex')}-${flags}`;
};

/** Takes a well-formed X-Request-Id and traceparent over, or makes them; answers with both. */
export const identify: Middleware = (ctx, next) => {
  const given = ctx.get('x-request-id');
  const requestId = REQUEST_ID.test(given) ? given : newRequestId();
  ctx.state['requestId'] = requestId;
  ctx.set('X-Request-Id', requestId);
  ctx.set('traceparent', continueTrace(ctx.get('traceparent')));
  return next();
};
