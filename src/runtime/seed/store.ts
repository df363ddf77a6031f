import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { SeedEvent } from './past.ts';
import type { Traits } from './people.ts';

/** One statement's worth of rows: few round trips, short transactions. */
export const ROWS_PER_STATEMENT = 5_000;

type Column<Row> = [read: (row: Row) => string | null, type: string];

const unnest = <Row>(rows: readonly Row[], columns: Column<Row>[]) => {
  const arrays = columns.map(([read, type]) => sql.fragment`${sql.array(rows.map(read), type)}`);
  return sql.fragment`unnest(${sql.join(arrays, sql.fragment`, `)})`;
};

const toText = (time: number): string => new Date(time).toISOString();

/** Adds events as if they had been accepted and processed long ago. */
export const insertEvents = ({ tx, projectId }: Scope, events: readonly SeedEvent[]) =>
  tx.query(sql.unsafe`
    insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id,
      properties, source, key_kind)
    select ${projectId}, event_id, occurred_at, received_at, name, external_id, anonymous_id, properties, source,
      case source when 'browser' then 'publishable' else 'server' end
    from ${unnest(events, [
      [(event) => event.eventId, 'uuid'],
      [(event) => toText(event.occurredAt), 'timestamptz'],
      [(event) => toText(event.receivedAt), 'timestamptz'],
      [(event) => event.name, 'text'],
      [(event) => event.externalId, 'text'],
      [(event) => event.anonymousId, 'text'],
      [(event) => event.properties, 'jsonb'],
      [(event) => event.source, 'text'],
    ])} as seeded (event_id, occurred_at, received_at, name, external_id, anonymous_id, properties, source)
  `);

/** Somebody as one identifier knows them: what the worker makes of their events and of what was said of them. */
export type SeedIdentity = {
  identityId: string;
  profileId: string;
  kind: 'anonymous' | 'external';
  value: string;
  firstSeenAt: number;
  lastSeenAt: number;
  /** What a server said when they signed up, and when that was. */
  told: { traits: Traits; at: number } | null;
};

const insertIdentities = ({ tx, projectId }: Scope, identities: readonly SeedIdentity[]) =>
  tx.query(sql.unsafe`
    insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id,
      first_seen_at, last_seen_at)
    select ${projectId}, identity_id, kind, value, profile_id, profile_id, first_seen_at, last_seen_at
    from ${unnest(identities, [
      [(identity) => identity.identityId, 'uuid'],
      [(identity) => identity.kind, 'text'],
      [(identity) => identity.value, 'text'],
      [(identity) => identity.profileId, 'uuid'],
      [(identity) => toText(identity.firstSeenAt), 'timestamptz'],
      [(identity) => toText(identity.lastSeenAt), 'timestamptz'],
    ])} as seeded (identity_id, kind, value, profile_id, first_seen_at, last_seen_at)
  `);

const insertProfiles = ({ tx, projectId }: Scope, identities: readonly SeedIdentity[]) =>
  tx.query(sql.unsafe`
    insert into profiles.profiles (project_id, profile_id, email, traits, created_at, updated_at)
    select ${projectId}, profile_id, email, traits, created_at, updated_at
    from ${unnest(identities, [
      [(identity) => identity.profileId, 'uuid'],
      [({ told }) => told?.traits.email ?? null, 'text'],
      [({ told }) => JSON.stringify(told?.traits ?? {}), 'jsonb'],
      [({ firstSeenAt }) => toText(firstSeenAt), 'timestamptz'],
      [({ firstSeenAt, told }) => toText(told?.at ?? firstSeenAt), 'timestamptz'],
    ])} as seeded (profile_id, email, traits, created_at, updated_at)
  `);

const insertTraits = ({ tx, projectId }: Scope, identities: readonly SeedIdentity[]) =>
  tx.query(sql.unsafe`
    insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
    select ${projectId}, seeded.identity_id, told.key, told.value, seeded.set_at, 'server'
    from ${unnest(identities, [
      [(identity) => identity.identityId, 'uuid'],
      [({ told }) => JSON.stringify(told?.traits ?? {}), 'jsonb'],
      [({ firstSeenAt, told }) => toText(told?.at ?? firstSeenAt), 'timestamptz'],
    ])} as seeded (identity_id, traits, set_at)
    cross join lateral jsonb_each(seeded.traits) as told
  `);

/** Adds identities, each with a profile of its own and the traits it was told. */
export const insertPeople = async (
  scope: Scope,
  identities: readonly SeedIdentity[],
): Promise<void> => {
  await insertProfiles(scope, identities);
  await insertIdentities(scope, identities);
  await insertTraits(scope, identities);
};

/** Whether a person of this seed is there already. */
export const isSeeded = ({ tx, projectId }: Scope, anonymousId: string): Promise<boolean> =>
  tx.exists(sql.unsafe`
    select from identity.identities
    where project_id = ${projectId} and kind = 'anonymous' and value = ${anonymousId}
  `);
