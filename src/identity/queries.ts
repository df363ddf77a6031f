import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

export const IDENTIFIER_KINDS = ['external', 'anonymous'] as const;
const Kind = z.enum(IDENTIFIER_KINDS);

const Person = z.strictObject({
  identity_id: z.uuid(),
  profile_id: z.uuid(),
  kind: Kind,
  value: z.string(),
  is_new: z.boolean(),
  is_erasing: z.boolean(),
});
export type Person = z.output<typeof Person>;

const Identity = z.strictObject({
  identity_id: z.uuid(),
  profile_id: z.uuid(),
  kind: Kind,
  value: z.string(),
  /** Null as long as nobody was seen by it: it is only named by an alias. */
  first_seen_at: z.date().nullable(),
  last_seen_at: z.date().nullable(),
});
export type Identity = z.output<typeof Identity>;

export const SeenIdentifier = Identity.pick({
  kind: true,
  value: true,
  first_seen_at: true,
  last_seen_at: true,
});
export type SeenIdentifier = z.output<typeof SeenIdentifier>;

/** An identifier that was seen and whose identity is still to be made or moved. Times are those of its events. */
export const LeftIdentifier = SeenIdentifier.extend({
  observed_at: z.date().nullable(),
  is_known: z.boolean(),
  /** The shortest time between an event of the identifier and its receipt, in milliseconds. */
  lag_ms: z.int(),
});
export type LeftIdentifier = z.output<typeof LeftIdentifier>;

const MOVES_NOTHING = { first_seen_at: null, last_seen_at: null };

/** What makes the identity of an identifier, or only locks it where it is known. */
export const toSeen = (left: LeftIdentifier): SeenIdentifier => {
  const { kind, value, first_seen_at, last_seen_at, is_known } = left;
  return { kind, value, ...(is_known ? MOVES_NOTHING : { first_seen_at, last_seen_at }) };
};

export type NewIdentity = SeenIdentifier & { identity_id: string; profile_id: string };

const columnOf = <Row>(
  rows: readonly Row[],
  type: string,
  read: (row: Row) => string | Date | null,
) =>
  sql.array(
    rows.map((row) => {
      const value = read(row);
      return value instanceof Date ? value.toISOString() : value;
    }),
    type,
  );

/** The arguments of both functions that say which identifiers were seen, and when. */
const seenColumns = (seen: readonly SeenIdentifier[]) => sql.fragment`
  kinds => ${columnOf(seen, 'text', (row) => row.kind)},
  identifiers => ${columnOf(seen, 'text', (row) => row.value)},
  first_seen_ats => ${columnOf(seen, 'timestamptz', (row) => row.first_seen_at)},
  last_seen_ats => ${columnOf(seen, 'timestamptz', (row) => row.last_seen_at)}
`;

export const seeIdentifiers = ({ tx, projectId }: Scope, seen: readonly NewIdentity[]) =>
  tx.any(sql.type(Person)`
    select identity_id, profile_id, kind, value, is_new, is_erasing
    from identity.see_identifiers(
      project_id => ${projectId},
      identity_ids => ${columnOf(seen, 'uuid', (row) => row.identity_id)},
      profile_ids => ${columnOf(seen, 'uuid', (row) => row.profile_id)},
      ${seenColumns(seen)}
    )
  `);

/** Moves when known identities were seen. The transaction has locked them. */
export const moveSeen = ({ tx, projectId }: Scope, seen: readonly LeftIdentifier[]) =>
  tx.query(sql.unsafe`
    select from identity.move_seen(
      project_id => ${projectId},
      ${seenColumns(seen)},
      observed_ats => ${columnOf(seen, 'timestamptz', (row) => row.observed_at)}
    )
  `);

const identityColumns = sql.fragment`identity_id, profile_id, kind, value, first_seen_at, last_seen_at`;

/**
 * The first identities of each of some profiles, external ones before others, without those that are being erased: they
 * are nobody's any more.
 */
export const listFirst = (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  identitiesMax: number,
) =>
  tx.any(sql.type(Identity)`
    select first.* from unnest(${sql.array([...profileIds], 'uuid')}) as wanted (profile_id)
    cross join lateral (
      select ${identityColumns} from identity.identities as known
      where known.project_id = ${projectId} and known.profile_id = wanted.profile_id and known.erasure_id is null
      order by known.kind desc, known.value
      limit ${identitiesMax}
    ) as first
    order by first.profile_id, first.kind desc, first.value
  `);

const SeenTimes = z.strictObject({
  profile_id: z.uuid(),
  first_seen_at: z.date().nullable(),
  last_seen_at: z.date().nullable(),
  first_identity_id: z.uuid(),
  last_identity_id: z.uuid(),
});

/** When people were seen, by whichever of their identities, and the first and the last of those that came. */
export const listSeenTimes = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.any(sql.type(SeenTimes)`
    select profile_id, min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at,
      min(identity_id::text)::uuid as first_identity_id, max(identity_id::text)::uuid as last_identity_id
    from identity.identities
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')}) and erasure_id is null
    group by profile_id
  `);

const Named = Identity.pick({ profile_id: true, value: true });

/** What the customer calls some people: one external id of each who has any. */
export const listNamesOf = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.any(sql.type(Named)`
    select profile_id, min(value) as value from identity.identities
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and kind = 'external' and erasure_id is null
    group by profile_id
  `);

/** The identities of some identifiers, each looked up by its key. */
export const listByValues = (
  { tx, projectId }: Scope,
  wanted: readonly Pick<Identity, 'kind' | 'value'>[],
) =>
  tx.any(sql.type(Identity)`
    select known.* from unnest(
      ${sql.array(
        wanted.map(({ kind }) => kind),
        'text',
      )},
      ${sql.array(
        wanted.map(({ value }) => value),
        'text',
      )}
    ) as wanted (kind, value)
    cross join lateral (
      select ${identityColumns} from identity.identities
      where project_id = ${projectId} and kind = wanted.kind and value = wanted.value
      limit 1
    ) as known
  `);

export const findByValue = ({ tx, projectId }: Scope, kind: Identity['kind'], value: string) =>
  tx.maybeOne(sql.type(Identity)`
    select ${identityColumns} from identity.identities
    where project_id = ${projectId} and kind = ${kind} and value = ${value}
  `);

export const findById = ({ tx, projectId }: Scope, identityId: string) =>
  tx.maybeOne(sql.type(Identity)`
    select ${identityColumns} from identity.identities
    where project_id = ${projectId} and identity_id = ${identityId}
  `);
