import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
import type { Deps } from '../base/deps.ts';
import type { JsonStream } from '../base/route.ts';

/** A client that takes nothing for so long is not coming back. */
export const STREAM_STALL_MS = 30_000;

async function* after(first: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/**
 * Sends an answer while it is made, as fast as the client takes it. Throws what goes wrong before the
 * first byte; after that the connection is destroyed, and who reads knows that the answer broke off.
 */
export const sendStream = async (
  { log }: Pick<Deps, 'log'>,
  ctx: Context,
  { pieces }: JsonStream,
): Promise<void> => {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  ctx.type = 'application/json';
  ctx.respond = false;
  if (ctx.method === 'HEAD' || first.done) {
    await iterator.return?.();
    ctx.res.end();
    return;
  }
  ctx.res.setTimeout(STREAM_STALL_MS, () => ctx.res.destroy());
  try {
    await pipeline(Readable.from(after(first.value, iterator), { objectMode: true }), ctx.res);
  } catch (error) {
    ctx.res.destroy();
    const hasLeft = (error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE';
    const said = { err: error, request_id: ctx.state['requestId'] as string };
    if (hasLeft) log.info(said, 'the client left before the end of an answer');
    else log.error(said, 'an answer broke off');
  } finally {
    // Who left before the first piece was sent never had `after` begin, nor end.
    await iterator.return?.();
  }
};
