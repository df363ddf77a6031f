import { compile } from 'html-to-text';
import type { DomNode, FormatCallback } from 'html-to-text';

/** What the library's nodes have, and its types do not say. */
type Node = DomNode & { next?: Node | null };

/** A cell that has one of these in it is of several lines. */
const LINES = new Set(
  (
    'article aside blockquote br div footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table td th ' +
    'ul'
  ).split(' '),
);

const isAny = (node: DomNode, is: (node: DomNode) => boolean): boolean =>
  is(node) || (node.children ?? []).some((child) => isAny(child, is));

const isCell = ({ name }: DomNode): boolean => name === 'td' || name === 'th';
const isOfSeveralLines = ({ children }: DomNode): boolean =>
  children.some((child) => isAny(child, ({ name }) => LINES.has(name ?? '')));
const saysSomething = (node: DomNode): boolean =>
  isAny(node, ({ type, data, name }) => name === 'img' || (type === 'text' && data?.trim() !== ''));

/** As the library has it, with a blank before and after it where there is none. */
const apart =
  (format: string): FormatCallback =>
  (elem, walk, builder, options) => {
    builder.addInline(' ');
    builder.options.formatters?.[format]?.(elem, walk, builder, options);
    builder.addInline(' ');
  };

/**
 * A row is a line in which cells are three blanks apart, so that `2` beside `350` is not `2 350`. Tables are the layout
 * of mails, too: a cell of several lines has them to itself.
 */
const row: FormatCallback = (elem, walk, builder) => {
  let isBeside = false;
  builder.openBlock({ leadingLineBreaks: 1 });
  for (const child of elem.children) {
    if (isCell(child) && isOfSeveralLines(child)) {
      builder.openBlock({ leadingLineBreaks: 1 });
      walk([child], builder);
      builder.closeBlock({ trailingLineBreaks: 1 });
      isBeside = false;
    } else if (saysSomething(child)) {
      if (isBeside) builder.addLiteral(' ');
      walk([child], builder);
      isBeside = true;
    } else walk([child], builder);
  }
  builder.closeBlock({ trailingLineBreaks: 1 });
};

/** The text that a reader sees right after a node. */
const textAfter = (node: Node): string => {
  let at: Node | undefined = node;
  while (at && !at.next) at = at.parent;
  let after: DomNode | null | undefined = at?.next;
  while (after?.children?.[0]) [after] = after.children;
  return after?.data ?? '';
};

const ENDS_WORD = /^[\s.,;:!?…)\]}»”’"']/;

/** The address of a link is not part of the word after it. */
const link: FormatCallback = (elem, walk, builder, options) => {
  builder.options.formatters?.['anchor']?.(elem, walk, builder, options);
  const { href = '' } = (elem.attribs ?? {}) as { href?: string };
  const hasAddress = href !== '' && !href.startsWith('#');
  if (hasAddress && !ENDS_WORD.test(textAfter(elem))) builder.addInline(' ');
};

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

const convert = compile({
  formatters: { row, link, cell: apart('inline'), picture: apart('image') },
  selectors: [
    // Headings keep the letters that they have.
    ...HEADINGS.map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'tr', format: 'row' },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    { selector: 'a', format: 'link' },
    { selector: 'img', format: 'picture' },
  ],
});

/** What a mail says to whoever reads no HTML. */
export const toTextPart = (html: string): string =>
  convert(html)
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
