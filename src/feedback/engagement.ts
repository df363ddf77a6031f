import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Told } from './keep.ts';

/**
 * How many opens, and how many clicks, of one email reach the timeline in a day. Image proxies and
 * link scanners repeat them without end. Events past the bound are stored, and not shown there.
 */
export const ENGAGEMENTS_MAX = 20;

const KINDS = ['opened', 'clicked'];

/** Stands for no send: an open of an email that this project did not send counts per address. */
const NO_SEND = '00000000-0000-0000-0000-000000000000';

const Count = z.strictObject({ nth: z.int(), count: z.int() });

/** An email and what was done with it. */
type Group = { addressKey: Buffer; sendId: string | null; kind: string };

/**
 * Returns how many events of some groups are stored since a day, the newest included, each up to
 * `countMax`.
 */
const countGroups = ({ tx, projectId }: Scope, groups: readonly Group[], countMax: number) => {
  const column = (read: (group: Group) => string | Buffer, type: string) =>
    sql.array(groups.map(read), type);
  return tx.any(sql.type(Count)`
    select asked.nth::integer as nth, counted.count
    from unnest(
      ${column(({ addressKey }) => addressKey, 'bytea')},
      ${column(({ sendId }) => sendId ?? NO_SEND, 'uuid')},
      ${column(({ kind }) => kind, 'text')}
    ) with ordinality as asked (address_key, send_id, kind, nth)
    cross join lateral (
      select count(*)::integer as count from (
        select from feedback.notices as stored
        where stored.project_id = ${projectId} and stored.address_key = asked.address_key
        and coalesce(stored.send_id, ${NO_SEND}::uuid) = asked.send_id and stored.kind = asked.kind
        and stored.received_at > now() - interval '1 day'
        limit ${countMax}
      ) as one
    ) as counted
  `);
};

const keyOf = ({ row }: Told): string =>
  `${row.addressKey?.toString('hex')} ${row.sendId} ${row.kind}`;

/** Returns new events without the opens and clicks that are past the bound of their email. */
export const withinBounds = async (
  scope: Scope,
  told: readonly Told[],
): Promise<readonly Told[]> => {
  const bounded = told.filter(({ row }) => KINDS.includes(row.kind) && row.addressKey !== null);
  if (bounded.length === 0) return told;
  const groups = [...Map.groupBy(bounded, keyOf).values()];
  const counts = await countGroups(
    scope,
    groups.flatMap(([one]) =>
      one ? [{ addressKey: one.row.addressKey ?? Buffer.alloc(0), ...pick(one) }] : [],
    ),
    ENGAGEMENTS_MAX + bounded.length,
  );
  const past = new Set<Told>();
  for (const { nth, count } of counts) {
    const group = groups[nth - 1] ?? [];
    const room = Math.max(0, ENGAGEMENTS_MAX - (count - group.length));
    for (const one of inOrder(group).slice(room)) past.add(one);
  }
  return told.filter((one) => !past.has(one));
};

const pick = ({ row: { sendId, kind } }: Told) => ({ sendId, kind });

const inOrder = (group: readonly Told[]): Told[] =>
  group.toSorted((a, b) => a.notice.occurredAt.getTime() - b.notice.occurredAt.getTime());
