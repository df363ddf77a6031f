import type { z } from 'zod';
import { Refusal } from './refusal.ts';
import type { Issue } from './refusal.ts';

/** How many problems one answer lists; the rest is cut so that an answer stays small. */
export const ISSUES_MAX = 100;

/** Well-formed, whatever a member was called: not every client can read an answer that is not. */
const escape = (part: PropertyKey): string =>
  String(part).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');

/** The path as a JSON Pointer (RFC 6901); the whole document is the empty string. */
export const pointer = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${escape(part)}`).join('');

const describe = (issue: z.core.$ZodIssue): Issue[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => ({
        path: pointer([...issue.path, key]),
        message: 'unknown member: check the spelling, or remove it',
      }))
    : [{ path: pointer(issue.path), message: issue.message }];

/** What is wrong, as many as one answer lists. */
export const toIssues = (error: z.ZodError): Issue[] =>
  error.issues.flatMap(describe).slice(0, ISSUES_MAX);

/** Parses what came from outside, or refuses with every problem at once. */
export const parse = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Refusal('invalid_request', { issues: toIssues(result.error) });
};
