import type { z } from 'zod';
import type { Scope } from '../base/db.ts';
import * as identity from '../identity/identity.ts';
import type { PastIdentity, PastLink } from '../identity/identity.ts';
import * as suppression from '../suppression/suppression.ts';
import { listTold, listWentTo } from './past_queries.ts';
import type { Told } from './past_queries.ts';
import { toTags } from './people.ts';

/** How many links lead from one identity to another that is looked at with it. */
const LINKS_FOLLOWED_MAX = 20;

type Json = z.core.util.JSONType;
/** What somebody who only imagines it tells an identity. */
export type Imagined = Omit<Told, 'identity_id' | 'key' | 'value'> & {
  identityId: string;
  traits: Readonly<Record<string, Json>>;
  /** From when on it is known. */
  toldAt: Date;
};
type Word = Omit<Told, 'identity_id'> & { knownAt: Date };

/** Somebody as they were. */
export type PastPerson = {
  profileId: string;
  members: readonly PastIdentity[];
  email: string | null;
  traits: Record<string, Json>;
  /** Whether a server has said their address, and not only a browser. */
  isConfirmed: boolean;
  /** Traits that were told anew since: what they were then is not kept, so they are what they are today. */
  toldSince: ReadonlySet<string>;
};

const isActiveAt = ({ created_at, undone_at }: PastLink, at: Date): boolean =>
  created_at <= at && (undone_at === null || undone_at > at);

/** The older first; of two that began at once, the one that was replaced. */
const byBeginning = (a: PastLink, b: PastLink): number =>
  a.created_at.getTime() - b.created_at.getTime() || (a.replaces === b.link_id ? 1 : -1);

const byRank = (a: Word, b: Word): number =>
  Number(b.authority === 'server') - Number(a.authority === 'server') ||
  b.set_at.getTime() - a.set_at.getTime() ||
  (JSON.stringify(a.value) > JSON.stringify(b.value) ? -1 : 1);

const groupBy = <T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> =>
  Map.groupBy(all, keyOf);

/**
 * People as they were at any moment: links from their log, traits from what is kept of them, tags from what was said
 * of their addresses.
 */
export class PastPeople {
  readonly #scope: Scope;
  readonly #identities: Map<string, PastIdentity>;
  readonly #linksOf: Map<string, PastLink[]>;
  readonly #devicesOf: Map<string, PastLink[]>;
  readonly #told: Map<string, Word[]>;
  readonly #ownerOf: Map<string, string>;
  readonly #words = new Map<string, Promise<readonly suppression.Word[]>>();

  private constructor(
    scope: Scope,
    identities: Map<string, PastIdentity>,
    { links, told }: { links: readonly PastLink[]; told: readonly Told[] },
  ) {
    this.#scope = scope;
    this.#identities = identities;
    this.#ownerOf = new Map(
      [...identities.values()].map((one) => [one.own_profile_id, one.identity_id]),
    );
    const inOrder = links.toSorted(byBeginning);
    this.#linksOf = groupBy(inOrder, ({ anonymous_identity_id }) => anonymous_identity_id);
    this.#devicesOf = groupBy(inOrder, ({ external_identity_id }) => external_identity_id);
    const words = told.map(({ identity_id, ...word }) => ({
      identity_id,
      ...word,
      knownAt: word.set_at,
    }));
    this.#told = groupBy(words, ({ identity_id }) => identity_id);
  }

  /** Everybody whom some identities were ever linked to, and whoever was behind some profiles. */
  static async read(
    scope: Scope,
    { identityIds, profileIds }: { identityIds: readonly string[]; profileIds: readonly string[] },
  ): Promise<PastPeople> {
    const went = profileIds.length === 0 ? [] : await listWentTo(scope, [...new Set(profileIds)]);
    const today = went.map(({ profile_id }) => profile_id);
    const ids = new Set([
      ...identityIds,
      ...(await identity.listByProfiles(scope, today)).map(({ identity_id }) => identity_id),
    ]);
    const links = new Map<string, PastLink>();
    let fresh = [...ids];
    for (let round = 0; fresh.length > 0 && round < LINKS_FOLLOWED_MAX; round += 1) {
      const found = await identity.listLinksEver(scope, fresh);
      for (const link of found) links.set(link.link_id, link);
      fresh = found
        .flatMap((link) => [link.anonymous_identity_id, link.external_identity_id])
        .filter((id) => !ids.has(id) && ids.add(id));
    }
    const rows = await identity.listByIds(scope, [...ids]);
    const told = await listTold(scope, [...ids]);
    return new PastPeople(scope, new Map(rows.map((row) => [row.identity_id, row])), {
      links: [...links.values()],
      told,
    });
  }

  identify(identityId: string): PastIdentity | null {
    return this.#identities.get(identityId) ?? null;
  }

  /** The identity whose own profile this is. */
  ownerOf(profileId: string): string | null {
    return this.#ownerOf.get(profileId) ?? null;
  }

  /** All identities that one was ever linked to, with itself; nobody else's past has to do with theirs. */
  familyOf(identityId: string): string[] {
    const family = new Set([identityId]);
    for (const id of family)
      for (const link of [...(this.#linksOf.get(id) ?? []), ...(this.#devicesOf.get(id) ?? [])])
        family.add(link.anonymous_identity_id).add(link.external_identity_id);
    return [...family].filter((id) => this.#identities.has(id));
  }

  /** When links of some identities began: when they were made, and when an undo made one active again. */
  listLinkTimes(identityIds: readonly string[]): Date[] {
    return identityIds
      .flatMap((id) => this.#linksOf.get(id) ?? [])
      .flatMap(({ created_at, undone_at, replaces }) =>
        replaces === null || undone_at === null ? [created_at] : [created_at, undone_at],
      );
  }

  /** When some identities joined a person or left one: with each link, and with each undo. */
  listRelinkTimes(identityIds: readonly string[]): Date[] {
    return identityIds
      .flatMap((id) => this.#linksOf.get(id) ?? [])
      .flatMap(({ created_at, undone_at }) =>
        undone_at === null ? [created_at] : [created_at, undone_at],
      );
  }

  /** Whoever an identity was at a moment; null when they are gone. */
  at(identityId: string, at: Date): PastPerson | null {
    const active = this.#linkAt(identityId, at);
    const root = this.#identities.get(active?.external_identity_id ?? identityId);
    if (!root) return null;
    const devices = (this.#devicesOf.get(root.identity_id) ?? [])
      .filter((link) => this.#linkAt(link.anonymous_identity_id, at) === link)
      .flatMap(({ anonymous_identity_id: id }) => this.#identities.get(id) ?? [])
      .toSorted((a, b) => (a.value < b.value ? -1 : 1));
    const members = [root, ...devices];
    return { profileId: root.own_profile_id, members, ...this.#fold(members, at) };
  }

  /** Lists the addresses that some identities were ever told, each once. */
  listEmails(identityIds: readonly string[]): string[] {
    const told = identityIds
      .flatMap((id) => this.#told.get(id) ?? [])
      .flatMap(({ key, value }) =>
        key === 'email' && typeof value === 'string' ? value.trim() : [],
      );
    return [...new Set(told)].filter((email) => email !== '');
  }

  /** Reads what was said of the addresses that some identities were ever told, for all of them together. */
  async readAhead(identityIds: readonly string[]): Promise<void> {
    const emails = this.listEmails(identityIds).filter((email) => !this.#words.has(email));
    if (emails.length === 0) return;
    const words = await suppression.readWordsOf(this.#scope, emails);
    for (const email of emails) this.#words.set(email, Promise.resolve(words.get(email) ?? []));
  }

  /** What an address is called on profiles for what had been said of it by then. */
  async tagsAt(email: string | null, at: Date): Promise<string[]> {
    if (email === null) return [];
    const words = this.#words.get(email) ?? this.#readWords(email);
    this.#words.set(email, words);
    return toTags(suppression.reasonsAt(await words, at));
  }

  /** Has an identity told something that is true here and nowhere else. */
  imagine({ identityId, traits, toldAt, set_at, authority }: Imagined): void {
    const words = Object.entries(traits).map(([key, value]) => ({
      key,
      value,
      set_at,
      authority,
      knownAt: toldAt,
    }));
    this.#told.set(identityId, [...(this.#told.get(identityId) ?? []), ...words]);
  }

  /**
   * The link of an anonymous identity at a moment. A link that was replaced and is active again tells only when it was
   * made, so the newer one counts for as long as it lasted.
   */
  #linkAt(identityId: string, at: Date): PastLink | undefined {
    return this.#linksOf.get(identityId)?.findLast((link) => isActiveAt(link, at));
  }

  async #readWords(email: string): Promise<readonly suppression.Word[]> {
    return (await suppression.readWordsOf(this.#scope, [email])).get(email) ?? [];
  }

  #fold(members: readonly PastIdentity[], at: Date) {
    const words = groupBy(
      members.flatMap(({ identity_id }) => this.#told.get(identity_id) ?? []),
      ({ key }) => key,
    );
    const toldSince = new Set<string>();
    const kept: [string, Json][] = [];
    for (const [key, all] of words) {
      const known = all.filter(({ knownAt }) => knownAt <= at);
      if (known.length < all.length) toldSince.add(key);
      const [winner] = (known.length > 0 ? known : all).toSorted(byRank);
      if (winner && winner.value !== null) kept.push([key, winner.value]);
    }
    const traits = Object.fromEntries(kept);
    const told = Object.hasOwn(traits, 'email') ? traits['email'] : null;
    const email = typeof told === 'string' && told.trim() !== '' ? told.trim() : null;
    const isConfirmed = (words.get('email') ?? []).some(
      ({ authority, value, knownAt }) =>
        authority === 'server' &&
        (knownAt <= at || toldSince.has('email')) &&
        typeof value === 'string' &&
        value.trim().toLowerCase() === email?.toLowerCase(),
    );
    return { traits, email, isConfirmed, toldSince };
  }
}
