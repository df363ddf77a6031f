import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { Deps } from '../base/deps.ts';
import { STREAM_STALL_MS } from '../base/route.ts';
import type { JsonStream } from '../base/route.ts';

class ClientLeft extends Error {}
class ClientStalled extends Error {}

/** Waits until the client has taken what was written: for so long at most, and not when it is gone. */
const untilTaken = async (
  res: ServerResponse,
  event: 'drain' | 'finish',
  stallMs: number,
): Promise<void> => {
  if (res.destroyed) throw new ClientLeft();
  const gone = new AbortController();
  const leave = (): void => gone.abort(new ClientLeft());
  const stall = setTimeout(() => gone.abort(new ClientStalled()), stallMs);
  res.once('close', leave);
  try {
    await once(res, event, { signal: gone.signal });
  } catch (error) {
    throw gone.signal.aborted ? gone.signal.reason : error;
  } finally {
    clearTimeout(stall);
    res.off('close', leave);
  }
};

/** Writes piece after piece, none before the one before it is taken. */
const writeAll = async (
  res: ServerResponse,
  first: string,
  rest: AsyncIterator<string>,
  stallMs: number,
): Promise<void> => {
  for (let piece = first; ;) {
    if (!res.write(piece)) await untilTaken(res, 'drain', stallMs);
    const next = await rest.next();
    if (next.done) break;
    piece = next.value;
  }
  res.end();
  if (!res.writableFinished) await untilTaken(res, 'finish', stallMs);
};

/**
 * Sends an answer while it is made, as fast as the client takes it. Throws what goes wrong before the
 * first byte; after that the connection is destroyed, and who reads knows that the answer broke off.
 * A client that takes too long over a piece is not waited for: the next one may want its place.
 */
export const sendStream = async (
  { log }: Pick<Deps, 'log'>,
  ctx: Context,
  { pieces }: JsonStream,
  stallMs = STREAM_STALL_MS,
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
  try {
    await writeAll(ctx.res, first.value, iterator, stallMs);
  } catch (error) {
    // Where the client does not read, the kernel would keep what it holds of the answer.
    if (error instanceof ClientStalled) ctx.req.socket.resetAndDestroy();
    ctx.res.destroy();
    const said = { err: error, request_id: ctx.state['requestId'] as string };
    if (error instanceof ClientLeft) log.info(said, 'the client left before the end of an answer');
    else if (error instanceof ClientStalled) log.info(said, 'the client did not take its answer');
    else log.error(said, 'an answer broke off');
  } finally {
    await iterator.return?.();
  }
};
