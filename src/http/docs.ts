import { readFileSync } from 'node:fs';
import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Limit } from '../base/route.ts';
import { digest, sendAsset, toAsset } from './assets.ts';
import type { Asset } from './assets.ts';
import { BASE_URL } from './docs_curl.ts';
import { renderPage } from './docs_page.ts';
import { makeDocument } from './openapi.ts';
import { sections } from './routes.ts';

export const DOCS_STYLE = readFileSync(new URL('docs.css', import.meta.url), 'utf8');

/** Nothing but the page's own style: no script runs, nothing is loaded, no form is sent. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${digest(DOCS_STYLE)}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const UNKNOWN_BASE_URL = 'https://your-host';

/** Where the caller reached us: what they have to write in front of a path. */
const baseUrlOf = ({ protocol, host }: Context): string =>
  HOST.test(host) && /^https?$/.test(protocol) ? `${protocol}://${host}` : UNKNOWN_BASE_URL;

/**
 * For how many addresses of the service a process makes the page. A `Host` may say anything, and a page takes a tenth
 * of a second: past these, all others get the page for `https://your-host`.
 */
export const PAGES_MAX = 16;

/** Whoever writes a slash too many is shown the way. */
export const leadToDocs: Middleware = (ctx, next) => {
  if (ctx.path !== '/docs/' || !['GET', 'HEAD'].includes(ctx.method)) return next();
  ctx.status = 308;
  ctx.set('Location', '/docs');
  ctx.body = '';
  return undefined;
};

type Document = ReturnType<typeof makeDocument>;
let described: { document: Document; description: Asset } | undefined;
const rendered = new Map<string, Promise<string>>();

/** The document and what is sent of it: it says the same in every door of a process, which makes it once. */
const describeEndpoints = () => {
  if (described) return described;
  const document = makeDocument();
  described = { document, description: toAsset(JSON.stringify(document)) };
  return described;
};

/** The page with an installation's limits, made once for all doors that have the same. */
const renderOnce = (limits: readonly Limit[]): Promise<string> => {
  const what = JSON.stringify(limits);
  const known = rendered.get(what);
  if (known) return known;
  const page = renderPage(describeEndpoints().document, limits, DOCS_STYLE);
  rendered.set(what, page);
  // Whoever asks again has it tried again.
  page.catch(() => rendered.delete(what));
  return page;
};

/**
 * `/v1/openapi.json` and the page that says the same to people. Each is made once, when it is first asked for: most
 * processes never are, and would be ready much later.
 */
export const mountDocs = (router: Router, doorLimits: readonly Limit[]): void => {
  const limits = [...sections.flatMap((section) => section.limits ?? []), ...doorLimits];
  const pages = new Map<string, Asset>();

  const pageFor = async (baseUrl: string): Promise<Asset> => {
    const page = await renderOnce(limits);
    const isKept = pages.has(baseUrl) || pages.size < PAGES_MAX;
    const shownUrl = isKept ? baseUrl : UNKNOWN_BASE_URL;
    const made = pages.get(shownUrl) ?? toAsset(page.replaceAll(BASE_URL, shownUrl));
    pages.set(shownUrl, made);
    return made;
  };

  router.get('/v1/openapi.json', (ctx) => {
    ctx.type = 'application/json; charset=utf-8';
    sendAsset(ctx, describeEndpoints().description);
  });
  router.get('/docs', async (ctx) => {
    ctx.type = 'text/html; charset=utf-8';
    ctx.set('Content-Security-Policy', DOCS_POLICY);
    ctx.set('Referrer-Policy', 'no-referrer');
    sendAsset(ctx, await pageFor(baseUrlOf(ctx)));
  });
};
