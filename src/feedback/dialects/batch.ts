import { parseJson } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';
import { EVENTS_MAX } from './dialect.ts';
import type { Posted, ReadNotice, ReadResult } from './dialect.ts';
import { readObject } from './reading.ts';
import type { Fields } from './reading.ts';

/**
 * What one event of a body is: feedback events, about no email on purpose, or nothing that can be
 * read.
 */
export type Translated = readonly ReadNotice[] | 'aside' | { missing: string };

type BodyEvents = {
  events: readonly unknown[];
  /** Where the list of them stands. */
  path: string;
  /** Where one of them stands. */
  pathOf: (index: number) => string;
};

/** Returns the events of a body: one object, an array, or an array as `events`. */
export const eventsOf = (body: unknown): BodyEvents => {
  const listed = (events: readonly unknown[], path: string): BodyEvents => ({
    events,
    path,
    pathOf: (index) => `${path}/${index}`,
  });
  if (Array.isArray(body)) return listed(body, '');
  const { events } = readObject(body);
  return Array.isArray(events)
    ? listed(events, '/events')
    : { events: [body], path: '', pathOf: () => '' };
};

type Translate = (fields: Fields, receivedAt: Date) => Translated;

/**
 * Returns a reader that translates each event of a body by itself, so that one that cannot be read
 * loses no other. One that names no email is stored nowhere: it counts as ignored. The reader throws
 * `invalid_request` for more events than `EVENTS_MAX`.
 */
export const readerOf =
  (translate: Translate, parse: (raw: Buffer) => unknown = parseJson) =>
  ({ raw, receivedAt }: Posted): ReadResult =>
    readEach(parse(raw), (fields) => translate(fields, receivedAt));

/** Whether an event says which email it is about. */
const namesEmail = ({ email, sendId, messageIds }: ReadNotice): boolean =>
  email !== null || sendId !== null || messageIds.length > 0;

const readEach = (body: unknown, translate: (fields: Fields) => Translated): ReadResult => {
  const { events, path, pathOf } = eventsOf(body);
  if (events.length > EVENTS_MAX) {
    const message = `at most ${EVENTS_MAX} events`;
    throw new Refusal('invalid_request', { issues: [{ path, message }] });
  }
  const notices: ReadNotice[] = [];
  const errors: ReadResult['errors'] = [];
  let asideCount = 0;
  for (const [index, event] of events.entries()) {
    const read = translate(readObject(event));
    if (read === 'aside') asideCount += 1;
    else if ('missing' in read) errors.push({ index, path: pathOf(index), message: read.missing });
    else {
      const naming = read.filter(namesEmail);
      if (naming.length === 0 && read.length > 0) asideCount += 1;
      notices.push(...naming);
    }
  }
  return { notices, errors, ...(asideCount > 0 ? { asideCount } : {}) };
};
