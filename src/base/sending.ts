import { z } from 'zod';
import { sql } from './db.ts';
import type { Db } from './db.ts';
import type { Deps } from './deps.ts';

const Row = z.strictObject({
  is_held: z.boolean(),
  is_elsewhere: z.boolean(),
  held_at: z.date().nullable(),
});
/** Whether anything may leave the house, whether the database is another than the one that may, and since when. */
export type Sending = z.output<typeof Row>;

/** How sending stands. */
export const readSending = (db: Db): Promise<Sending> =>
  db.one(sql.type(Row)`
    select base.is_sending_held() as is_held, home <> base.sending_home(counts_timeline) as is_elsewhere, held_at
    from base.sending
  `);

const HeldAt = z.strictObject({ held_at: z.date() });

/** Holds all sending until somebody has it resumed; answers since when it is held. */
export const holdSending = async (db: Pick<Db, 'one'>): Promise<Date> => {
  const { held_at } = await db.one(sql.type(HeldAt)`
    update base.sending set held_at = coalesce(held_at, clock_timestamp()) returning held_at
  `);
  return held_at;
};

/** Keeps since when a database that was restored is held, the first time that anybody sees it. */
const noteRestored = (db: Db) =>
  db.query(sql.unsafe`
    update base.sending set held_at = clock_timestamp()
    where held_at is null and home <> base.sending_home(counts_timeline)
  `);

/** Sees that a database was restored, and tells the operator once. Answers whether sending is held. */
export const lookAtSending = async ({ db, log }: Pick<Deps, 'db' | 'log'>): Promise<boolean> => {
  const { rowCount } = await noteRestored(db);
  if (rowCount > 0)
    log.error('this database was restored: nothing is sent until `make resume-sending`');
  return (await readSending(db)).is_held;
};

export type Resume = {
  /** Runs that were there before this and are due by now are overdue, whatever their expires_after. Null: none is. */
  restoredAt: Date | null;
  /** Whether a failover to a standby holds sending as a restore does. Null: as it was said before. */
  countsTimeline: boolean | null;
};

/** From its commit on everything may go out: this database is the one that sends. */
export const resumeSending = async (
  db: Pick<Db, 'query'>,
  { restoredAt, countsTimeline }: Resume,
): Promise<void> => {
  const restored = restoredAt && sql.timestamp(restoredAt);
  const counts = sql.fragment`coalesce(${countsTimeline}::boolean, counts_timeline)`;
  await db.query(sql.unsafe`
    update base.sending
    set held_at = null, counts_timeline = ${counts}, home = base.sending_home(${counts}),
      restored_at = ${restored}, resumed_at = case when ${restored}::timestamptz is not null then clock_timestamp() end
  `);
};

/** Says whether a failover holds sending where nothing does: what a restore has left overdue stays so. */
export const countTimeline = async (
  db: Pick<Db, 'query'>,
  countsTimeline: boolean,
): Promise<void> => {
  await db.query(sql.unsafe`
    update base.sending
    set counts_timeline = ${countsTimeline}, home = base.sending_home(${countsTimeline})
    where not base.is_sending_held()
  `);
};
