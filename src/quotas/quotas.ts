import type { Caller } from '../base/caller.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { IdentifierPair, Load } from '../ingest/ingest.ts';
import { addressSharesOf, senderOf } from './address_shares.ts';
import type { Sender } from './address_shares.ts';
import { admitPeople } from './admit_people.ts';
import type { Asked } from './admit_people.ts';
import { keyExceeded } from './exceeded.ts';
import type { Identifier } from './identifiers.ts';
import type { KeyUse } from './key_use.ts';
import { meterOf } from './meter.ts';
import type { QuotaDeps } from './meter.ts';
import { countUse, listBrought, pruneOldUse, readUse } from './queries.ts';
import { USE_KEPT_DAYS } from './schema.ts';

export { quotaLimits, STORED_BYTES_PER_DAY, NEW_PROFILES_PER_DAY } from './schema.ts';

/** Ends a request that was admitted, with the bytes that it stored. */
export type Settle = (storedBytes: number) => void;

const NOTHING_TO_SETTLE = (): void => {};

/** Charges the quota of the key and the share of the address, or refuses the request. */
const reserveBytes = (
  deps: QuotaDeps,
  use: KeyUse,
  sender: Sender | null,
  bytes: number,
): Settle => {
  const settle = use.reserveBytes(bytes);
  const quota = use.quotas.storedBytes;
  if (quota === null || sender === null) return settle;
  const shares = addressSharesOf(deps);
  const refund = shares.takeBytes(sender, bytes, quota);
  if (refund === null) {
    settle(0);
    throw shares.exceeded('stored_bytes', sender, quota);
  }
  return (storedBytes) => {
    settle(storedBytes);
    refund(bytes - storedBytes);
  };
};

type Admitted = { use: KeyUse; settleBytes: Settle; settleProfiles: (newProfiles: number) => void };

const admitAll = async (
  deps: QuotaDeps,
  { projectId, keyId, address }: { projectId: string; keyId: string; address?: string | undefined },
  load: Load & Pick<Asked, 'isCountedAtOnce'>,
): Promise<Admitted> => {
  const use = await meterOf(deps).useOf(deps, projectId, keyId);
  const sender = senderOf(deps, keyId, address);
  const settleBytes = reserveBytes(deps, use, sender, load.bytes);
  try {
    const { pairs, isCountedAtOnce } = load;
    const settleProfiles = await admitPeople(deps, { use, pairs, sender, isCountedAtOnce });
    return { use, settleBytes, settleProfiles };
  } catch (error) {
    settleBytes(0);
    throw error;
  }
};

/**
 * Admits a request of a publishable key, or refuses it with `quota_exceeded`. Call the answer with the bytes that were
 * stored, 0 where it failed. A worker counts the profiles of its people.
 */
export const admit = async (deps: QuotaDeps, caller: Caller, load: Load): Promise<Settle> => {
  const { kind, keyId, projectId, address } = caller;
  if (kind !== 'publishable' || keyId === undefined) return NOTHING_TO_SETTLE;
  const of = { projectId, keyId, address };
  const { settleBytes } = await admitAll(deps, of, { ...load, isCountedAtOnce: false });
  return settleBytes;
};

/** The profiles that an identify made, and those that it would have made if its unproven people did not exist. */
export type Made = { newProfiles: number; newProfilesMax: number };

/** An identify that was admitted. */
export type Identifying = {
  /** Counts its profiles in its transaction, or refuses it. Call it last, since it locks the key's counter. */
  count: (scope: Scope, made: Made) => Promise<void>;
  /** Ends it, with what its transaction stored. */
  settle: (storedBytes: number, newProfiles: number) => void;
};

const UNCOUNTED: Identifying = { count: () => Promise.resolve(), settle: NOTHING_TO_SETTLE };

/** Admits an identify of a publishable key, or refuses it with `quota_exceeded`. Its own transaction counts exactly. */
export const admitIdentify = async (
  deps: QuotaDeps,
  { kind, keyId, projectId, address }: Caller,
  { bytes, pair }: { bytes: number; pair: IdentifierPair },
): Promise<Identifying> => {
  if (kind !== 'publishable' || keyId === undefined) return UNCOUNTED;
  const load = { bytes, pairs: [pair], isCountedAtOnce: true };
  const { use, settleBytes, settleProfiles } = await admitAll(
    deps,
    { projectId, keyId, address },
    load,
  );
  let isLast = false;
  return {
    count: async (scope, made) => {
      isLast = await countExactly(scope, use, made);
    },
    settle: (storedBytes, newProfiles) => {
      settleBytes(storedBytes);
      settleProfiles(newProfiles);
      if (isLast && storedBytes > 0) use.close();
    },
  };
};

/**
 * Counts new profiles, and refuses the transaction where the quota has no room for all that it may have made. Returns
 * whether that was the last place.
 */
const countExactly = async (
  scope: Scope,
  use: KeyUse,
  { newProfiles, newProfilesMax }: Made,
): Promise<boolean> => {
  if (newProfilesMax === 0) return false;
  const { keyId } = use;
  if (newProfiles > 0) await countUse(scope, 'identify', [{ keyId, newProfiles, storedBytes: 0 }]);
  const [row] = await readUse(scope, [keyId]);
  const quota = row?.new_profiles_per_day ?? null;
  if (row === undefined || quota === null) return false;
  const most = row.new_profiles - newProfiles + newProfilesMax;
  if (most < quota) return false;
  if (most === quota) return true;
  use.close();
  throw keyExceeded('new_profiles', { amount: quota, retryAfterSeconds: row.seconds_left });
};

/** Identifiers of which a worker has just made profiles, by the publishable key that brought them. */
export type Brought = Awaited<ReturnType<typeof listBrought>>;

/** Finds which publishable keys brought the people whom a worker has just made from flushes. */
export const findBrought = async (
  scope: Scope,
  flushIds: readonly string[],
  made: readonly Identifier[],
): Promise<Brought> => (made.length === 0 ? [] : listBrought(scope, flushIds, made));

/** Counts those people in the transaction that made them. Call it last, since it locks the keys' counters. */
export const countBrought = async (scope: Scope, brought: Brought): Promise<void> => {
  if (brought.length === 0) return;
  await countUse(
    scope,
    'process',
    brought.map(({ key_id, brought: people }) => ({
      keyId: key_id,
      newProfiles: people,
      storedBytes: 0,
    })),
  );
};

/** Applies changed quotas in this process at once; others read them within COUNT_EVERY_MS. */
export const applyQuotas = (deps: QuotaDeps, projectId: string): Promise<void> =>
  meterOf(deps).refreshProject(projectId);

/** Deletes the use of a project's keys that is older than USE_KEPT_DAYS. */
export const pruneUse = (deps: Pick<Deps, 'db' | 'keys'>, projectId: string): Promise<number> =>
  inProject(deps, projectId, async (scope) => {
    const { pruned } = await pruneOldUse(scope, USE_KEPT_DAYS);
    return pruned;
  });

/** Divides the shares of addresses among so many processes. */
export const divideShares = (deps: Pick<Deps, 'resources'>, processes: number): void =>
  addressSharesOf(deps).share(processes);
