import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import { Refusal } from '../base/refusal.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow, Person, SeenIdentifier } from '../identity/identity.ts';
import * as ingest from '../ingest/ingest.ts';
import * as quotas from '../quotas/quotas.ts';
import { gather, linkPeople, makeLink } from './link.ts';
import type { AfterLink, OnLinked } from './link.ts';
import { changeTraits, seePeople } from './people.ts';
import type { AliasInput, IdentifyInput } from './schema.ts';

const authorityOf = ({ kind }: Caller): 'server' | 'publishable' =>
  kind === 'server' ? 'server' : 'publishable';

/** Somebody and when they were seen; null makes them known, without having been seen. */
const seen = (kind: SeenIdentifier['kind'], value: string, at: Date | null): SeenIdentifier => ({
  kind,
  value,
  first_seen_at: at,
  last_seen_at: at,
});

export type IdentifyOptions = {
  /** Stands for the message id of an identify that has none, in a request that may come again. */
  repetition?: ingest.Repetition | undefined;
  onLinked?: OnLinked;
};

/**
 * Stores the traits of a person and links the anonymous id to them. A server's call replaces a link that only a browser
 * vouches for. The log keeps a link that is refused, and the caller does not learn of it. A person who is being erased
 * gets no link and no traits. Refuses the whole call when servers have stored as many traits as a person may have;
 * traits of browsers make room instead, the oldest first. An identify with a message id that the same kind of key sent
 * before changes nothing.
 */
export const identify = async (
  deps: Deps,
  caller: Caller,
  input: IdentifyInput,
  { repetition, onLinked }: IdentifyOptions = {},
): Promise<void> => {
  const occurredAt = input.occurred_at === undefined ? new Date() : new Date(input.occurred_at);
  ingest.refuseTime(deps, caller, occurredAt);
  const message = input.message_id ?? repetition;
  const { hints, afterLink } = gather(onLinked);
  // Also without traits: its message id, and what it changes, is a row each.
  const bytes = ingest.STORED_ROW_BYTES + Buffer.byteLength(JSON.stringify(input.traits ?? {}));
  const pair = { externalId: input.external_id, anonymousId: input.anonymous_id ?? null };
  const admitted = await quotas.admitIdentify(deps, caller, { bytes, pair });
  let stored = { bytes: 0, profiles: 0 };
  try {
    stored = await inProject(deps, caller.projectId, async (scope) => {
      const isNew =
        message === undefined ||
        (await ingest.claimIdentify(scope, caller, { message, occurredAt }));
      if (!isNew) return { bytes: 0, profiles: 0 };
      const made = await identifyPerson(scope, { caller, input, occurredAt, afterLink });
      await admitted.count(scope, made);
      return { bytes, profiles: made.newProfiles };
    });
  } finally {
    admitted.settle(stored.bytes, stored.profiles);
  }
  await giveHints(deps, hints);
};

type Identified = {
  caller: Caller;
  input: IdentifyInput;
  occurredAt: Date;
  afterLink: AfterLink;
};

/**
 * Links the anonymous id and stores the traits. Returns how many profiles that made. An anonymous id that was linked to
 * this person before proves that both exist; without it the person counts as one that may be new.
 */
const identifyPerson = async (
  scope: Scope,
  { caller, input, occurredAt, afterLink }: Identified,
): Promise<quotas.Made> => {
  // To be identified is to be seen: as with events, only the first and the last time are kept.
  const people = await identity.see(scope, [
    ...(input.anonymous_id === undefined
      ? []
      : [seen('anonymous', input.anonymous_id, occurredAt)]),
    seen('external', input.external_id, occurredAt),
  ]);
  await seePeople(scope, people);
  let isProven = false;
  if (input.anonymous_id !== undefined) {
    const { anonymous_id, external_id } = input;
    const key_type = authorityOf(caller);
    const wish = { anonymous_id, external_id, source: 'identify' as const, key_type };
    const made = await makeLink(scope, wish, afterLink);
    isProven = made !== null && !made.isNew && made.link.status === 'active';
  }
  const made = countMade(people, isProven);
  const person = people.find(({ kind }) => kind === 'external');
  if (!person || input.traits === undefined) return made;
  const isKept = await changeTraits(scope, {
    identityId: person.identity_id,
    traits: input.traits,
    setAt: occurredAt,
    authority: authorityOf(caller),
    anonymousId: input.anonymous_id,
  });
  if (!isKept) throw new Refusal('too_many_traits');
  return made;
};

const countMade = (people: readonly Person[], isProven: boolean): quotas.Made => {
  const made = people.filter(({ is_new }) => is_new);
  const mayBeNew = people.filter(({ kind, is_new }) => kind === 'external' || is_new);
  return { newProfiles: made.length, newProfilesMax: isProven ? 0 : mayBeNew.length };
};

/**
 * Links two identifiers for a server. Replaces a link that only a browser vouches for. Any other link to another person
 * is a conflict, and logged. A person who is being erased cannot be linked.
 */
export const alias = async (
  deps: Deps,
  caller: Caller,
  input: AliasInput,
  onLinked?: OnLinked,
): Promise<LinkRow> => {
  const { hints, afterLink } = gather(onLinked);
  const link = await inProject(deps, caller.projectId, async (scope) => {
    // Whoever is linked need not have been seen: events that name them may still wait for a worker.
    const people = await identity.see(scope, [
      seen('anonymous', input.anonymous_id, null),
      seen('external', input.external_id, null),
    ]);
    await seePeople(scope, people);
    const wish = { ...input, source: 'alias' as const, key_type: 'server' as const };
    const made = await linkPeople(scope, wish, afterLink);
    if (!made) throw new Refusal('being_erased');
    return made;
  });
  await giveHints(deps, hints);
  if (link.status === 'refused') throw new Refusal('identity_conflict');
  return link;
};
