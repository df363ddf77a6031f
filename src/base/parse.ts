import { z } from 'zod';
import { Refusal } from './refusal.ts';
import type { Issue } from './refusal.ts';
import { isStorable, NOT_STORABLE } from './text.ts';

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  null: 'null',
};
const UNITS: Record<string, string> = {
  string: ' characters',
  array: ' items',
  record: ' members',
};

const listed = (values: readonly unknown[]): string => values.map(String).join(', ');

type Raw = z.core.$ZodRawIssue;

const MISSING = 'is required';
const NONE = 'is none of the values that may stand here';

/** What a value has to be, for every rule whose schema does not say it itself. */
const sayRule = (issue: Raw): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? MISSING
        : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${listed(issue.values)}`
        : `must be one of ${listed(issue.values)}`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
    case 'too_big':
      return `at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'invalid_format':
      return issue.format === 'uuid'
        ? 'must be a UUID, such as 019a9f0c-6c00-7cc3-98c4-dc0c0c07398f'
        : `is not well-formed (${issue.format})`;
    case 'unrecognized_keys':
      return 'unknown member: check the spelling, or remove it';
    case 'invalid_union': {
      const { options } = issue as { options?: unknown };
      return Array.isArray(options) ? `must be one of ${listed(options)}` : NONE;
    }
    default:
      return NONE;
  }
};

// Once for the whole process: whatever refuses, people read it.
z.config({ customError: sayRule });

/** How many problems one answer lists; the rest is cut so that an answer stays small. */
export const ISSUES_MAX = 100;

/** How much of the name of a member an issue tells: an answer has up to ISSUES_MAX paths, and each up to six names. */
export const POINTER_NAME_CHARS_MAX = 255;

const cut = (name: string): string =>
  name.length > POINTER_NAME_CHARS_MAX ? `${name.slice(0, POINTER_NAME_CHARS_MAX)}…` : name;

/** Well-formed, whatever a member was called: not every client can read an answer that is not. */
const escape = (part: PropertyKey): string =>
  cut(String(part)).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');

/** The path as a JSON Pointer (RFC 6901); the whole document is the empty string. A very long name is cut. */
export const pointer = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${escape(part)}`).join('');

type Found = z.core.$ZodIssue;

const isAbout = (issue: Found): boolean =>
  issue.path.length > 0 || issue.code === 'unrecognized_keys';

/**
 * What is wrong with something that may be one of several things: of whichever it comes closest to, or else of each
 * that is at least of its type.
 */
const describeUnion = (issue: z.core.$ZodIssueInvalidUnion, above: PropertyKey[]): Issue[] => {
  const path = [...above, ...issue.path];
  const [closest] = issue.errors
    .filter((alternative) => alternative.every(isAbout))
    .toSorted((a, b) => a.length - b.length);
  if (closest) return closest.flatMap((one) => describe(one, path));
  const own = issue.errors.flat().filter((one) => one.path.length === 0);
  if (own.some(({ message }) => message === MISSING))
    return [{ path: pointer(path), message: MISSING }];
  const ofType = own.filter(({ code }) => code !== 'invalid_type');
  const messages = new Set((ofType.length > 0 ? ofType : own).map(({ message }) => message));
  const message = messages.size > 0 ? [...messages].join(', or ') : issue.message;
  return [{ path: pointer(path), message }];
};

const describe = (issue: Found, above: PropertyKey[] = []): Issue[] => {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union' && issue.message === NONE) return describeUnion(issue, above);
  return issue.code === 'unrecognized_keys'
    ? issue.keys
        .slice(0, ISSUES_MAX)
        .map((key) => ({ path: pointer([...path, key]), message: issue.message }))
    : [{ path: pointer(path), message: issue.message }];
};

/** What is wrong, as many as one answer lists. Each issue says something: no more of them are looked at. */
export const toIssues = (error: z.ZodError): Issue[] =>
  error.issues
    .slice(0, ISSUES_MAX)
    .flatMap((issue) => describe(issue))
    .slice(0, ISSUES_MAX);

/** A value inside another, and the path to it from the outside. */
type Place = { value: unknown; name: string; outer: Place | null };

/** How many names of the path to a fault an issue shows, from the outside. */
export const POINTER_NAMES_MAX = 20;

const pointerTo = (place: Place): string => {
  const names: string[] = [];
  for (let at = place; at.outer !== null; at = at.outer) names.push(at.name);
  return pointer(names.reverse().slice(0, POINTER_NAMES_MAX));
};

/**
 * Lists the texts of a JSON value that Postgres cannot store, as many as one answer lists. Walks without recursion and
 * stops at the bound: strangers choose the value.
 */
export const listUnstorable = (value: unknown): Issue[] => {
  const issues: Issue[] = [];
  const places: Place[] = [{ value, name: '', outer: null }];
  for (let place = places.pop(); place && issues.length < ISSUES_MAX; place = places.pop()) {
    const { value: one, name } = place;
    if (!isStorable(name) || (typeof one === 'string' && !isStorable(one)))
      issues.push({ path: pointerTo(place), message: NOT_STORABLE });
    if (typeof one !== 'object' || one === null) continue;
    for (const [inner, member] of Object.entries(one))
      places.push({ value: member, name: inner, outer: place });
  }
  return issues;
};

/** Parses what came from outside, or refuses with every problem at once. */
export const parse = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Refusal('invalid_request', { issues: toIssues(result.error) });
};
