import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Notice } from './notice.ts';

export type NoticeRow = Pick<
  Notice,
  'kind' | 'bounceType' | 'suppresses' | 'isTest' | 'occurredAt' | 'reason' | 'dedupeKey'
> & {
  source: string;
  /** Null, as the reason, where the address was erased. */
  addressKey: Buffer | null;
  sendId: string | null;
};

const Inserted = z.strictObject({ dedupe_key: z.string() });

/** Keeps a notice; answers whether it is new. */
export const insertNotice = async ({ tx, projectId }: Scope, row: NoticeRow): Promise<boolean> => {
  const inserted = await tx.maybeOne(sql.type(Inserted)`
    insert into feedback.notices (project_id, source, dedupe_key, kind, bounce_type, address_key, send_id, occurred_at,
      received_at, reason, suppresses, is_test)
    values (${projectId}, ${row.source}, ${row.dedupeKey}, ${row.kind}, ${row.bounceType},
      ${row.addressKey && sql.binary(row.addressKey)}, ${row.sendId}, ${sql.timestamp(row.occurredAt)}, now(),
      ${row.reason}, ${row.suppresses}, ${row.isTest})
    on conflict do nothing
    returning dedupe_key
  `);
  return inserted !== null;
};

const Key = z.strictObject({ source: z.string(), dedupe_key: z.string() });

/** Whether a notice was taken in before. */
export const isKnown = ({ tx, projectId }: Scope, source: string, dedupeKey: string) =>
  tx.exists(sql.unsafe`
    select from feedback.notices
    where project_id = ${projectId} and source = ${source} and dedupe_key = ${dedupeKey}
  `);

/** Whether another notice of these sources told of the same bounce of a send. Found by the address: it has few. */
export const wasToldBounce = (
  { tx, projectId }: Scope,
  { addressKey, sendId, bounceType, source, dedupeKey }: NoticeRow,
  sourcesLike: string,
): Promise<boolean> =>
  addressKey === null
    ? Promise.resolve(false)
    : tx.exists(sql.unsafe`
        select from feedback.notices
        where project_id = ${projectId} and address_key = ${sql.binary(addressKey)} and send_id = ${sendId}
        and kind = 'bounced' and bounce_type = ${bounceType} and not is_test
        and source like ${sourcesLike} and (source, dedupe_key) <> (${source}, ${dedupeKey})
      `);

/** Overwrites notices about addresses; answers how many, `noticesMax` at most. */
export const eraseNotices = async (
  { tx, projectId }: Scope,
  addressKeys: readonly Buffer[],
  noticesMax: number,
): Promise<number> => {
  const keys = await tx.any(sql.type(Key)`
    select notice.source, notice.dedupe_key
    from unnest(${sql.array([...addressKeys], 'bytea')}) as known (address_key)
    cross join lateral (
      select source, dedupe_key from feedback.notices
      where project_id = ${projectId} and address_key = known.address_key
      order by source, dedupe_key
      limit ${noticesMax}
    ) as notice
    limit ${noticesMax}
  `);
  const column = (read: (key: z.output<typeof Key>) => string) => sql.array(keys.map(read), 'text');
  await tx.query(sql.unsafe`
    update feedback.notices
    set reason = null, address_key = null
    where project_id = ${projectId} and (source, dedupe_key) in (
      select * from unnest(${column(({ source }) => source)}, ${column(({ dedupe_key }) => dedupe_key)})
    )
  `);
  return keys.length;
};

const NoticeOfAddress = Key.extend({
  kind: z.string(),
  bounce_type: z.string().nullable(),
  send_id: z.uuid().nullable(),
  occurred_at: z.date(),
  received_at: z.date(),
  reason: z.string().nullable(),
});
export type NoticeOfAddress = z.output<typeof NoticeOfAddress>;

/** What providers told about an address, page by page. */
export const listNotices = (
  { tx, projectId }: Scope,
  addressKey: Buffer,
  { after, limit }: { after: [source: string, dedupeKey: string] | null; limit: number },
) => {
  const later = after
    ? sql.fragment`and (source, dedupe_key) > (${after[0]}, ${after[1]})`
    : sql.fragment``;
  return tx.any(sql.type(NoticeOfAddress)`
    select source, dedupe_key, kind, bounce_type, send_id, occurred_at, received_at, reason from feedback.notices
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)} ${later}
    order by source, dedupe_key
    limit ${limit}
  `);
};

const Arrived = z.strictObject({
  kind: z.string(),
  bounce_type: z.string().nullable(),
  suppresses: z.string().nullable(),
  is_test: z.boolean(),
  send_id: z.uuid().nullable(),
  occurred_at: z.date(),
  received_at: z.date(),
});
export type Arrived = z.output<typeof Arrived>;

/** What a provider told last. */
export const listArrived = ({ tx, projectId }: Scope, source: string, limit: number) =>
  tx.any(sql.type(Arrived)`
    select kind, bounce_type, suppresses, is_test, send_id, occurred_at, received_at from feedback.notices
    where project_id = ${projectId} and source = ${source}
    order by received_at desc
    limit ${limit}
  `);
