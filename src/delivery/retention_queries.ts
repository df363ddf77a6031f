import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Row = z.strictObject({
  content_days: z.int().nullable(),
  sends_months: z.int().nullable(),
  runs_months: z.int().nullable(),
  anonymous_months: z.int().nullable(),
});
type Row = z.output<typeof Row>;

export const readRow = ({ tx, projectId }: Scope) =>
  tx.maybeOne(sql.type(Row)`
    select content_days, sends_months, runs_months, anonymous_months from delivery.settings
    where project_id = ${projectId}
  `);

export const writeRow = ({ tx, projectId }: Scope, row: Row) =>
  tx.query(sql.unsafe`
    insert into delivery.settings (project_id, content_days, sends_months, runs_months, anonymous_months)
    values (${projectId}, ${row.content_days}, ${row.sends_months}, ${row.runs_months}, ${row.anonymous_months})
    on conflict (project_id) do update
    set content_days = excluded.content_days, sends_months = excluded.sends_months, runs_months = excluded.runs_months,
      anonymous_months = excluded.anonymous_months
  `);

const Cutoffs = z.strictObject({
  now: z.date(),
  content: z.date(),
  sends: z.date(),
  runs: z.date(),
  anonymous: z.date(),
  events: z.date(),
});
export type Cutoffs = z.output<typeof Cutoffs>;

type Kept = { contentDays: number; sends: number; runs: number; anonymous: number; events: number };

const monthsAgo = (months: number) => sql.fragment`
  date_trunc('month', now() at time zone 'UTC' - make_interval(months => ${months})) at time zone 'UTC'
`;

/**
 * Returns the moments before which content, and months of sends, runs, anonymous people and events, are no longer kept.
 * Months go whole, in UTC.
 */
export const readCutoffs = ({ tx }: Scope, kept: Kept) =>
  tx.one(sql.type(Cutoffs)`
    select now() as now, now() - make_interval(days => ${kept.contentDays}) as content,
      ${monthsAgo(kept.sends)} as sends, ${monthsAgo(kept.runs)} as runs,
      ${monthsAgo(kept.anonymous)} as anonymous, ${monthsAgo(kept.events)} as events
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

const Settled = Id.extend({ automation_id: z.uuid().nullable(), is_accepted: z.boolean() });
type Settled = z.output<typeof Settled>;

/** Locks those of some sends that are settled; others that are being changed are left for the next day. */
const lockSettled = ({ tx, projectId }: Scope, sendIds: readonly string[], before: Date) =>
  tx.any(sql.type(Settled)`
    select send.send_id, send.automation_id, send.accepted_at is not null as is_accepted from delivery.sends as send
    where send.project_id = ${projectId} and send.send_id = any (${sql.array([...sendIds], 'uuid')}) and ${isSettled}
    and greatest(send.queued_at, send.handed_off_at, send.accepted_at, send.delivered_at, send.bounced_at,
      send.complained_at) < ${before.toISOString()}::timestamptz
    order by send.send_id
    for update skip locked
  `);

const idsOf = (sends: readonly Settled[]) =>
  sql.array(
    sends.map(({ send_id }) => send_id),
    'uuid',
  );

/** Adds sends to the totals of their automations. */
const addTotals = async ({ tx, projectId }: Scope, sends: readonly Settled[]): Promise<void> => {
  const column = (read: (one: Settled) => string | boolean | null, type: string) =>
    sql.array(sends.map(read), type);
  await tx.query(sql.unsafe`
    insert into delivery.send_totals as total (project_id, automation_id, sends, accepted)
    select ${projectId}, past.automation_id, count(*), count(*) filter (where past.is_accepted)
    from unnest(
      ${column((one) => one.automation_id, 'uuid')}, ${column((one) => one.is_accepted, 'bool')}
    ) as past (automation_id, is_accepted)
    where past.automation_id is not null
    group by past.automation_id
    order by past.automation_id
    on conflict (project_id, automation_id) do update
    set sends = total.sends + excluded.sends, accepted = total.accepted + excluded.accepted
  `);
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
  const ids = idsOf(settled);
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

/** Deletes those of some sends that are settled, with their attempts and content, and counts them. Returns how many. */
export const deleteSends = async (
  scope: Scope,
  sendIds: readonly string[],
  before: Date,
): Promise<number> => {
  const settled = await lockSettled(scope, sendIds, before);
  if (settled.length === 0) return 0;
  await addTotals(scope, settled);
  await scope.tx.query(sql.unsafe`
    delete from delivery.sends
    where project_id = ${scope.projectId} and send_id = any (${idsOf(settled)})
  `);
  return settled.length;
};
