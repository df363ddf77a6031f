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
  /** About a message that is not this project's: it has neither address nor reason nor send. */
  isForeign: boolean;
};

const DedupeKey = z.strictObject({ dedupe_key: z.string() });

/** What stands for none in an array of bytes, which takes no null. */
const NO_ADDRESS = Buffer.alloc(0);

/** Keeps notices that are not known yet, each once; answers which were new. */
export const insertNotices = ({ tx, projectId }: Scope, rows: readonly NoticeRow[]) => {
  const column = (read: (row: NoticeRow) => string | boolean | Buffer | null, type: string) =>
    sql.array(rows.map(read), type);
  return tx.any(sql.type(DedupeKey)`
    insert into feedback.notices (project_id, source, dedupe_key, kind, bounce_type, address_key, send_id, occurred_at,
      received_at, reason, suppresses, is_test, is_foreign)
    select ${projectId}, told.source, told.dedupe_key, told.kind, told.bounce_type,
      nullif(told.address_key, ''::bytea), told.send_id, told.occurred_at, now(), told.reason, told.suppresses,
      told.is_test, told.is_foreign
    from unnest(
      ${column(({ source }) => source, 'text')},
      ${column(({ dedupeKey }) => dedupeKey, 'text')},
      ${column(({ kind }) => kind, 'text')},
      ${column(({ bounceType }) => bounceType, 'text')},
      ${column(({ addressKey }) => addressKey ?? NO_ADDRESS, 'bytea')},
      ${column(({ sendId }) => sendId, 'uuid')},
      ${column(({ occurredAt }) => occurredAt.toISOString(), 'timestamptz')},
      ${column(({ reason }) => reason, 'text')},
      ${column(({ suppresses }) => suppresses, 'text')},
      ${column(({ isTest }) => isTest, 'bool')},
      ${column(({ isForeign }) => isForeign, 'bool')}
    ) as told (source, dedupe_key, kind, bounce_type, address_key, send_id, occurred_at, reason, suppresses, is_test,
      is_foreign)
    on conflict do nothing
    returning dedupe_key
  `);
};

const Key = z.strictObject({ source: z.string(), dedupe_key: z.string() });

const Window = z.strictObject({ window: z.coerce.number() });

/** Returns the number of the present window of so many minutes, by the database's clock. */
export const readWindow = async ({ tx }: Scope, minutes: number): Promise<number> => {
  const { window } = await tx.one(sql.type(Window)`
    select floor(extract(epoch from now()) / ${minutes * 60}) as window
  `);
  return window;
};

/** Lists those of some keys of events that are stored, whenever they came, or within so many minutes. */
export const listKnown = (
  { tx, projectId }: Scope,
  source: string,
  dedupeKeys: readonly string[],
  minutes: number | null = null,
) => {
  const isRecent =
    minutes === null
      ? sql.fragment``
      : sql.fragment`and received_at > now() - make_interval(mins => ${minutes})`;
  return tx.any(sql.type(DedupeKey)`
    select dedupe_key from feedback.notices
    where project_id = ${projectId} and source = ${source}
    and dedupe_key = any (${sql.array([...dedupeKeys], 'text')}) ${isRecent}
  `);
};

/**
 * Of some bounces of sends those that another notice of these sources told of too. Each is found by its address: it
 * has few.
 */
export const listToldTwice = (
  { tx, projectId }: Scope,
  bounces: readonly NoticeRow[],
  sourcesLike: readonly string[],
) => {
  const column = (read: (row: NoticeRow) => string | Buffer | null, type: string) =>
    sql.array(bounces.map(read), type);
  return tx.any(sql.type(DedupeKey)`
    select bounce.dedupe_key
    from unnest(
      ${column(({ source }) => source, 'text')},
      ${column(({ dedupeKey }) => dedupeKey, 'text')},
      ${column(({ addressKey }) => addressKey ?? NO_ADDRESS, 'bytea')},
      ${column(({ sendId }) => sendId, 'uuid')},
      ${column(({ bounceType }) => bounceType, 'text')}
    ) as bounce (source, dedupe_key, address_key, send_id, bounce_type)
    cross join lateral (
      select from feedback.notices as told
      where told.project_id = ${projectId} and told.address_key = bounce.address_key and told.send_id = bounce.send_id
      and told.kind = 'bounced' and told.bounce_type = bounce.bounce_type and not told.is_test
      and told.source like any (${sql.array([...sourcesLike], 'text')})
      and (told.source, told.dedupe_key) <> (bounce.source, bounce.dedupe_key)
      limit 1
    ) as twice
  `);
};

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
  is_foreign: z.boolean(),
  send_id: z.uuid().nullable(),
  occurred_at: z.date(),
  received_at: z.date(),
});
export type Arrived = z.output<typeof Arrived>;

/** What a provider told last. */
export const listArrived = ({ tx, projectId }: Scope, source: string, limit: number) =>
  tx.any(sql.type(Arrived)`
    select kind, bounce_type, suppresses, is_test, is_foreign, send_id, occurred_at, received_at from feedback.notices
    where project_id = ${projectId} and source = ${source}
    order by received_at desc
    limit ${limit}
  `);
