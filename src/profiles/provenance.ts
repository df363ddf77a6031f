import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import * as identity from '../identity/identity.ts';
import { IDENTIFIERS_SHOWN_MAX, Json } from './schema.ts';
import { listWordsByRank } from './word_queries.ts';
import type { Word } from './word_queries.ts';

/** Where a trait comes from: which identifier was told it, by what kind of key, and as of when. */
export const Told = z
  .strictObject({
    value: Json,
    identifier: z.strictObject({ kind: z.enum(identity.IDENTIFIER_KINDS), value: z.string() }),
    authority: z.enum(['publishable', 'server']),
    set_at: z.iso.datetime(),
  })
  .meta({ description: 'The word that counts, and who was told it.' });
export type Told = z.output<typeof Told>;

type Named = Pick<identity.Member, 'identity_id' | 'kind' | 'value'>;

/** What some identities were told, and of which of them each word is. */
export class Words {
  readonly #words: readonly Word[];
  readonly #named: Map<string, Named>;

  private constructor(words: readonly Word[], identities: readonly Named[]) {
    this.#words = words;
    this.#named = new Map(identities.map((one) => [one.identity_id, one]));
  }

  static async read(scope: Scope, identities: readonly Named[]): Promise<Words> {
    const ids = identities.map(({ identity_id }) => identity_id);
    return new Words(await listWordsByRank(scope, ids), identities);
  }

  /** Of each trait what some of the identities were told, the word that counts first. A null there removes it. */
  of(identities: readonly Named[]): Map<string, Told[]> {
    const ids = new Set(identities.map(({ identity_id }) => identity_id));
    const told = this.#words.filter(({ identity_id }) => ids.has(identity_id));
    return new Map(
      [...Map.groupBy(told, ({ key }) => key)].map(([key, words]) => [
        key,
        words.flatMap((word) => this.#toTold(word)),
      ]),
    );
  }

  #toTold({ identity_id, value, authority, set_at }: Word): Told[] {
    const named = this.#named.get(identity_id);
    if (!named) return [];
    const identifier = { kind: named.kind, value: named.value };
    return [{ value, identifier, authority, set_at: set_at.toISOString() }];
  }
}

/** A trait with where it comes from: the word that counts, and those that it overrides. */
export type TraitOrigin = { key: string; told: Told; others: Told[] };

/** The traits of a profile, those that were removed too, each with where it comes from: which of the ids shown. */
export const listOrigins = async (scope: Scope, profileId: string): Promise<TraitOrigin[]> => {
  const identities = await identity.listFirst(scope, [profileId], IDENTIFIERS_SHOWN_MAX);
  const words = await Words.read(scope, identities);
  return [...words.of(identities)].flatMap(([key, [told, ...others]]) =>
    told ? [{ key, told, others }] : [],
  );
};
