import type { Caller } from '../base/caller.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { exceeded } from './key_use.ts';
import type { Identifier, Settle } from './key_use.ts';
import { meterOf } from './meter.ts';
import { countUse, listBrought, pruneOldUse, readUse } from './queries.ts';
import { USE_KEPT_DAYS } from './schema.ts';

export type { Identifier } from './key_use.ts';
export { quotaLimits, STORED_BYTES_PER_DAY, NEW_PROFILES_PER_DAY } from './schema.ts';

type QuotaDeps = Parameters<typeof meterOf>[0];

/** What a request is going to store. */
export type Load = { bytes: number; identifiers: readonly Identifier[] };

const NOTHING_TO_SETTLE = (): void => {};

/**
 * Admits a request of a publishable key, or refuses it with `quota_exceeded`. Requests of known people pass when the
 * quota of new profiles is used up. Call the answer with the bytes that were stored, 0 where it failed.
 */
export const admit = async (
  deps: QuotaDeps,
  { kind, keyId, projectId }: Caller,
  { bytes, identifiers }: Load,
): Promise<Settle> => {
  if (kind !== 'publishable' || keyId === undefined) return NOTHING_TO_SETTLE;
  const meter = meterOf(deps);
  const use = await meter.useOf(deps, projectId, keyId);
  const settle = use.reserve(bytes);
  try {
    await meter.admitPeople(deps, use, identifiers);
    return settle;
  } catch (error) {
    settle(0);
    throw error;
  }
};

/**
 * Counts profiles that a request of a publishable key makes, in its transaction and exactly: refuses it where they go
 * past the quota. Call it last, since it locks the key's counter.
 */
export const takeProfiles = async (
  scope: Scope,
  { kind, keyId }: Caller,
  profiles: number,
): Promise<void> => {
  if (kind !== 'publishable' || keyId === undefined || profiles === 0) return;
  await countUse(scope, 'identify', [{ keyId, newProfiles: profiles, storedBytes: 0 }]);
  const [use] = await readUse(scope, [keyId]);
  const quota = use?.new_profiles_per_day ?? null;
  if (use === undefined || quota === null || use.new_profiles <= quota) return;
  throw exceeded('new_profiles', { quota, retryAfterSeconds: Math.ceil(use.seconds_left) });
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
export const countBrought = async (
  scope: Scope,
  done: readonly { brought: Brought }[],
): Promise<void> => {
  const brought = done.flatMap((one) => one.brought);
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

/** Makes changed quotas hold in this process at once; others read them within COUNT_EVERY_MS. */
export const applyQuotas = (deps: QuotaDeps, projectId: string): Promise<void> =>
  meterOf(deps).forgetProject(projectId);

/** Deletes the use of a project's keys that is older than USE_KEPT_DAYS. */
export const pruneUse = (deps: Pick<Deps, 'db' | 'keys'>, projectId: string): Promise<number> =>
  inProject(deps, projectId, async (scope) => {
    const { pruned } = await pruneOldUse(scope, USE_KEPT_DAYS);
    return pruned;
  });
