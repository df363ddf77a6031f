import { Refusal } from './refusal.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The value that a body's bytes say, or a refusal. A byte order mark before it is passed over, as
 * RFC 8259 §8.1 allows: some systems cannot help writing one.
 */
export const parseJson = (raw: Uint8Array): unknown => {
  try {
    return JSON.parse(utf8.decode(raw));
  } catch (cause) {
    throw new Refusal('invalid_json', { cause });
  }
};
