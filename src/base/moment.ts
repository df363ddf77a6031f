import { z } from 'zod';

/** The first and the last millisecond that RFC 3339 can write and Postgres reads, in UTC. */
export const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
export const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** No timestamp is longer; a text that is longer is not looked through. */
const TIMESTAMP_CHARS_MAX = 100;

/** RFC 3339 §5.6 lets T and Z be written small. */
const inCapitals = (given: unknown): unknown =>
  typeof given === 'string' && given.length <= TIMESTAMP_CHARS_MAX && /[tz]/.test(given)
    ? given.toUpperCase()
    : given;

const WANTED_CHARS = '2026-01-31T12:00:00.000Z'.length;

/** Most clients spell it as we do: making a date of each would be a twentieth of what taking in a batch costs. */
const inOneSpelling = (text: string): string =>
  text.length === WANTED_CHARS && text.endsWith('Z') ? text : new Date(text).toISOString();

/** An RFC 3339 timestamp, in one spelling: UTC, milliseconds. */
export const Timestamp = z
  .preprocess(
    inCapitals,
    z.iso.datetime({
      offset: true,
      error: 'must be an RFC 3339 timestamp with offset, such as 2026-01-31T12:00:00Z',
    }),
  )
  .transform(inOneSpelling);

/** A timestamp that may be asked for: Postgres knows no year 0. */
export const Moment = Timestamp.refine((text) => {
  const moment = Date.parse(text);
  return moment >= FIRST_MS && moment <= LAST_MS;
}, 'must lie in the years 1 to 9999');
