import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Refusal } from '../base/refusal.ts';

/**
 * How much of a refused body is still taken, and for how long. Many clients write everything before
 * they read; a connection that is closed on them takes the answer along.
 */
const DISCARD_BYTES_MAX = 4 * 1024 * 1024;
const DISCARD_TIMEOUT_MS = 2_000;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const tooLarge = (bytesMax: number): Refusal =>
  new Refusal('body_too_large', {
    detail: `The body is larger than ${bytesMax} bytes: send less at once.`,
  });

const announcedBytes = ({ headers }: IncomingMessage): number =>
  Number(headers['content-length'] ?? 0);

/** Whether a request has a body at all (RFC 9112 §6): an announced one of no bytes is none. */
export const hasBody = (request: IncomingMessage): boolean =>
  announcedBytes(request) > 0 || request.headers['transfer-encoding'] !== undefined;

const heldBack = new WeakMap<IncomingMessage, ServerResponse>();

/** Keeps "100 Continue" back until the body is wanted: a refusal needs no body. */
export const holdContinue = (request: IncomingMessage, response: ServerResponse): void => {
  heldBack.set(request, response);
};

const sendContinue = (request: IncomingMessage): void => {
  heldBack.get(request)?.writeContinue();
  heldBack.delete(request);
};

/** Reads a whole body of at most `bytesMax` bytes, announced or discovered. */
export const readBody = (request: IncomingMessage, bytesMax: number): Promise<Buffer> => {
  if (announcedBytes(request) > bytesMax) return Promise.reject(tooLarge(bytesMax));
  sendContinue(request);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > bytesMax) end(() => reject(tooLarge(bytesMax)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => end(() => resolve(Buffer.concat(chunks, size)));
    const onBroken = (): void => end(() => reject(new Refusal('request_timeout')));
    const end = (answer: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('aborted', onBroken);
      answer();
    };
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('aborted', onBroken);
  });
};

/** Takes the rest of a body that nobody wants, within bounds. Never fails. */
export const discardBody = (request: IncomingMessage): Promise<void> => {
  const isComing = !request.complete && !request.destroyed && !heldBack.has(request);
  if (!isComing || announcedBytes(request) > DISCARD_BYTES_MAX) return Promise.resolve();
  return new Promise((resolve) => {
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > DISCARD_BYTES_MAX) end();
    };
    const end = (): void => {
      clearTimeout(giveUp);
      request.off('data', onData).off('end', end).off('close', end);
      resolve();
    };
    const giveUp = setTimeout(end, DISCARD_TIMEOUT_MS);
    request.on('data', onData).on('end', end).on('close', end).on('error', end);
  });
};

/** Refuses what is not plain JSON, or of another type that is expected, before a byte of the body is read. */
export const checkMediaType = (
  { headers }: IncomingMessage,
  mediaTypes: RegExp | null = JSON_TYPE,
): void => {
  const encoding = headers['content-encoding'] ?? 'identity';
  const isExpected = mediaTypes?.test(headers['content-type'] ?? '') ?? true;
  if (!isExpected || encoding !== 'identity') throw new Refusal('unsupported_media_type');
};

const unpack = promisify(gunzip);

/** A body that may be packed with gzip; `bytesMax` holds for what it is unpacked, too. It may be called anything. */
export const readPackedBody = async (
  request: IncomingMessage,
  bytesMax: number,
): Promise<Buffer> => {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'gzip') checkMediaType(request, /^/);
  const bytes = await readBody(request, bytesMax);
  if (encoding !== 'gzip') return bytes;
  try {
    return await unpack(bytes, { maxOutputLength: bytesMax });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(bytesMax);
    throw new Refusal('invalid_json', { detail: 'The body is not packed with gzip.', cause });
  }
};
