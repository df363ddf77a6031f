import type { IncomingMessage } from 'node:http';
import { Refusal } from '../refusal.ts';

/**
 * A body may come in so many chunks, and in one more for each CHUNK_BYTES_MIN bytes of it. Each chunk costs as much as
 * hundreds of bytes. Requests that arrive together on one connection share the number.
 */
export const SMALL_CHUNKS_MAX = 512;
export const CHUNK_BYTES_MIN = 512;

export const hasManySmallChunks = (chunks: number, size: number): boolean =>
  size < (chunks - SMALL_CHUNKS_MAX) * CHUNK_BYTES_MIN;

export const manySmallChunks = (): Refusal =>
  new Refusal('invalid_request', {
    detail: `Send the body with a Content-Length, or in chunks of at least ${CHUNK_BYTES_MIN} bytes.`,
  });

/** A request emits this when its body stops: no chunk of it follows, and no end. */
export const BODY_STOPPED = Symbol('body stopped');

const stopped = new WeakSet<IncomingMessage>();

export const isBodyStopped = (request: IncomingMessage): boolean => stopped.has(request);

export const stopBody = (request: IncomingMessage): void => {
  stopped.add(request);
  request.emit(BODY_STOPPED);
};
