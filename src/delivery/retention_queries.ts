import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Row = z.strictObject({
  content_days: z.int().nullable(),
  sends_months: z.int().nullable(),
});
type Row = z.output<typeof Row>;

export const readRow = ({ tx, projectId }: Scope) =>
  tx.maybeOne(sql.type(Row)`
    select content_days, sends_months from delivery.settings where project_id = ${projectId}
  `);

export const writeRow = ({ tx, projectId }: Scope, { content_days, sends_months }: Row) =>
  tx.query(sql.unsafe`
    insert into delivery.settings (project_id, content_days, sends_months)
    values (${projectId}, ${content_days}, ${sends_months})
    on conflict (project_id) do update
    set content_days = excluded.content_days, sends_months = excluded.sends_months
  `);

const Cutoffs = z.strictObject({ now: z.date(), content: z.date(), months: z.date() });

/** Returns the moments before which content, and months of sends, are no longer kept. Months go whole, in UTC. */
export const readCutoffs = ({ tx }: Scope, days: number, months: number) =>
  tx.one(sql.type(Cutoffs)`
    select now() as now, now() - make_interval(days => ${days}) as content,
      date_trunc('month', now() at time zone 'UTC' - make_interval(months => ${months})) at time zone 'UTC' as months
  `);

/** What waits or may be out stays, however old it is. */
const isSettled = sql.fragment`send.status not in ('queued', 'handing_off', 'unknown')`;

const Id = z.strictObject({ send_id: z.uuid() });
const Listed = z.strictObject({ send_id: z.uuid(), run_id: z.uuid().nullable() });
type Page = { after: string; before: string; limit: number };

/** The next sends that have content, by their ids. */
export const listWithContent = ({ tx, projectId }: Scope, { after, before, limit }: Page) =>
  tx.any(sql.type(Id)`
    select send_id from delivery.contents
    where project_id = ${projectId} and send_id > ${after} and send_id < ${before}
    order by send_id
    limit ${limit}
  `);

/** The next sends, by their ids. */
export const listPast = ({ tx, projectId }: Scope, { after, before, limit }: Page) =>
  tx.any(sql.type(Listed)`
    select send_id, run_id from delivery.sends
    where project_id = ${projectId} and send_id > ${after} and send_id < ${before}
    order by send_id
    limit ${limit}
  `);

/** Locks those of some sends that are settled; others that are being changed are left for the next day. */
const lockSettled = async (
  { tx, projectId }: Scope,
  sendIds: readonly string[],
  before: Date,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Id)`
    select send.send_id from delivery.sends as send
    where send.project_id = ${projectId} and send.send_id = any (${sql.array([...sendIds], 'uuid')}) and ${isSettled}
    and greatest(send.queued_at, send.handed_off_at, send.accepted_at, send.delivered_at, send.bounced_at,
      send.complained_at) < ${before.toISOString()}::timestamptz
    order by send.send_id
    for update skip locked
  `);
  return rows.map(({ send_id }) => send_id);
};

/** Removes what was rendered for some sends, and what providers answered. Returns how many there were. */
export const removeContent = async (
  scope: Scope,
  sendIds: readonly string[],
  { now, before }: { now: Date; before: Date },
): Promise<number> => {
  const { tx, projectId } = scope;
  const settled = await lockSettled(scope, sendIds, before);
  if (settled.length === 0) return 0;
  const ids = sql.array(settled, 'uuid');
  await tx.query(sql.unsafe`
    update delivery.attempts set reply_code = null, reply_enhanced = null, reply_text = null, queue_id = null
    where project_id = ${projectId} and send_id = any (${ids})
    and (reply_code is not null or reply_text is not null or queue_id is not null)
  `);
  await tx.query(sql.unsafe`
    update delivery.sends set subject = null, content_removed_at = ${now.toISOString()}
    where project_id = ${projectId} and send_id = any (${ids})
  `);
  await tx.query(sql.unsafe`
    delete from delivery.contents where project_id = ${projectId} and send_id = any (${ids})
  `);
  return settled.length;
};

/** Deletes those of some sends that are settled, with their attempts and content. Returns how many. */
export const deleteSends = async (
  scope: Scope,
  sendIds: readonly string[],
  before: Date,
): Promise<number> => {
  const settled = await lockSettled(scope, sendIds, before);
  if (settled.length === 0) return 0;
  await scope.tx.query(sql.unsafe`
    delete from delivery.sends
    where project_id = ${scope.projectId} and send_id = any (${sql.array(settled, 'uuid')})
  `);
  return settled.length;
};
