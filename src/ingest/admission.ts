import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { storedBytesOf } from './events.ts';
import type { EventRow } from './events.ts';
import type { Flusher, Sender } from './flusher.ts';
import type { Stored } from './store.ts';

type AdmitDeps = Pick<Deps, 'db' | 'keys' | 'log' | 'resources' | 'turns'>;

/** An external or anonymous id that an event names. */
type Identifier = { kind: 'external' | 'anonymous'; value: string };

/** Refuses events that their key may not store. Its answer is called with the bytes that were stored. */
export type Admit = (
  deps: AdmitDeps,
  caller: Caller,
  load: { bytes: number; identifiers: readonly Identifier[] },
) => Promise<(storedBytes: number) => void>;

const identifiersOf = (rows: readonly EventRow[]): Identifier[] =>
  rows.flatMap(({ external_id, anonymous_id }) => [
    ...(external_id === null ? [] : [{ kind: 'external' as const, value: external_id }]),
    ...(anonymous_id === null ? [] : [{ kind: 'anonymous' as const, value: anonymous_id }]),
  ]);

const sumBytes = (rows: readonly EventRow[]): number =>
  rows.reduce((sum, row) => sum + storedBytesOf(row), 0);

const senderOf = ({ kind, keyId }: Caller): Sender =>
  kind === 'publishable' ? { kind, keyId: keyId ?? null } : { kind: 'server', keyId: null };

/** Stores the rows of a request that was admitted. Of a duplicate no bytes are stored. */
export const storeAdmitted = async (
  deps: AdmitDeps,
  caller: Caller,
  rows: EventRow[],
  { flusher, admit }: { flusher: Flusher<EventRow, Stored>; admit: Admit | undefined },
): Promise<Stored[]> => {
  const isAdmitted = caller.kind === 'publishable' && admit !== undefined;
  if (!isAdmitted) return flusher.add(caller.projectId, rows, senderOf(caller));
  const load = { bytes: sumBytes(rows), identifiers: identifiersOf(rows) };
  const settle = await admit(deps, caller, load);
  let storedBytes = 0;
  try {
    const stored = await flusher.add(caller.projectId, rows, senderOf(caller));
    storedBytes = sumBytes(rows.filter((_, at) => stored[at]?.isDuplicate === false));
    return stored;
  } finally {
    settle(storedBytes);
  }
};
