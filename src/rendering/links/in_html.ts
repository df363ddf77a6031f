import { Parser } from 'htmlparser2';
import type { Hosts } from './hosts.ts';
import { addText, addUrl } from './in_text.ts';

/** Attributes that hold a URL, in HTML of any age. */
const URLS = new Set(
  (
    'action archive background cite classid codebase data dynsrc formaction href icon longdesc lowsrc manifest ping ' +
    'poster profile src usemap xlink:href'
  ).split(' '),
);

const CSS_URL = /url\(\s*["']?([^"')]*)|@import\s*["']([^"']*)/gi;
/** A character that CSS writes by its code point, or behind a backslash (CSS Syntax 3, section 4.3.7). */
const CSS_ESCAPE = /\\(?:([\da-f]{1,6})\s?|([^\n]))/gi;
const CODE_POINT_MAX = 0x10_ff_ff;
const unescapeCss = (css: string): string =>
  css.replaceAll(CSS_ESCAPE, (_, code: string | undefined, character: string | undefined) => {
    const point = code === undefined ? null : Number.parseInt(code, 16);
    if (point === null) return character ?? '';
    return point <= CODE_POINT_MAX ? String.fromCodePoint(point) : '';
  });

/** Adds what reads as `url(` or `@import` once all escapes are decoded. */
const addUrlsOf = (hosts: Hosts, written: string): void => {
  hosts.count(written.length);
  const css = unescapeCss(written);
  for (const { 1: url, 2: imported } of css.matchAll(CSS_URL)) addUrl(hosts, url ?? imported ?? '');
};

/**
 * Comments, strings, and what functions begin with (CSS Syntax 3, section 4). An escaped quote or parenthesis ends
 * nothing; what stands in `url(` is no comment.
 */
const CSS_TOKENS = new RegExp(
  [
    String.raw`/\*[\s\S]*?(?:\*/|$)`,
    String.raw`"((?:[^"\\\n\r\f]|\\[\s\S])*)"?`,
    String.raw`'((?:[^'\\\n\r\f]|\\[\s\S])*)'?`,
    String.raw`(?:url|\\[\w\\ -]{0,100})\(\s*((?:[^)\\"'\s]|\\[\s\S])*)`,
    String.raw`(?<=[\w-])\((?=\s*((?:[^()\\"'\s]|\\[\s\S])*))`,
  ].join('|'),
  'gi',
);

/** Adds the hosts of CSS: any function and any string may be a URL, as in `image-set()`. */
const addCss = (hosts: Hosts, css: string): void => {
  addUrlsOf(hosts, css);
  for (const [, ...parts] of css.matchAll(CSS_TOKENS))
    for (const part of parts) if (part) addUrl(hosts, unescapeCss(part).trim());
};

/** Attributes of SVG that are CSS (SVG 2, "Presentation attributes"), as far as they may hold a URL. */
const CSS_ATTRIBUTES = new Set(
  'style fill stroke filter clip-path mask marker marker-start marker-mid marker-end cursor'.split(
    ' ',
  ),
);

/** Comments that some email software reads as HTML hold others: so many levels are read. */
const COMMENTS_MAX = 3;

/**
 * Adds the hosts that HTML leads to: in its attributes and styles, in its texts, of which email software makes links,
 * and in comments, which Outlook reads.
 */
export const addHtml = (hosts: Hosts, html: string, levels = COMMENTS_MAX): void => {
  let text = '';
  let isStyle = false;
  const endText = () => {
    addText(hosts, text);
    (isStyle ? addCss : addUrlsOf)(hosts, text);
    text = '';
  };
  const parser = new Parser(
    {
      onattribute: (name, value) => {
        if (URLS.has(name)) addUrl(hosts, value);
        else if (name === 'srcset') for (const one of value.split(/[\s,]+/)) addUrl(hosts, one);
        if (CSS_ATTRIBUTES.has(name)) addCss(hosts, value);
        addText(hosts, value);
      },
      onopentagname: (name) => {
        endText();
        isStyle = name === 'style';
      },
      onclosetag: () => {
        endText();
        isStyle = false;
      },
      ontext: (data) => {
        text += data;
      },
      oncomment: (data) => {
        if (levels > 0) addHtml(hosts, data, levels - 1);
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  endText();
};
