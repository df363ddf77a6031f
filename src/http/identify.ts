import type { Middleware } from 'koa';
import { newId } from '../base/ids.ts';
import { beginTrace, continueTrace } from '../base/traceparent.ts';

const REQUEST_ID = /^[\w.:-]{8,128}$/;

export const newRequestId = (): string => `req_${newId()}`;

/** Takes a well-formed X-Request-Id and traceparent over, or makes them; answers with both. */
export const identify: Middleware = (ctx, next) => {
  const given = ctx.get('x-request-id');
  const requestId = REQUEST_ID.test(given) ? given : newRequestId();
  ctx.state['requestId'] = requestId;
  ctx.set('X-Request-Id', requestId);
  const continued = continueTrace(ctx.get('traceparent'));
  if (continued !== null) ctx.state['traceparent'] = continued;
  ctx.set('traceparent', continued ?? beginTrace());
  return next();
};
