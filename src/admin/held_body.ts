import { TRPCError } from '@trpc/server';
import type { Context } from 'koa';
import {
  bodiesInHandOf,
  BODY_STOPPED,
  holdParsed,
  isBodyStopped,
  manySmallChunks,
  ValueCounter,
} from '../base/bodies/bodies.ts';
import type { HeldBody } from '../base/bodies/bodies.ts';
import type { Deps } from '../base/deps.ts';
import { toOrigin } from '../base/origin.ts';
import { Refusal } from '../base/refusal.ts';

/** A request whose body counts from `open` to `release`. */
export type HeldRequest = { request: Request; open: () => void; release: () => void };

/**
 * Bounds the memory that the body of a request takes, as of requests without a key: most procedures ask who is signed
 * in after it is read. A folder has bounds of its own (`folder_turns.ts`), so only its values are counted.
 */
export const holdBody = (
  deps: Deps,
  ctx: Context,
  { request, isFolder }: { request: Request; isFolder: boolean },
): HeldRequest => {
  let held: HeldBody | null = null;
  const open = (): void => {
    if (request.body === null) return;
    const origin = toOrigin(ctx.ip);
    try {
      held = bodiesInHandOf(deps).open({ kind: 'stranger', projectId: null, origin });
      if (!ctx.req.complete) held.arrive(() => counted.fail(new Refusal('request_timeout')));
    } catch (cause) {
      throw new TRPCError({ code: 'TOO_MANY_REQUESTS', cause });
    }
  };
  const counter = new ValueCounter();
  const count = (chunk: Uint8Array): void => {
    const before = counter.count;
    counter.push(chunk);
    if (held === null || isFolder) return;
    held.add(chunk.length);
    holdParsed(held, { bytes: chunk.length, values: counter.count - before });
  };
  const counted = counting(request, { count, onEnd: () => held?.hasArrived() });
  const onStopped = (): void => counted.fail(manySmallChunks());
  if (isBodyStopped(ctx.req)) onStopped();
  else ctx.req.once(BODY_STOPPED, onStopped);
  return { request: counted.request, open, release: () => held?.release() };
};

type Counting = { count: (chunk: Uint8Array) => void; onEnd: () => void };
/** `fail` ends the body with an error. */
type Counted = { request: Request; fail: (error: unknown) => void };

/**
 * The same request, whose body is counted while it is read: before it is parsed. A body that is refused is not
 * cancelled: that would cut the connection before the answer.
 */
const counting = (request: Request, { count, onEnd }: Counting): Counted => {
  if (request.body === null) return { request, fail: () => {} };
  const reader = request.body.getReader();
  let fail: Counted['fail'] = () => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      fail = (error) => controller.error(error);
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) {
        onEnd();
        controller.close();
        return;
      }
      count(value);
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  // oxlint-disable-next-line no-invalid-fetch-options -- the method is the request's: only a POST has a body to hold
  return { request: new Request(request, { body, duplex: 'half' }), fail };
};
