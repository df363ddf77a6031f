import { nonce } from '../../nonce.ts';
import { Frame } from '../frame.tsx';

/** As specific as a style attribute is, next to what a mail's own sheets say. */
const selectorOf = (at: number): string => `[data-inline="${at}"]`.repeat(3);

const TAG = /<[a-z](?:[^>"']|"[^"]*"|'[^']*')*>/gi;
const QUOTED_OR_STYLE = /"[^"]*"|'[^']*'|([\s/])style(?=\s*=)/gi;

/** What does nothing in such a frame, and is complained of. */
const IDLE = 'script, link, base, iframe, object, embed, meta[http-equiv]';

/** Under another name, before anybody parses it: a document of this page may not even read a style attribute. */
const withoutStyles = (html: string): string =>
  html
    .replaceAll(TAG, (tag) =>
      tag.replaceAll(QUOTED_OR_STYLE, (found, before: string | undefined) =>
        before === undefined ? found : `${before}data-css`,
      ),
    )
    .replaceAll(/<style\b/gi, `<style nonce="${nonce}"`);

/**
 * A mail's HTML as a document for a frame. The frame has this page's strict content policy, which allows no style
 * attributes: each becomes a rule of a sheet that the policy's nonce lets in, as it does the mail's own sheets.
 */
export const toFrame = (html: string): string => {
  const page = new DOMParser().parseFromString(withoutStyles(html), 'text/html');
  for (const idle of page.querySelectorAll(IDLE)) idle.remove();
  const rules = [...page.querySelectorAll('[data-css]')].map((element, at) => {
    const rule = `${selectorOf(at)}{${element.getAttribute('data-css') ?? ''}}`;
    element.removeAttribute('data-css');
    element.setAttribute('data-inline', String(at));
    return rule;
  });
  const inline = page.createElement('style');
  inline.setAttribute('nonce', nonce);
  inline.textContent = rules.join('\n');
  page.head.prepend(inline);
  return `<!doctype html>${page.documentElement.outerHTML}`;
};

type Props = { html: string; width: number; title: string };

/** A mail as its reader sees it: a stranger's document, in which nothing runs and from which nothing is loaded. */
export const MailFrame = ({ html, width, title }: Props) => (
  <Frame
    title={title}
    srcDoc={toFrame(html)}
    style={{
      width,
      maxWidth: '100%',
      height: 'max(420px, 60vh)',
      border: '1px solid var(--mantine-color-default-border)',
      borderRadius: 8,
      background: '#fff',
      colorScheme: 'light',
      display: 'block',
      margin: '0 auto',
    }}
  />
);
