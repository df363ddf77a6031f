import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { storedBytesOf } from './events.ts';
import type { EventRow } from './events.ts';
import type { Flusher } from './flusher.ts';
import type { Stored } from './store.ts';

type AdmitDeps = Pick<Deps, 'config' | 'db' | 'keys' | 'log' | 'resources' | 'turns'>;

/** The identifiers that one event or one identify names. */
export type IdentifierPair = { externalId: string | null; anonymousId: string | null };

/** The bytes that a request of a publishable key is going to store, and the people that it names. */
export type Load = { bytes: number; pairs: readonly IdentifierPair[] };

/** Refuses what a publishable key may not store. Call its answer with the bytes that were stored. */
export type Admit = (
  deps: AdmitDeps,
  caller: Caller,
  load: Load,
) => Promise<(storedBytes: number) => void>;

const toPair = ({ external_id, anonymous_id }: EventRow): IdentifierPair => ({
  externalId: external_id,
  anonymousId: anonymous_id,
});

const sumBytes = (rows: readonly EventRow[]): number =>
  rows.reduce((sum, row) => sum + storedBytesOf(row), 0);

/**
 * Stores the rows of a request that its key may store. A duplicate counts no bytes. Throws where the key is publishable
 * and no `admit` is given: a public key must never write without a quota.
 */
export const storeAdmitted = async (
  deps: AdmitDeps,
  caller: Caller,
  rows: EventRow[],
  { flusher, admit }: { flusher: Flusher<EventRow, Stored>; admit: Admit | undefined },
): Promise<Stored[]> => {
  if (caller.kind !== 'publishable') return flusher.add(caller.projectId, rows);
  if (admit === undefined) throw new Error('Events of a publishable key need `admit`.');
  const settle = await admit(deps, caller, { bytes: sumBytes(rows), pairs: rows.map(toPair) });
  let storedBytes = 0;
  try {
    const stored = await flusher.add(caller.projectId, rows, 'publishable');
    storedBytes = sumBytes(rows.filter((_, at) => stored[at]?.isDuplicate === false));
    return stored;
  } finally {
    settle(storedBytes);
  }
};
