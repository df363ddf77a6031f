import type { Issue } from '../base/refusal.ts';
import { ISSUES_MAX, pointer } from '../base/parse.ts';
import {
  PROPERTY_KEY_CHARS_MAX,
  PROPERTY_KEYS_MAX,
  PROPERTY_STRING_BYTES_MAX,
} from '../ingest/ingest.ts';

/** How deep objects are taken apart; what lies deeper is kept as JSON text. */
const LEVELS_MAX = 5;
/** Of what is kept as text. Deeper, and it is left out: writing it would overflow the stack. */
const TEXT_LEVELS_MAX = 50;

type Pending = { value: object; key: string; path: string[] };
type Flat = { [key: string]: string | number | boolean };
/** Properties as an event of ours takes them, and what of them it does not. */
export type Flattened = { properties: Flat; leftOut: Issue[] };

const TOO_LONG = `left out: keys have 1 to ${PROPERTY_KEY_CHARS_MAX} characters`;
const TOO_MANY = `left out: an event has at most ${PROPERTY_KEYS_MAX} properties`;

/** More values have no room in a text: each is a character at least, and one stands between two. */
const TEXT_VALUES_MAX = PROPERTY_STRING_BYTES_MAX / 2;

const lengthOf = (value: object): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length;

/** Whether an object has room in a text. Walked with a list of our own: the stack would overflow on deep input. */
const mayBeText = (value: object): boolean => {
  let level: object[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > TEXT_LEVELS_MAX) return false;
    const next: object[] = [];
    for (const one of level) {
      count += lengthOf(one);
      if (count > TEXT_VALUES_MAX) return false;
      for (const member of Object.values(one) as unknown[])
        if (typeof member === 'object' && member !== null) next.push(member);
    }
    level = next;
  }
  return true;
};

/** What one value becomes where it is not taken apart: itself, or its JSON; null for what is left out. */
const toValue = (value: unknown): Flat[string] | null => {
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'object' || value === null) return value as Flat[string] | null;
  return mayBeText(value) ? JSON.stringify(value) : null;
};

/**
 * Properties without nesting: a member of an object in an object is `outer_inner`, a list is its JSON as text, null is
 * left out. Where two would have one name, the one that is nested less has it; of more than 64 the first are kept,
 * those that are nested least. Once there are so many, and as many left out as an answer lists, no more are looked at.
 */
export const flatten = (given: object, at: string[]): Flattened => {
  const flat = new Map<string, Flat[string]>();
  const leftOut: Issue[] = [];
  const leave = (path: string[], message: string): void => {
    if (leftOut.length < ISSUES_MAX) leftOut.push({ path: pointer(path), message });
  };
  let pending: Pending[] = [{ value: given, key: '', path: at }];
  for (let level = 1; pending.length > 0; level += 1) {
    const next: Pending[] = [];
    for (const { value: outer, key: prefix, path: outerPath } of pending)
      for (const name of Object.keys(outer)) {
        if (flat.size >= PROPERTY_KEYS_MAX && leftOut.length >= ISSUES_MAX)
          return { properties: Object.fromEntries(flat), leftOut };
        const value = (outer as Record<string, unknown>)[name];
        const [key, path] = [prefix === '' ? name : `${prefix}_${name}`, [...outerPath, name]];
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        if (value === null || value === undefined) continue;
        // A name that is too long is not put before others: each of them would be as long.
        if (key.length > PROPERTY_KEY_CHARS_MAX) {
          leave(path, TOO_LONG);
          continue;
        }
        if (isObject && level < LEVELS_MAX) {
          next.push({ value: value as object, key, path });
          continue;
        }
        const kept = toValue(value);
        if (kept === null) leave(path, 'left out: it cannot be kept as text');
        else if (flat.has(key)) leave(path, `left out: there is another \`${key}\``);
        else if (flat.size >= PROPERTY_KEYS_MAX) leave(path, TOO_MANY);
        else flat.set(key, kept);
      }
    pending = next;
  }
  return { properties: Object.fromEntries(flat), leftOut };
};
