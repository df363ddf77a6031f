import { z } from 'zod';
import type { RenderedDraft } from './render.ts';

/** What may be wrong with a mail that can be sent all the same. */
export const WARNINGS = [
  'missing_variable',
  'unlikely_variable',
  'whole_object',
  'asserted_link',
  'no_unsubscribe_link',
  'clipped_by_gmail',
  'no_text_part',
] as const;
export const Warning = z.strictObject({
  warning: z.enum(WARNINGS),
  message: z.string(),
});
export type Warning = z.output<typeof Warning>;

/** Gmail shows so much of a mail and hides the rest behind a link. */
export const GMAIL_BYTES_MAX = 102 * 1024;

export const bytesOf = (text: string): number => Buffer.byteLength(text);

/** What to know of a mail as it was rendered. */
export const listWarnings = (
  { html, text, hasText }: Pick<RenderedDraft, 'html' | 'text' | 'hasText'>,
  url: string,
): Warning[] => {
  const warnings: Warning[] = [];
  const warn = (warning: Warning['warning'], message: string) =>
    warnings.push({ warning, message });
  if (!html.includes(url))
    warn(
      'no_unsubscribe_link',
      'The body has no {{ unsubscribe_url }}: marketing mail gets a small footer with the link.',
    );
  if (bytesOf(html) > GMAIL_BYTES_MAX)
    warn(
      'clipped_by_gmail',
      `The HTML has ${bytesOf(html)} bytes. Gmail hides what is past ${GMAIL_BYTES_MAX}: make it shorter.`,
    );
  if (!hasText && text.trim() === '')
    warn('no_text_part', 'Nothing is left of the HTML as plain text: give the template a text.');
  else if (!hasText)
    warn('no_text_part', 'There is no text of its own: the text part is derived from the HTML.');
  return warnings;
};
