import { inProject } from '../base/db.ts';
import * as identity from '../identity/identity.ts';
import type { IdentifierPair } from '../ingest/ingest.ts';
import { addressSharesOf } from './address_shares.ts';
import type { Sender } from './address_shares.ts';
import { anonymousName, externalName, namesIn } from './identifiers.ts';
import type { Name } from './identifiers.ts';
import type { KeyUse } from './key_use.ts';
import { meterOf } from './meter.ts';
import type { QuotaDeps } from './meter.ts';

/** A request of a publishable key: the people that it names, and the address that it counts under. */
export type Asked = {
  use: KeyUse;
  pairs: readonly IdentifierPair[];
  sender: Sender | null;
  /** Whether its own transaction counts the profiles that it makes, instead of a worker. */
  isCountedAtOnce: boolean;
};

/** Ends a request that was admitted, with the number of profiles that its transaction made. */
type SettleProfiles = (newProfiles: number) => void;
const NOTHING_TO_SETTLE = (): void => {};

/**
 * Admits the people that a request names, or refuses it with `quota_exceeded`.
 *
 * While the quota and the share of the address have room, this reads nothing. Without room the request passes only with
 * anonymous ids that exist, each alone or with the external id that it is linked to. So no answer depends on whether an
 * external id exists.
 */
export const admitPeople = async (deps: QuotaDeps, asked: Asked): Promise<SettleProfiles> => {
  const { use, pairs, sender } = asked;
  const quota = use.quotas.newProfiles;
  const names = namesIn(pairs);
  if (quota === null || names.size === 0) return NOTHING_TO_SETTLE;
  const shares = addressSharesOf(deps);
  const undoShare = sender && shares.takeNames(sender, names, quota);
  const hasShare = sender === null || undoShare !== null;
  const fresh = [...names].filter((name) => !use.recent.has(name));
  if (hasShare && use.hasRoomBelow(fresh.length)) return hold(asked, fresh, false);
  try {
    const unproven = await findUnproven(deps, asked);
    // The people that the request proves to exist take no room.
    if (unproven.pairs.length > 0 && !hasShare && sender !== null)
      throw shares.exceeded('new_profiles', sender, quota);
    if (unproven.pairs.length > 0) return await admitUnproven(deps, asked, unproven.names);
  } catch (error) {
    undoShare?.();
    throw error;
  }
  undoShare?.();
  return NOTHING_TO_SETTLE;
};

/** Counts every name as a new profile, whether or not the person exists. The last place closes the quota. */
const admitUnproven = async (
  deps: QuotaDeps,
  asked: Asked,
  names: readonly Name[],
): Promise<SettleProfiles> => {
  const { use, isCountedAtOnce } = asked;
  await meterOf(deps).refresh(deps, use, isCountedAtOnce);
  const fresh = names.filter((name) => !use.recent.has(name));
  if (use.isUsedUp || !use.hasRoomFor(fresh.length)) {
    use.closeIfExact();
    throw use.exceeded('new_profiles');
  }
  const settle = hold(asked, fresh, true);
  if (!use.hasRoomFor(1)) use.closeIfExact();
  return settle;
};

/** Keeps room for people until their profiles are counted. */
const hold = (
  { use, pairs, isCountedAtOnce }: Asked,
  names: readonly Name[],
  isLookedUp: boolean,
): SettleProfiles => {
  if (!isCountedAtOnce) {
    use.remember(names, isLookedUp);
    return NOTHING_TO_SETTLE;
  }
  const settle = use.reserveProfiles(names.length);
  return (newProfiles) => {
    settle(newProfiles);
    // They are counted now, also those that an event named a moment ago.
    if (newProfiles > 0) use.recent.delete(namesIn(pairs));
  };
};

type Unproven = { pairs: readonly IdentifierPair[]; names: readonly Name[] };

/**
 * Finds the pairs whose people the request does not prove, and the names in them that may become new profiles. Only an
 * anonymous id proves a person: it is random, and a browser that has it was there before.
 */
const findUnproven = async (
  deps: QuotaDeps,
  { use, pairs }: Pick<Asked, 'use' | 'pairs'>,
): Promise<Unproven> => {
  const anonymousIds = [...new Set(pairs.flatMap(({ anonymousId }) => anonymousId ?? []))];
  const rows =
    anonymousIds.length === 0
      ? []
      : await inProject(deps, use.projectId, (scope) => identity.listLinkedTo(scope, anonymousIds));
  const linkedTo = new Map(rows.map((row) => [row.anonymous_id, row.external_id]));
  const exists = (id: string): boolean => linkedTo.has(id) || use.recent.has(anonymousName(id));
  const isProven = ({ externalId, anonymousId }: IdentifierPair): boolean =>
    anonymousId !== null &&
    exists(anonymousId) &&
    (externalId === null || linkedTo.get(anonymousId) === externalId);
  const unproven = pairs.filter((pair) => !isProven(pair));
  const names = new Set<Name>();
  for (const { externalId, anonymousId } of unproven) {
    if (externalId !== null) names.add(externalName(externalId));
    if (anonymousId !== null && !exists(anonymousId)) names.add(anonymousName(anonymousId));
  }
  return { pairs: unproven, names: [...names] };
};
