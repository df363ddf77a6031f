import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { ChangeNotes } from '../profiles/profiles.ts';

export type Wake = { profile_id: string; wake_on: string };

/** Windows end for all people at midnight. Each is evaluated at a moment of its own in so many seconds after it. */
export const WAKE_SPREAD_SECONDS = 3_600;

/** Keeps when profiles are evaluated again: in the hour after that midnight, or earlier where that was kept. */
export const keepWakes = async (
  { tx, projectId }: Scope,
  wakes: readonly Wake[],
): Promise<void> => {
  if (wakes.length === 0) return;
  await tx.query(sql.unsafe`
    insert into segments.wakeups as kept (project_id, profile_id, wake_at)
    select ${projectId}, wake.profile_id, wake.wake_on::timestamp at time zone 'UTC'
      + make_interval(secs => abs(hashtextextended(wake.profile_id::text, 0) % ${WAKE_SPREAD_SECONDS}))
    from unnest(
      ${sql.array(
        wakes.map(({ profile_id }) => profile_id),
        'uuid',
      )},
      ${sql.array(
        wakes.map(({ wake_on }) => wake_on),
        'date',
      )}
    ) as wake (profile_id, wake_on)
    order by wake.profile_id
    on conflict (project_id, profile_id) do update set wake_at = least(kept.wake_at, excluded.wake_at)
  `);
};

/** A person who could not be evaluated, and the notes that the evaluation was for; null where only time has passed. */
export type Postponed = { profileId: string; noted: ChangeNotes | null };

/** Leaves out what changed: a postponed person is asked everything, because the wake-up took the place of others. */
const toStored = ({ source, reasons }: ChangeNotes): string => JSON.stringify({ source, reasons });

/**
 * Sets when people are evaluated next, in place of any moment that was set before, and keeps the notes that the
 * evaluation was for. The profiles must exist.
 */
export const postponeWakes = async (
  { tx, projectId }: Scope,
  postponed: readonly Postponed[],
  until: Date,
): Promise<void> => {
  if (postponed.length === 0) return;
  await tx.query(sql.unsafe`
    insert into segments.wakeups as kept (project_id, profile_id, wake_at, noted)
    select ${projectId}, postponed.profile_id, ${sql.timestamp(until)}, postponed.noted
    from unnest(
      ${sql.array(
        postponed.map(({ profileId }) => profileId),
        'uuid',
      )},
      ${sql.array(
        postponed.map(({ noted }) => noted && toStored(noted)),
        'jsonb',
      )}
    ) as postponed (profile_id, noted)
    order by postponed.profile_id
    on conflict (project_id, profile_id) do update
    set wake_at = excluded.wake_at, noted = coalesce(excluded.noted, kept.noted)
  `);
};

const StoredNotes = z.strictObject({
  source: z.enum(['server', 'browser']).nullable(),
  reasons: z.array(z.json()),
});
const PostponedRow = z.strictObject({ profile_id: z.uuid(), noted: StoredNotes });

/** Lists those of some people who could not be evaluated before, with the notes that the evaluation was for. */
export const listPostponed = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<Map<string, ChangeNotes>> => {
  const rows = await tx.any(sql.type(PostponedRow)`
    select profile_id, noted from segments.wakeups
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and noted is not null
  `);
  return new Map(rows.map(({ profile_id, noted }) => [profile_id, { ...noted, aspects: null }]));
};

export const deleteWakes = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.query(sql.unsafe`
    delete from segments.wakeups
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
  `);

const DueRow = z.strictObject({ profile_id: z.uuid(), noted: StoredNotes.nullable() });

/**
 * Lists people whose segments are due by time: their day has come, or they could not be evaluated before. The notes are
 * those that such an evaluation was for.
 */
export const listDueWakes = async (
  { tx, projectId }: Scope,
  now: Date,
  limit: number,
): Promise<{ ids: string[]; notes: Map<string, ChangeNotes> }> => {
  const rows = await tx.any(sql.type(DueRow)`
    select profile_id, noted from segments.wakeups
    where project_id = ${projectId} and wake_at <= ${sql.timestamp(now)}
    order by wake_at, profile_id
    limit ${limit}
  `);
  const postponed = rows.flatMap(({ profile_id, noted }): [string, ChangeNotes][] =>
    noted ? [[profile_id, { ...noted, aspects: null }]] : [],
  );
  return { ids: rows.map(({ profile_id }) => profile_id), notes: new Map(postponed) };
};

const Due = z.strictObject({ profile_id: z.uuid() });

/**
 * Lists those of some profiles that are due by time on a day, whatever the moment of the day is. A person who could not
 * be evaluated waits for that moment.
 */
export const listDueWakesOf = async (
  { tx, projectId }: Scope,
  today: string,
  profileIds: readonly string[],
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Due)`
    select profile_id from segments.wakeups
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and wake_at < (${today}::timestamp + case when noted is null then interval '1 day' else interval '0' end)
      at time zone 'UTC'
  `);
  return rows.map(({ profile_id }) => profile_id);
};
