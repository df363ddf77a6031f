import { z } from 'zod';
import { sql } from './db.ts';
import type { Db } from './db.ts';
import type { Keys } from './keys.ts';

// Rate limits that all processes share, in Postgres. For what is rare and where an attacker gains by counting one
// process after the other: passwords, test emails. Requests of the public API are counted in memory.

/** So many charges of one key within a window, which begins with the first charge. */
export type RateLimit = { name: string; max: number; windowSeconds: number };

/** Returns what makes limits that share the length of a window. */
export const limitsWithin =
  (windowSeconds: number) =>
  (name: string, max: number): RateLimit => ({ name, max, windowSeconds });

/** One limit, and the key that the charge is counted under: at most 64 characters. */
export type Charge = { limit: RateLimit; key: string };

export type Exceeded = { limit: RateLimit; retryAfterSeconds: number };

/** What was charged, and the end of each window that was charged: a charge goes back to its own window alone. */
export type Receipt = { charges: readonly Charge[]; cost: number; windowEnds: readonly string[] };

/** The first limit without room, or the receipt of a charge. */
export type Consumption = { exceeded: Exceeded } | { exceeded: null; receipt: Receipt };

type Connection = Pick<Db, 'one' | 'query'>;

/** Keys that strangers choose share this many counters, so that they cannot fill a disk. */
const SLOTS_MAX = 262_144;

/** Returns a key for a text that strangers choose. Only the owner of MASTER_KEY can find two texts of one slot. */
export const slotOf = (keys: Keys, text: string): string =>
  `slot ${keys.hash('rate-limit', text).readUInt32BE() % SLOTS_MAX}`;

const Consumed = z.strictObject({
  exceeded: z.string().nullable(),
  retry_after_seconds: z.int().nullable(),
  window_ends: z.array(z.string()).nullable(),
});

const namesOf = (charges: readonly Charge[]) =>
  sql.array(
    charges.map(({ limit }) => limit.name),
    'text',
  );
const keysOf = (charges: readonly Charge[]) =>
  sql.array(
    charges.map(({ key }) => key),
    'text',
  );

/**
 * Charges all limits, whose windows have one length, or none of them. Returns the first that has no room, or a receipt.
 * Inside a transaction it is the last statement: the counters stay locked until the transaction ends.
 */
export const consume = async (
  db: Connection,
  charges: readonly Charge[],
  cost = 1,
): Promise<Consumption> => {
  const [first] = charges;
  if (!first) return { exceeded: null, receipt: { charges, cost, windowEnds: [] } };
  const maxima = sql.array(
    charges.map(({ limit }) => limit.max),
    'int4',
  );
  const { exceeded, retry_after_seconds, window_ends } = await db.one(sql.type(Consumed)`
    select exceeded, retry_after_seconds, window_ends
    from base.consume_rate_limits(
      names => ${namesOf(charges)}, keys => ${keysOf(charges)}, maxima => ${maxima},
      cost => ${cost}, window_seconds => ${first.limit.windowSeconds}
    )
  `);
  const limit = charges.find(({ limit: { name } }) => name === exceeded)?.limit;
  return limit
    ? { exceeded: { limit, retryAfterSeconds: retry_after_seconds ?? 1 } }
    : { exceeded: null, receipt: { charges, cost, windowEnds: window_ends ?? [] } };
};

/** Returns a charge, as of an attempt that succeeded. A window that is over by then gets nothing. */
export const restore = async (
  db: Connection,
  { charges, cost, windowEnds }: Receipt,
): Promise<void> => {
  await db.query(sql.unsafe`
    select base.restore_rate_limits(
      names => ${namesOf(charges)}, keys => ${keysOf(charges)},
      window_ends => ${sql.array([...windowEnds], 'timestamptz')}, cost => ${cost}
    )
  `);
};

const SECONDS_PER_MINUTE = 60;

/** Returns a wait in words: seconds up to two minutes, whole minutes above. */
export const describeWait = (seconds: number): string =>
  seconds <= 2 * SECONDS_PER_MINUTE
    ? `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
    : `${Math.ceil(seconds / SECONDS_PER_MINUTE)} minutes`;
