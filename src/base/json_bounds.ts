import { endOfText, isBlank } from './repeated_keys.ts';

/** How deep objects and arrays may lie in each other; what is taken of a caller is far flatter. */
export const JSON_LEVELS_MAX = 64;
/** How many members of objects and items of arrays a body has at most: a small text may hold very many of them. */
export const JSON_VALUES_MAX = 50_000;

const [QUOTE, COMMA, BRACE_BIT] = [0x22, 0x2c, 0x20];
/** `[` and `]` with that bit are `{` and `}`. */
const [OPENED, CLOSED] = [0x7b, 0x7d];

const isClosed = (json: string, after: number): boolean => {
  let at = after + 1;
  while (isBlank(json.charCodeAt(at))) at += 1;
  return (json.charCodeAt(at) | BRACE_BIT) === CLOSED;
};

/**
 * What of a JSON text is more than anybody needs, or null. Looked at once, before it is read: what reads and checks
 * it takes microseconds for each value, and everybody else waits. Of a text that is no JSON it says nothing that
 * counts.
 */
export const findExcess = (json: string): string | null => {
  let [levels, values] = [0, 0];
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfText(json, at);
      if (at < 0) return null;
    } else if (char === COMMA) values += 1;
    else if ((char | BRACE_BIT) === OPENED) {
      levels += 1;
      if (!isClosed(json, at)) values += 1;
    } else if ((char | BRACE_BIT) === CLOSED) levels -= 1;
    if (levels > JSON_LEVELS_MAX) return `at most ${JSON_LEVELS_MAX} levels deep`;
    if (values > JSON_VALUES_MAX) return `at most ${JSON_VALUES_MAX} members and items in all`;
  }
  return null;
};
