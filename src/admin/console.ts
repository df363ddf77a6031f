import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import { Refusal, refusals } from '../base/refusal.ts';
import type { Config } from '../config.ts';
import { foreignHost, ownOriginOf } from './own_origin.ts';

const compress = promisify(gzip);

export const CONSOLE_PATH = '/console';
/** Where `make build` puts it. */
export const CONSOLE_FOLDER = join(import.meta.dirname, '..', '..', 'dist', 'console');

const NOT_BUILT = `The Console is not built in this installation.

Run "make build" where the service's files are, then load this page again.
`;

/** What the build puts where the nonce of an answer belongs. */
export const NONCE_PLACEHOLDER = '__NONCE__';
const NONCE_BYTES = 18;

const mediaTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Only what this page brought along may run, style or be asked. The nonce is for the theme's own style element. */
const policyWith = (nonce: string): string =>
  [
    "default-src 'self'",
    "img-src 'self' data:",
    `style-src 'self' 'nonce-${nonce}'`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

const readIfThere = async (file: string): Promise<Buffer | null> => {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR') return null;
    throw error;
  }
};

type Asset = { plain: Buffer; zipped: Buffer };

/** Reads the build's files once each: their names change whenever they do. */
const makeAssetReader = (folder: string) => {
  const known = new Map<string, Asset>();
  return async (path: string): Promise<Asset | null> => {
    const file = join(folder, path);
    if (!file.startsWith(join(folder, 'assets') + sep) || file.includes('\0')) return null;
    const found = known.get(file);
    if (found) return found;
    const plain = await readIfThere(file);
    if (!plain) return null;
    const asset = { plain, zipped: await compress(plain) };
    known.set(file, asset);
    return asset;
  };
};

const sendAsset = (ctx: Context, { plain, zipped }: Asset): void => {
  const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.type = mediaTypes[extname(ctx.path)] ?? 'application/octet-stream';
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.set('Vary', 'Accept-Encoding');
  if (isZipped) ctx.set('Content-Encoding', 'gzip');
  ctx.body = isZipped ? zipped : plain;
};

const sendPage = async (ctx: Context, folder: string): Promise<void> => {
  const page = await readIfThere(join(folder, 'index.html'));
  ctx.set('Cache-Control', 'no-cache');
  ctx.status = page ? 200 : 404;
  ctx.type = page ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
  if (!page) {
    ctx.body = NOT_BUILT;
    return;
  }
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  ctx.set('Content-Security-Policy', policyWith(nonce));
  ctx.body = page.toString('utf8').replaceAll(NONCE_PLACEHOLDER, nonce);
};

/** Returns the page that names the Console's address, for requests to another address. */
const sendForeign = (ctx: Context, config: Config): void => {
  ctx.status = refusals.foreign_host.status;
  ctx.type = 'text/plain; charset=utf-8';
  ctx.set('Cache-Control', 'no-store');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.body = `${foreignHost(config).extras.detail}\n`;
};

/** The Console's files: assets by name, and one page for every other path, so that links into it work. */
export const consoleDoor = (config: Config, folder = CONSOLE_FOLDER): Middleware => {
  const readAsset = makeAssetReader(folder);
  return async (ctx, next) => {
    if (ctx.path === '/' && ctx.method === 'GET') return ctx.redirect(CONSOLE_PATH);
    if (ctx.path !== CONSOLE_PATH && !ctx.path.startsWith(`${CONSOLE_PATH}/`)) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new Refusal('method_not_allowed');
    }
    if (ownOriginOf(config, ctx) === null) return sendForeign(ctx, config);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.set('X-Frame-Options', 'DENY');
    if (!ctx.path.startsWith(`${CONSOLE_PATH}/assets/`)) return sendPage(ctx, folder);
    const asset = await readAsset(ctx.path.slice(CONSOLE_PATH.length));
    if (!asset) throw new Refusal('not_found');
    sendAsset(ctx, asset);
  };
};
