import { Parser } from 'htmlparser2';
import { addText, addUrl } from './in_text.ts';
import type { Hosts } from './in_text.ts';

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

const addCss = (hosts: Hosts, written: string): void => {
  const css = unescapeCss(written);
  for (const { 1: url, 2: imported } of css.matchAll(CSS_URL)) addUrl(hosts, url ?? imported ?? '');
};

/** Comments that some email software reads as HTML hold others: so many levels are read. */
const COMMENTS_MAX = 3;

/**
 * Adds the hosts that HTML leads to: in its attributes and styles, in its texts, of which email software makes links,
 * and in comments, which Outlook reads.
 */
export const addHtml = (hosts: Hosts, html: string, levels = COMMENTS_MAX): void => {
  let text = '';
  const endText = () => {
    addText(hosts, text);
    addCss(hosts, text);
    text = '';
  };
  const parser = new Parser(
    {
      onattribute: (name, value) => {
        if (URLS.has(name)) addUrl(hosts, value);
        else if (name === 'srcset') for (const one of value.split(/[\s,]+/)) addUrl(hosts, one);
        if (name === 'style') addCss(hosts, value);
        addText(hosts, value);
      },
      onopentagname: endText,
      onclosetag: endText,
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
