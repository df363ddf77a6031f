import { nonce } from '../../nonce.ts';

/** As specific as a style attribute is, next to what a mail's own sheets say. */
const selectorOf = (at: number): string => `[data-inline="${at}"]`.repeat(3);

/**
 * A mail's HTML as a document for a frame. The frame has this page's strict content policy, which allows no style
 * attributes: each becomes a rule of a sheet that the policy's nonce lets in, as it does the mail's own sheets.
 */
export const toFrame = (html: string): string => {
  const page = new DOMParser().parseFromString(html, 'text/html');
  const rules: string[] = [];
  for (const element of page.querySelectorAll('[style]')) {
    const at = String(rules.length);
    rules.push(`${selectorOf(rules.length)}{${element.getAttribute('style') ?? ''}}`);
    element.removeAttribute('style');
    element.setAttribute('data-inline', at);
  }
  for (const sheet of page.querySelectorAll('style')) sheet.setAttribute('nonce', nonce);
  const inline = page.createElement('style');
  inline.setAttribute('nonce', nonce);
  inline.textContent = rules.join('\n');
  page.head.prepend(inline);
  return `<!doctype html>${page.documentElement.outerHTML}`;
};

type Props = { html: string; width: number; title: string };

/** A mail as its reader sees it: a stranger's document, in which nothing runs and from which nothing is loaded. */
export const MailFrame = ({ html, width, title }: Props) => (
  <iframe
    title={title}
    sandbox=""
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
