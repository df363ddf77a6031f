import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { Liquid } from 'liquidjs';
import MarkdownIt from 'markdown-it';
import { Refusal } from '../base/refusal.ts';
import { sendAsset, toAsset } from './assets.ts';
import type { Asset } from './assets.ts';
import { DOCS_POLICY, DOCS_STYLE } from './docs.ts';

const FOLDER = new URL('../docs/', import.meta.url);

/** A guide: its name in the address, its title, and its text in Markdown. */
export type Guide = { name: string; title: string; text: string };

const toGuide = (file: string): Guide => {
  const text = readFileSync(new URL(file, FOLDER), 'utf8');
  const [, title = ''] = /^# (.+)$/m.exec(text) ?? [];
  return { name: basename(file, '.md').replaceAll('_', '-'), title, text };
};

/** Reads every guide under `src/docs`, in the order of their names. */
export const readGuides = (): Guide[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .map(toGuide);

/** Returns the anchor of a heading: its words in lower case, joined by hyphens. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .replaceAll(/^-|-$/g, '');

const makeMarkdown = () => {
  // Guides are trusted files of this repository. HTML in them stays text, so a guide cannot add a script.
  const markdown = new MarkdownIt({ html: false });
  markdown.core.ruler.push('anchors', ({ tokens }) => {
    for (const [at, token] of tokens.entries())
      if (token.type === 'heading_open')
        token.attrSet('id', anchorOf(tokens[at + 1]?.content ?? ''));
  });
  return markdown;
};

const liquid = new Liquid({
  root: import.meta.dirname,
  extname: '.liquid',
  outputEscape: 'escape',
  strictVariables: true,
  ownPropertyOnly: true,
});

const render = (guide: Guide, guides: readonly Guide[]): Asset =>
  toAsset(
    liquid.renderFileSync('guide', {
      ...guide,
      guides,
      style: DOCS_STYLE,
      html: makeMarkdown().render(guide.text),
    }) as string,
  );

const NO_PAGE = 'There is no such page.';
/** The page in place of one that does not exist. No guide has its name. */
const MISSING = { name: '', title: NO_PAGE, text: `# ${NO_PAGE}\n\nThese are the guides:` };

const listOf = (guides: readonly Guide[]): string =>
  guides.map(({ name }) => `/docs/${name}`).join(', ');

const setPageHeaders = (ctx: Context): void => {
  ctx.type = 'text/html; charset=utf-8';
  ctx.set('Content-Security-Policy', DOCS_POLICY);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('X-Content-Type-Options', 'nosniff');
};

/** Answers 404 with the guides that exist: a page to browsers, the one shape of errors to programs. */
const refuseMissing = (ctx: Context, guides: readonly Guide[], page: () => Asset): void => {
  ctx.vary('Accept');
  if (ctx.accepts('json', 'html') !== 'html')
    throw new Refusal('not_found', {
      detail: `${NO_PAGE} The guides are ${listOf(guides)}, and the API reference is /docs.`,
    });
  ctx.status = 404;
  setPageHeaders(ctx);
  ctx.body = page().plain;
};

/** Serves each guide of `src/docs` as `/docs/<name>`. Renders a page when a client first asks for it. */
export const mountGuides = (router: Router): void => {
  const guides = readGuides();
  const pages = new Map<string, Asset>();
  const pageOf = (guide: Guide): Asset => {
    const page = pages.get(guide.name) ?? render(guide, guides);
    pages.set(guide.name, page);
    return page;
  };
  router.get('/docs/:guide', (ctx) => {
    const guide = guides.find(({ name }) => name === ctx.params['guide']);
    if (!guide) return refuseMissing(ctx, guides, () => pageOf(MISSING));
    setPageHeaders(ctx);
    return sendAsset(ctx, pageOf(guide));
  });
};
