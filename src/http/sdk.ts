import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type Router from '@koa/router';
import { Refusal } from '../base/refusal.ts';
import { SDK_FOLDER, SDK_SCRIPT } from '../base/sdk_folder.ts';

const compress = promisify(gzip);

/** Pages name the script without a version, so a newer one reaches them within the hour. */
const FRESH_SECONDS = 3_600;
/** So long an old one is good enough while the newer is fetched: no page waits for it. */
const STALE_SECONDS = 86_400;

type Script = { madeAt: number; etag: string; plain: Buffer; zipped: Buffer };

const readScript = async (file: string, madeAt: number): Promise<Script> => {
  const plain = await readFile(file);
  const digest = createHash('sha256').update(plain).digest('base64url');
  const zipped = await compress(plain, { level: constants.Z_BEST_COMPRESSION });
  return { madeAt, etag: `W/"${digest}"`, plain, zipped };
};

/** Reads the script once for each build; null where there is none. */
const makeReader = (file: string) => {
  let known: Script | null = null;
  return async (): Promise<Script | null> => {
    try {
      const { mtimeMs } = await stat(file);
      if (known?.madeAt !== mtimeMs) known = await readScript(file, mtimeMs);
      return known;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  };
};

/** `/sdk/trunkline.js`, for pages of any origin, also those that let nothing in that does not say so. */
export const mountSdk = (router: Router, folder = SDK_FOLDER): void => {
  const read = makeReader(join(folder, SDK_SCRIPT));
  router.get(`/sdk/${SDK_SCRIPT}`, async (ctx) => {
    const script = await read();
    if (!script)
      throw new Refusal('not_found', {
        detail: 'The SDK is not built here: run "make build" where the service\'s files are.',
      });
    ctx.status = 200;
    ctx.type = 'text/javascript; charset=utf-8';
    ctx.set(
      'Cache-Control',
      `public, max-age=${FRESH_SECONDS}, stale-while-revalidate=${STALE_SECONDS}`,
    );
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.vary('Accept-Encoding');
    ctx.etag = script.etag;
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (isZipped) ctx.set('Content-Encoding', 'gzip');
    ctx.body = isZipped ? script.zipped : script.plain;
  });
};
