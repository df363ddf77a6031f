import type { Rendered } from './render.ts';

const FOOTER_STYLE =
  'margin:32px auto 0;padding:16px 24px;max-width:600px;text-align:center;' +
  'font:12px/1.6 system-ui,-apple-system,sans-serif;color:#71717a';

const footerOf = (url: string): string =>
  `<div style="${FOOTER_STYLE}"><a href="${url}" style="color:#71717a;text-decoration:underline">Unsubscribe</a></div>`;

/** Before the end of the body, or of the whole where no end is written. */
const append = (html: string, footer: string): string => {
  const end = html.toLowerCase().lastIndexOf('</body');
  return end < 0 ? `${html}\n${footer}` : `${html.slice(0, end)}${footer}\n${html.slice(end)}`;
};

/**
 * A message that says how to leave: one that shows the link itself stays as it is, another gets a small
 * footer. The link is of characters that HTML does not escape, so it is found as it was given.
 */
export const withUnsubscribe = (message: Rendered, url: string): Rendered => ({
  subject: message.subject,
  html: message.html.includes(url) ? message.html : append(message.html, footerOf(url)),
  text: message.text.includes(url) ? message.text : `${message.text}\n\n--\nUnsubscribe: ${url}\n`,
});
