import PostalMime from 'postal-mime';
import type { Header } from 'postal-mime';

/** What a message says; a part that it does not have is null. */
export type ReadMail = {
  subject: string | null;
  message_id: string | null;
  /** By lower-case name, unfolded and otherwise as they came; an array where a header came more than once. */
  headers: Record<string, string | string[]>;
  text: string | null;
  html: string | null;
};

const toHeaders = (list: readonly Header[]): ReadMail['headers'] => {
  const headers = new Map<string, string | string[]>();
  for (const { key, value } of list) {
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(headers);
};

/** Reads a message. One that cannot be read is all nulls: it was caught all the same. */
export const readMail = async (raw: Buffer): Promise<ReadMail> => {
  const mail = await PostalMime.parse(raw).catch(() => null);
  return {
    subject: mail?.subject ?? null,
    message_id: mail?.messageId ?? null,
    headers: toHeaders(mail?.headers ?? []),
    text: mail?.text ?? null,
    html: mail?.html ?? null,
  };
};
