import { ISSUES_MAX } from './parse.ts';
import { Refusal } from './refusal.ts';

/** What of a list cannot be read: a line of a CSV, or a place in JSON. */
type Unread = { line?: number | undefined; path?: string | undefined; message: string };

/** Refuses a list of which nothing can be taken, and says of each part of it why. */
export const refuseList = (unread: readonly Unread[]): never => {
  const issues = unread.slice(0, ISSUES_MAX).map(({ line, path = '/csv', message }) => ({
    path,
    message: line === undefined ? message : `line ${line}: ${message}`,
  }));
  throw new Refusal('invalid_request', {
    issues: issues.length > 0 ? issues : [{ path: '/csv', message: 'names nobody' }],
    detail: 'Nothing of the list can be read, so nothing was imported. See issues.',
  });
};
