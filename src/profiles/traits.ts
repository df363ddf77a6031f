import { readEmail } from '../base/email_address.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';

export const TRAIT_KEYS_MAX = 256;
export const TRAIT_KEY_CHARS_MAX = 255;
export const TRAITS_BYTES_MAX = 32 * 1024;
/** A trait whose value is a scalar has depth 1. */
export const TRAIT_DEPTH_MAX = 5;

type Problem = { path: string[]; message: string };
type Pending = { value: unknown; path: string[] };

const checkScalar = (value: unknown): string | null => {
  if (typeof value === 'string') {
    return isStorable(value) ? null : NOT_STORABLE;
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return 'integers lie within ±(2^53 − 1): send it as a string';
  }
  return typeof value === 'number' && !Number.isFinite(value) ? 'must be a finite number' : null;
};

const checkKey = (key: string): string | null => {
  if (key.length === 0 || key.length > TRAIT_KEY_CHARS_MAX) {
    return `keys have 1 to ${TRAIT_KEY_CHARS_MAX} characters`;
  }
  return isStorable(key) ? null : 'keys must be well-formed Unicode without U+0000';
};

/** More values than these have no room: each is a character at least, and one stands between two. */
const VALUES_MAX = TRAITS_BYTES_MAX / 2;
const TOO_LARGE: Problem = {
  path: [],
  message: `at most ${TRAITS_BYTES_MAX} bytes of JSON, numbers written out`,
};

/** What a number takes more than its JSON once it is kept: Postgres writes 1e-300 out, with three hundred digits. */
const writtenOut = (number: number): number => {
  const text = String(number);
  const [digits = '', exponent] = text.split('e-');
  if (exponent === undefined) return 0;
  return digits.replace('.', '').length + '.'.length + Number(exponent) - text.length;
};

/**
 * Walked with a list of our own: the stack would overflow on deep input. As far as an answer can tell of it: not past
 * the problems that one lists, nor the values that can be kept.
 */
const checkValues = (traits: object): { problems: Problem[]; bytesMore: number } => {
  const problems: Problem[] = [];
  const pending: Pending[] = [{ value: traits, path: [] }];
  let count = 0;
  let bytesMore = 0;
  for (let next = pending.pop(); next && problems.length < ISSUES_MAX; next = pending.pop()) {
    const { value, path } = next;
    if (typeof value !== 'object' || value === null) {
      const message = checkScalar(value);
      if (message !== null) problems.push({ path, message });
      if (typeof value === 'number') bytesMore += writtenOut(value);
      continue;
    }
    if (path.length >= TRAIT_DEPTH_MAX) {
      problems.push({ path, message: `at most ${TRAIT_DEPTH_MAX} levels deep` });
      continue;
    }
    count += Array.isArray(value) ? value.length : Object.keys(value).length;
    if (count > VALUES_MAX) return { problems: [...problems, TOO_LARGE], bytesMore };
    for (const [key, member] of Object.entries(value)) {
      const message = Array.isArray(value) ? null : checkKey(key);
      if (message !== null) problems.push({ path: [...path, key], message });
      pending.push({ value: member, path: [...path, key] });
    }
  }
  return { problems, bytesMore };
};

const checkEmail = (traits: object): Problem[] => {
  const email = Object.hasOwn(traits, 'email') ? (traits as { email: unknown }).email : null;
  return email === null || readEmail(email) !== null
    ? []
    : [
        {
          path: ['email'],
          message: 'must be one e-mail address, such as ann@example.com, or null',
        },
      ];
};

/** What is wrong with the traits of a request; nothing when they are good. */
export const checkTraits = (value: unknown): Problem[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ path: [], message: 'must be an object' }];
  }
  if (Object.keys(value).length > TRAIT_KEYS_MAX) {
    return [{ path: [], message: `at most ${TRAIT_KEYS_MAX} keys` }];
  }
  const checked = checkValues(value);
  const problems = [...checked.problems, ...checkEmail(value)];
  if (problems.length > 0) return problems;
  const bytes = Buffer.byteLength(JSON.stringify(value)) + checked.bytesMore;
  return bytes > TRAITS_BYTES_MAX ? [TOO_LARGE] : [];
};
