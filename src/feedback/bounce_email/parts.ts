import PostalMime from 'postal-mime';
import { boundEmail } from './bound_email.ts';
import { DEPTH_MAX, HEADER_BYTES_MAX } from './limits.ts';

/** One part of an email that is no text to read: its type in lower case, and its content. */
export type Part = { type: string; content: string };

/** An email as far as reports need it. */
export type Parts = {
  /** Header fields by name in lower case, in their order. */
  headers: ReadonlyMap<string, readonly string[]>;
  text: string;
  parts: readonly Part[];
};

/** Returns the first value of a header; empty without one. */
export const headerOf = ({ headers }: Pick<Parts, 'headers'>, name: string): string =>
  headers.get(name)?.[0] ?? '';

const TAG = /<[^<>]{0,2000}>/g;

/** Returns the header fields, the text and the other parts of an email; null for one that cannot be parsed. */
export const readParts = async (raw: Buffer): Promise<Parts | null> => {
  try {
    const email = await PostalMime.parse(boundEmail(raw), {
      attachmentEncoding: 'utf8',
      // The email that a report returns is no part of the report.
      forceRfc822Attachments: true,
      maxNestingDepth: DEPTH_MAX,
      maxHeadersSize: HEADER_BYTES_MAX,
    });
    const headers = new Map<string, string[]>();
    for (const { key, value } of email.headers)
      headers.set(key, [...(headers.get(key) ?? []), value]);
    // Decoded (RFC 2047), unlike the others.
    if (email.subject !== undefined) headers.set('subject', [email.subject]);
    return {
      headers,
      text: email.text ?? email.html?.replaceAll(TAG, ' ') ?? '',
      parts: email.attachments.map(({ mimeType, content }) => ({
        type: mimeType,
        content: typeof content === 'string' ? content : '',
      })),
    };
  } catch {
    return null;
  }
};
