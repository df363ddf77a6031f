import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { NewSuppression, SubscriptionChange } from './change_queries.ts';

// What feedback tells of many addresses in one statement: each is changed as if it were told alone, in this order.

const instant = (moment: Date | null | undefined) => moment?.toISOString() ?? null;

/** Puts addresses on the list. */
export const suppressAddresses = ({ tx, projectId }: Scope, told: readonly NewSuppression[]) => {
  const column = (read: (one: NewSuppression) => string | Buffer | null, type: string) =>
    sql.array(told.map(read), type);
  return tx.query(sql.unsafe`
    select
    from unnest(
      ${column(({ addressKey }) => addressKey, 'bytea')},
      ${column(({ email }) => email, 'text')},
      ${column(({ historyId }) => historyId, 'uuid')},
      ${column(({ reason }) => reason, 'text')},
      ${column(({ source }) => source, 'text')},
      ${column(({ at }) => instant(at), 'timestamptz')},
      ${column(({ note }) => note ?? null, 'text')}
    ) as told (address_key, email, history_id, reason, source, at, note)
    cross join lateral suppression.suppress_address(
      project_id => ${projectId},
      address_key => told.address_key,
      email => told.email,
      history_id => told.history_id,
      reason => told.reason,
      source => told.source,
      at => told.at,
      note => told.note
    ) as done
  `);
};

/** Unsubscribes or resubscribes addresses. */
export const changeSubscriptions = (
  { tx, projectId }: Scope,
  told: readonly SubscriptionChange[],
) => {
  const column = (read: (one: SubscriptionChange) => string | Buffer | null, type: string) =>
    sql.array(told.map(read), type);
  return tx.query(sql.unsafe`
    select
    from unnest(
      ${column(({ addressKey }) => addressKey, 'bytea')},
      ${column(({ email }) => email, 'text')},
      ${column(({ historyId }) => historyId, 'uuid')},
      ${column(({ change }) => change, 'text')},
      ${column(({ source }) => source, 'text')},
      ${column(({ at }) => instant(at), 'timestamptz')},
      ${column(({ note }) => note ?? null, 'text')}
    ) as told (address_key, email, history_id, change, source, at, note)
    cross join lateral suppression.change_subscription(
      project_id => ${projectId},
      address_key => told.address_key,
      email => told.email,
      history_id => told.history_id,
      change => told.change,
      source => told.source,
      at => told.at,
      note => told.note
    ) as done
  `);
};

export type SoftBounced = {
  addressKey: Buffer;
  email: string;
  historyId: string;
  source: string;
  since: Date | null;
};

/** Says of addresses since when they have bounced softly too often in a row. */
export const setSoftBounced = ({ tx, projectId }: Scope, told: readonly SoftBounced[]) => {
  const column = (read: (one: SoftBounced) => string | Buffer | null, type: string) =>
    sql.array(told.map(read), type);
  return tx.query(sql.unsafe`
    select
    from unnest(
      ${column(({ addressKey }) => addressKey, 'bytea')},
      ${column(({ email }) => email, 'text')},
      ${column(({ historyId }) => historyId, 'uuid')},
      ${column(({ source }) => source, 'text')},
      ${column(({ since }) => instant(since), 'timestamptz')}
    ) as told (address_key, email, history_id, source, since)
    cross join lateral suppression.set_soft_bounced(
      project_id => ${projectId},
      address_key => told.address_key,
      email => told.email,
      history_id => told.history_id,
      source => told.source,
      since => told.since,
      at => now()
    ) as done
  `);
};
