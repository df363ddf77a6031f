import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Middleware } from 'koa';
import { BODY_STOPPED, isBodyStopped, manySmallChunks } from '../base/bodies/bodies.ts';
import type { HeldBody } from '../base/bodies/bodies.ts';
import { Refusal } from '../base/refusal.ts';

/**
 * How much of a refused body is still taken, and for how long. Many clients write everything before
 * they read; a connection that is closed on them takes the answer along.
 */
const DISCARD_BYTES_MAX = 4 * 1024 * 1024;
const DISCARD_TIMEOUT_MS = 2_000;

/** JSON between systems is UTF-8 (RFC 8259 §8.1), of which ASCII is a part. */
const UTF8_NAMES = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)"?/gi;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const tooLarge = (bytesMax: number): Refusal =>
  new Refusal('body_too_large', {
    detail: `The body is larger than ${bytesMax} bytes: send less at once.`,
  });

const bytesAhead = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0);

/** How many bytes of a body are read at most: as many as are announced, or `bytesMax` where nothing is. */
export const bytesToRead = (request: IncomingMessage, bytesMax: number): number =>
  request.headers['transfer-encoding'] === undefined
    ? Math.min(bytesAhead(request), bytesMax)
    : bytesMax;

/** Whether a request has a body at all (RFC 9112 §6): an announced one of no bytes is none. */
export const hasBody = (request: IncomingMessage): boolean =>
  bytesAhead(request) > 0 || request.headers['transfer-encoding'] !== undefined;

const heldBack = new WeakMap<IncomingMessage, ServerResponse>();

/** Keeps "100 Continue" back until the body is wanted: a refusal needs no body. */
export const holdContinue = (request: IncomingMessage, response: ServerResponse): void => {
  heldBack.set(request, response);
};

const sendContinue = (request: IncomingMessage): void => {
  heldBack.get(request)?.writeContinue();
  heldBack.delete(request);
};

/** Counts a body while it is read. */
export type Intake = Omit<HeldBody, 'release'>;

/**
 * Reads a whole body of at most `bytesMax` bytes, announced or discovered. While it arrives, the intake may refuse or
 * end it.
 */
export const readBody = (
  request: IncomingMessage,
  bytesMax: number,
  intake: Intake | null = null,
): Promise<Buffer> => {
  if (bytesAhead(request) > bytesMax) return Promise.reject(tooLarge(bytesMax));
  if (isBodyStopped(request)) return Promise.reject(manySmallChunks());
  sendContinue(request);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      try {
        size += chunk.length;
        if (size > bytesMax) throw tooLarge(bytesMax);
        intake?.add(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        end(() => reject(error as Refusal));
      }
    };
    const onEnd = (): void => end(() => resolve(Buffer.concat(chunks, size)));
    const onBroken = (): void => end(() => reject(new Refusal('request_timeout')));
    const onStopped = (): void => end(() => reject(manySmallChunks()));
    const end = (answer: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('aborted', onBroken);
      request.off(BODY_STOPPED, onStopped);
      intake?.hasArrived();
      answer();
    };
    // A small body has come with its head: nothing can wait for it.
    if (!request.complete) intake?.arrive(onBroken);
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('aborted', onBroken);
    request.on(BODY_STOPPED, onStopped);
  });
};

/** Takes the rest of a body that nobody wants, within bounds. Never fails. */
export const discardBody = (request: IncomingMessage): Promise<void> => {
  const isOver = request.complete || request.destroyed || isBodyStopped(request);
  if (isOver || heldBack.has(request) || bytesAhead(request) > DISCARD_BYTES_MAX)
    return Promise.resolve();
  return new Promise((resolve) => {
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > DISCARD_BYTES_MAX) end();
    };
    const end = (): void => {
      clearTimeout(giveUp);
      request.off('data', onData).off('end', end).off('close', end).off(BODY_STOPPED, end);
      resolve();
    };
    const giveUp = setTimeout(end, DISCARD_TIMEOUT_MS);
    request.on('data', onData).on('end', end).on('close', end).on('error', end);
    request.on(BODY_STOPPED, end);
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

/** Refuses JSON that says it is of another encoding: read as UTF-8 it would say something else. */
export const checkCharset = ({ headers }: IncomingMessage): void => {
  const type = headers['content-type'] ?? '';
  if (!type.includes(';')) return;
  const named = [...type.matchAll(CHARSET)].map(([, name = '']) => name);
  if (named.every((name) => UTF8_NAMES.has(name.toLowerCase()))) return;
  const detail = 'JSON is UTF-8: send it so, as "Content-Type: application/json".';
  throw new Refusal('unsupported_media_type', { detail });
};

/** Of which a request has one at most (RFC 9110 §5.3): Node takes the first of several, a proxy maybe the last. */
const SINGLE = ['authorization', 'content-type', 'host'];

/** Refuses a request that says twice who asks, whom, or what its body is. */
export const refuseRepeated = ({ headersDistinct }: IncomingMessage): void => {
  const repeated = SINGLE.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (repeated === undefined) return;
  throw new Refusal('invalid_request', { detail: `Send one ${repeated} header, not several.` });
};

/** Refuses a body that is packed for its way: we take chunks alone (RFC 9112 §6.1). */
export const refuseCodings: Middleware = (ctx, next) => {
  const codings = ctx.req.headers['transfer-encoding'] ?? 'chunked';
  if (codings.trim().toLowerCase() === 'chunked') return next();
  throw new Refusal('invalid_request', {
    detail: 'Send the body with a Content-Length, or with "Transfer-Encoding: chunked" alone.',
  });
};

const unpackAll = promisify(gunzip);

/** The size of what was packed stands in the last four bytes (RFC 1952 §2.3.1), if one member was packed honestly. */
const sizeSaid = (packed: Buffer): number =>
  packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4);

/** Unpacks to at most `bytesMax` bytes. Null where it is more. */
const unpack = async (packed: Buffer, bytesMax: number): Promise<Buffer | null> => {
  try {
    return await unpackAll(packed, { maxOutputLength: bytesMax });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw new Refusal('invalid_json', { detail: 'The body is not packed with gzip.', cause });
  }
};

/** A body that may be packed with gzip; `bytesMax` holds for what it is unpacked, too. It may be called anything. */
export const readPackedBody = async (
  request: IncomingMessage,
  bytesMax: number,
  intake: Intake,
): Promise<Buffer> => {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'gzip') checkMediaType(request, /^/);
  const bytes = await readBody(request, bytesMax, intake);
  if (encoding !== 'gzip') return bytes;
  const expected = Math.min(bytesMax, Math.max(1, sizeSaid(bytes)));
  intake.add(expected);
  const unpacked = await unpack(bytes, expected);
  if (unpacked !== null) return unpacked;
  intake.add(bytesMax - expected);
  const whole = expected < bytesMax ? await unpack(bytes, bytesMax) : null;
  if (whole === null) throw tooLarge(bytesMax);
  return whole;
};
