import { pointer } from './parse.ts';
import { Refusal } from './refusal.ts';
import { findRepeatedKey } from './repeated_keys.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The value that a body's bytes say, or a refusal. A byte order mark before it is passed over, as
 * RFC 8259 §8.1 allows: some systems cannot help writing one.
 */
export const parseJson = (raw: Uint8Array): unknown => read(raw).value;

const read = (raw: Uint8Array): { text: string; value: unknown } => {
  try {
    const text = utf8.decode(raw);
    return { text, value: JSON.parse(text) };
  } catch (cause) {
    throw new Refusal('invalid_json', { cause });
  }
};

/** The same, but no object may have two members of one name: one of them would be lost without a word. */
export const parseStrictJson = (raw: Uint8Array): unknown => {
  const { text, value } = read(raw);
  const repeated = findRepeatedKey(text, value);
  if (repeated === null) return value;
  const issues = [{ path: pointer(repeated), message: 'given more than once' }];
  throw new Refusal('invalid_request', { issues });
};
