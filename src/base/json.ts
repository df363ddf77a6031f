import { countValues } from './bodies/bodies.ts';
import { pointer } from './parse.ts';
import { Refusal } from './refusal.ts';
import { findRepeatedKey } from './repeated_keys.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Is called with the number of values that a body holds, before they are parsed. It may refuse the body. */
type OnCounted = (values: number) => void;

const NOT_COUNTED: OnCounted = () => {};

/**
 * The value that a body's bytes say, or a refusal. A byte order mark before it is passed over, as
 * RFC 8259 §8.1 allows: some systems cannot help writing one.
 */
export const parseJson = (raw: Uint8Array): unknown => read(raw, NOT_COUNTED).value;

const asJson = <T>(parse: () => T): T => {
  try {
    return parse();
  } catch (cause) {
    throw new Refusal('invalid_json', { cause });
  }
};

const read = (raw: Uint8Array, onCounted: OnCounted): { text: string; value: unknown } => {
  const text = asJson(() => utf8.decode(raw));
  onCounted(countValues(text));
  return { text, value: asJson(() => JSON.parse(text) as unknown) };
};

/** The same, but no object may have two members of one name: one of them would be lost without a word. */
export const parseStrictJson = (raw: Uint8Array, onCounted = NOT_COUNTED): unknown => {
  const { text, value } = read(raw, onCounted);
  const repeated = findRepeatedKey(text, value);
  if (repeated === null) return value;
  const issues = [{ path: pointer(repeated), message: 'given more than once' }];
  throw new Refusal('invalid_request', { issues });
};
