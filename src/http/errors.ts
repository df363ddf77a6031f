import type { Middleware } from 'koa';
import { toDatabaseRefusal } from '../base/database_errors.ts';
import type { Logger } from '../base/log.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import type { RefusalName } from '../base/refusal.ts';
import { discardBody } from './body.ts';
import { OverloadLog } from './overload_log.ts';

/** Amazon SNS sends the password in a subscription URL only after this challenge (RFC 7617). */
const challenges: Partial<Record<RefusalName, string>> = {
  topic_needs_approval: 'Basic realm="webhook token", charset="UTF-8"',
};

/** The one shape of every error: `error` is the member to branch on, the rest is for people. */
export const toBody = ({ reason, extras }: Refusal, requestId: string) => ({
  error: reason,
  status: refusals[reason].status,
  detail: extras.detail ?? refusals[reason].detail,
  request_id: requestId,
  ...(extras.issues ? { issues: extras.issues } : {}),
  ...extras.members,
});

/** What an error is to the caller. A bug says nothing of itself; a lost database says "retry". */
const toRefusal = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  return toDatabaseRefusal(error) ?? new Refusal('internal_error', { cause: error });
};

/** Answers every error of every route. */
export const answerErrors = (log: Logger): Middleware => {
  const overloads = new OverloadLog(log);
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body == null) throw new Refusal('not_found');
    } catch (error) {
      const refusal = toRefusal(error);
      const requestId = ctx.state['requestId'] as string;
      const { status } = refusals[refusal.reason];
      ctx.status = status;
      ctx.body = toBody(refusal, requestId);
      if (status === 401) ctx.set('WWW-Authenticate', challenges[refusal.reason] ?? 'Bearer');
      const { retryAfterSeconds } = refusal.extras;
      if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(retryAfterSeconds));
      if (refusal.reason === 'overloaded') overloads.add(requestId);
      else if (status >= 500) log.error({ err: error, request_id: requestId }, refusal.reason);
      await discardBody(ctx.req);
      // What was not read of a refused body must not be taken for the next request.
      if (!ctx.req.complete) ctx.set('Connection', 'close');
    }
  };
};
