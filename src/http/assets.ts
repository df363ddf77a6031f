import { createHash } from 'node:crypto';
import { constants, gzipSync } from 'node:zlib';
import type { Context } from 'koa';

/** A text that clients load often and that never changes within a process. */
export type Asset = { etag: string; plain: Buffer; zipped: Buffer };

/** Returns the SHA-256 digest of a text in base64. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64');

/** Returns a text with its ETag and its gzip form. */
export const toAsset = (text: string): Asset => ({
  etag: digest(text),
  plain: Buffer.from(text),
  zipped: gzipSync(text, { level: constants.Z_BEST_COMPRESSION }),
});

/** Sends an asset, or 304 to a client that has it. */
export const sendAsset = (ctx: Context, { etag, plain, zipped }: Asset): void => {
  ctx.status = 200;
  ctx.set('Cache-Control', 'no-cache');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.vary('Accept-Encoding');
  ctx.etag = `W/"${etag}"`;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isZipped) ctx.set('Content-Encoding', 'gzip');
  ctx.body = isZipped ? zipped : plain;
};
