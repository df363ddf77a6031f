import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { SeedEvent } from './past.ts';
import type { Traits } from './people.ts';

/** One statement's worth of rows: few round trips, short transactions. */
export const ROWS_PER_STATEMENT = 5_000;

type Column<Row> = [read: (row: Row) => string | null, type: string];

/** Rows as a table of their columns. */
export const unnest = <Row>(rows: readonly Row[], columns: Column<Row>[]) => {
  const arrays = columns.map(([read, type]) => sql.fragment`${sql.array(rows.map(read), type)}`);
  return sql.fragment`unnest(${sql.join(arrays, sql.fragment`, `)})`;
};

/** A time as Postgres reads it. */
export const toText = <Time extends number | null>(time: Time) =>
  (time === null ? null : new Date(time).toISOString()) as Time extends number ? string : null;

const insertAccepted = ({ tx, projectId }: Scope, events: readonly SeedEvent[]) =>
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

/** Which known people were seen with which devices, in one order everywhere. */
const insertDevices = ({ tx, projectId }: Scope, events: readonly SeedEvent[]) =>
  tx.query(sql.unsafe`
    insert into ingest.devices (project_id, anonymous_id, external_id, last_month)
    select ${projectId}::uuid, anonymous_id, external_id,
      date_trunc('month', max(occurred_at) at time zone 'UTC')::date
    from ${unnest(events, [
      [(event) => event.anonymousId, 'text'],
      [(event) => event.externalId, 'text'],
      [(event) => toText(event.occurredAt), 'timestamptz'],
    ])} as seeded (anonymous_id, external_id, occurred_at)
    where anonymous_id is not null and external_id is not null
    group by anonymous_id, external_id
    order by anonymous_id, external_id
    on conflict do nothing
  `);

/** Adds events as if they had been accepted and processed long ago. */
export const insertEvents = async (scope: Scope, events: readonly SeedEvent[]): Promise<void> => {
  await insertAccepted(scope, events);
  await insertDevices(scope, events);
};

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
  /** The tag that a bounce or a complaint put on the profile, and when. */
  tagged?: { tag: string; at: number } | null;
  /** Whom it was linked to, once they told who they are. */
  link?: {
    linkId: string;
    at: number;
    person: Pick<SeedIdentity, 'identityId' | 'profileId' | 'value'>;
  } | null;
};

const insertIdentities = ({ tx, projectId }: Scope, identities: readonly SeedIdentity[]) =>
  tx.query(sql.unsafe`
    insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id,
      first_seen_at, last_seen_at)
    select ${projectId}, identity_id, kind, value, profile_id, own_profile_id, first_seen_at, last_seen_at
    from ${unnest(identities, [
      [(identity) => identity.identityId, 'uuid'],
      [(identity) => identity.kind, 'text'],
      [(identity) => identity.value, 'text'],
      [({ profileId, link }) => link?.person.profileId ?? profileId, 'uuid'],
      [(identity) => identity.profileId, 'uuid'],
      [(identity) => toText(identity.firstSeenAt), 'timestamptz'],
      [(identity) => toText(identity.lastSeenAt), 'timestamptz'],
    ])} as seeded (identity_id, kind, value, profile_id, own_profile_id, first_seen_at, last_seen_at)
  `);

const insertProfiles = ({ tx, projectId }: Scope, identities: readonly SeedIdentity[]) =>
  tx.query(sql.unsafe`
    insert into profiles.profiles (project_id, profile_id, email, traits, tags, created_at, updated_at, merged_into)
    select ${projectId}, profile_id, email, traits, array_remove(array[tag], null), created_at, updated_at, merged_into
    from ${unnest(identities, [
      [(identity) => identity.profileId, 'uuid'],
      [({ told }) => told?.traits.email ?? null, 'text'],
      [({ told }) => JSON.stringify(told?.traits ?? {}), 'jsonb'],
      [({ firstSeenAt }) => toText(firstSeenAt), 'timestamptz'],
      [({ tagged }) => tagged?.tag ?? null, 'text'],
      [
        ({ firstSeenAt, told, tagged, link }) =>
          toText(tagged?.at ?? link?.at ?? told?.at ?? firstSeenAt),
        'timestamptz',
      ],
      [({ link }) => link?.person.profileId ?? null, 'uuid'],
    ])} as seeded (profile_id, email, traits, created_at, tag, updated_at, merged_into)
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

const insertLinks = ({ tx, projectId }: Scope, identities: readonly SeedIdentity[]) =>
  tx.query(sql.unsafe`
    insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
      external_id, profile_id, anonymous_profile_id, source, key_type, status, created_at)
    select ${projectId}, link_id, anonymous_identity_id, external_identity_id, anonymous_id, external_id, profile_id,
      anonymous_profile_id, 'identify', 'publishable', 'active', created_at
    from ${unnest(
      identities.flatMap(({ link, ...child }) => (link ? [{ ...child, link }] : [])),
      [
        [({ link }) => link.linkId, 'uuid'],
        [({ identityId }) => identityId, 'uuid'],
        [({ link }) => link.person.identityId, 'uuid'],
        [({ value }) => value, 'text'],
        [({ link }) => link.person.value, 'text'],
        [({ link }) => link.person.profileId, 'uuid'],
        [({ profileId }) => profileId, 'uuid'],
        [({ link }) => toText(link.at), 'timestamptz'],
      ],
    )} as seeded (link_id, anonymous_identity_id, external_identity_id, anonymous_id, external_id, profile_id,
      anonymous_profile_id, created_at)
  `);

/** Adds identities, each with a profile of its own, the traits it was told, and its link to a person. */
export const insertPeople = async (
  scope: Scope,
  identities: readonly SeedIdentity[],
): Promise<void> => {
  await insertProfiles(scope, identities);
  await insertIdentities(scope, identities);
  await insertTraits(scope, identities);
  await insertLinks(scope, identities);
};

/** Whether an identity is there already: its batch was stored by an earlier run. */
export const hasIdentity = ({ tx, projectId }: Scope, identityId: string): Promise<boolean> =>
  tx.exists(sql.unsafe`
    select from identity.identities where project_id = ${projectId} and identity_id = ${identityId}
  `);

/** The same of an event. */
export const hasEvent = (
  { tx, projectId }: Scope,
  { eventId, occurredAt }: Pick<SeedEvent, 'eventId' | 'occurredAt'>,
): Promise<boolean> =>
  tx.exists(sql.unsafe`
    select from ingest.events
    where project_id = ${projectId} and event_id = ${eventId} and occurred_at = ${toText(occurredAt)}::timestamptz
  `);

/** Whether anything happened under an identifier. */
export const hasHappened = async (
  { tx, projectId }: Scope,
  { anonymousId, externalId }: { anonymousId: string; externalId: string },
): Promise<boolean> =>
  (await tx.exists(sql.unsafe`
    select from ingest.events where project_id = ${projectId} and external_id is null and anonymous_id = ${anonymousId}
  `)) ||
  (await tx.exists(sql.unsafe`
    select from ingest.events where project_id = ${projectId} and external_id = ${externalId}
  `));
