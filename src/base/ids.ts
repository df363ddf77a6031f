import { v7 } from 'uuid';
import { takeRandom } from './random.ts';

const RANDOM_BYTES = 16;
let last = { msecs: 0, seq: 0 };

/**
 * A new id: UUID version 7 (RFC 9562), so that ids sort by the time they were made. Those of one
 * millisecond count up from a random start (method 1 of its section 6.2).
 */
export const newId = (): string => {
  const random = takeRandom(RANDOM_BYTES);
  const now = Date.now();
  last =
    now > last.msecs
      ? { msecs: now, seq: random.readUInt32BE() >>> 1 }
      : { msecs: last.msecs, seq: last.seq + 1 };
  return v7({ random, ...last });
};

/** Before every id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** After every id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The least id that can have been made at a moment: finds rows by time through the index on their ids. */
export const firstIdAt = (at: Date): string => {
  const hex = at.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

const TIME_HEX = 12;

/** When an id was made, to the millisecond. */
export const timeOfId = (id: string): Date =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, TIME_HEX), 16));
