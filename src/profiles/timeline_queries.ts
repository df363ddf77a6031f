import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { IDENTIFIER_KINDS } from '../identity/identity.ts';
import type { Identity } from '../identity/identity.ts';
import { Entry } from '../ingest/ingest.ts';

const KnownRow = z.strictObject({
  kind: z.enum(IDENTIFIER_KINDS).nullable(),
  value: z.string().nullable(),
  first_seen_at: z.date().nullable(),
  /** The latest of what they did and what was observed of them, to the month. */
  latest_at: z.date().nullable(),
  is_work_waiting: z.boolean(),
});

/** By which identifiers a timeline is read, and from when until which month there is something of each. */
export type Known = Pick<Identity, 'kind' | 'value' | 'first_seen_at'> &
  Pick<z.output<typeof KnownRow>, 'latest_at'>;

/** Whose timeline it is, as of one moment, and whether new events of the project wait to be processed then. */
export type Person = { identities: Known[]; isWorkWaiting: boolean };

/**
 * Whose timeline a profile's id or an external id names, in one look: of a profile that was merged it is the one
 * it was merged into. Null when there is nobody, or when they are being erased.
 */
export const findPerson = async (
  { tx, projectId }: Scope,
  { by, value }: { by: 'id' | 'external'; value: string },
): Promise<Person | null> => {
  const profileId =
    by === 'id'
      ? sql.fragment`${value}::uuid`
      : sql.fragment`(
          select profile_id from identity.identities
          where project_id = ${projectId} and kind = 'external' and value = ${value}
        )`;
  // Each step is a look-up by key. Joined freely, the planner, who thinks that people are alike, may read everybody.
  const rows = await tx.any(sql.type(KnownRow)`
    select known.kind, known.value, known.first_seen_at, known.latest_at, exists (
      select from ingest.pending where project_id = ${projectId} and retry_at is null
    ) as is_work_waiting
    from (
      select coalesce(merged_into, profile_id) as profile_id from profiles.profiles
      where project_id = ${projectId} and profile_id = ${profileId} and erasure_id is null
      offset 0
    ) as named
    cross join lateral (
      select profile_id from profiles.profiles
      where project_id = ${projectId} and profile_id = named.profile_id and erasure_id is null
      offset 0
    ) as person
    left join lateral (
      select kind, value, first_seen_at, greatest(last_seen_at, observed_at) as latest_at from identity.identities
      where project_id = ${projectId} and profile_id = person.profile_id and erasure_id is null
      offset 0
    ) as known on true
    order by known.kind desc, known.value
  `);
  if (!rows[0]) return null;
  const identities = rows.flatMap(({ kind, value: known, first_seen_at, latest_at }) =>
    kind === null || known === null ? [] : [{ kind, value: known, first_seen_at, latest_at }],
  );
  return { identities, isWorkWaiting: rows[0].is_work_waiting };
};

/** A place between entries. Newest first, what is older than it comes after it. */
export type Position = { occurred_at: Date; event_id: string };

/** The events of one identifier that are older than a position. */
export type Source = { kind: Identity['kind']; value: string; position: Position };

/** A stretch of time and what is wanted of it. The range says which months are opened. */
export type Reading = {
  from: Date;
  /** Exclusive. */
  to: Date;
  /** How many events of each source are looked at. */
  share: number;
  event?: string | undefined;
  /** RFC 3339, exclusive both. */
  after?: string | undefined;
  before?: string | undefined;
};

const Read = Entry.extend({
  /** Which of the sources it is of, from 0, and the how manieth of that, from 1. */
  of_source: z.int(),
  place: z.int(),
});
export type Read = z.output<typeof Read>;

/** An event belongs to its external id, and to its anonymous id where it has none. */
const belongsTo = {
  external: sql.fragment`external_id = known.value`,
  anonymous: sql.fragment`external_id is null and anonymous_id = known.value`,
};

/**
 * Of each source the newest events, by key: one walk down one index per source and month. Of those
 * the ones of a name, and always the last of a full share, which says how far that source was read.
 */
export const listNewestOf = (
  { tx, projectId }: Scope,
  sources: readonly Source[],
  { from, to, share, event, after, before }: Reading,
) => {
  const filters = [
    sql.fragment`occurred_at >= ${sql.timestamp(from)} and occurred_at < ${sql.timestamp(to)}`,
    ...(after === undefined ? [] : [sql.fragment`occurred_at > ${after}::timestamptz`]),
    ...(before === undefined ? [] : [sql.fragment`occurred_at < ${before}::timestamptz`]),
  ];
  const wanted =
    event === undefined
      ? sql.fragment`true`
      : sql.fragment`(newest.event = ${event} or newest.place = ${share})`;
  const read = (kind: Source['kind']) => {
    const known = sources.flatMap((source, at) =>
      source.kind === kind ? [{ ...source, at }] : [],
    );
    const column = (of: (source: (typeof known)[number]) => string | number, type: string) =>
      sql.array(known.map(of), type);
    const columns = [
      column(({ at }) => at, 'int4'),
      column(({ value }) => value, 'text'),
      column(({ position }) => position.occurred_at.toISOString(), 'timestamptz'),
      column(({ position }) => position.event_id, 'uuid'),
    ];
    // With ties, so that the index alone gives the order: a sort by id too would let the planner, who thinks
    // that people are alike, read all of somebody's past to sort it. Of one moment everything is read, but no more
    // than a share of it is kept: it may hold an import of thousands.
    return sql.fragment`
      select known.of_source, newest.*
      from unnest(${sql.join(columns, sql.fragment`, `)}) as known (of_source, value, occurred_at, event_id)
      cross join lateral (
        select kept.*, row_number() over (order by occurred_at desc, event_id desc) as place
        from (
          select walked.* from (
            select event_id, name as event, external_id, anonymous_id, properties, occurred_at, received_at, source
            from ingest.events
            where project_id = ${projectId} and ${belongsTo[kind]}
            and (occurred_at, event_id) < (known.occurred_at, known.event_id)
            and ${sql.join(filters, sql.fragment` and `)}
            order by occurred_at desc
            fetch first (${share}) rows with ties
          ) as walked
          order by occurred_at desc, event_id desc
          limit ${share}
        ) as kept
      ) as newest
      where ${wanted}`;
  };
  const kinds = [...new Set(sources.map(({ kind }) => kind))];
  return tx.any(sql.type(Read)`${sql.join(kinds.map(read), sql.fragment` union all `)}`);
};
