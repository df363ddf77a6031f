import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'manual'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

const Suppressed = z.strictObject({
  email: z.string().nullable(),
  reason: z.enum(SUPPRESSION_REASONS),
  source: z.string(),
  suppressed_at: z.date(),
});
export type Suppressed = z.output<typeof Suppressed>;

export type NewSuppression = {
  addressKey: Buffer;
  email: string;
  historyId: string;
  reason: SuppressionReason;
  source: string;
};

export const suppressAddress = ({ tx, projectId }: Scope, suppression: NewSuppression) =>
  tx.query(sql.unsafe`
    select from suppression.suppress_address(
      project_id => ${projectId},
      address_key => ${sql.binary(suppression.addressKey)},
      email => ${suppression.email},
      history_id => ${suppression.historyId},
      reason => ${suppression.reason},
      source => ${suppression.source},
      at => now()
    )
  `);

export const findSuppressed = ({ tx, projectId }: Scope, addressKey: Buffer) =>
  tx.maybeOne(sql.type(Suppressed)`
    select email, reason, source, suppressed_at from suppression.addresses
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)} and suppressed_at is not null
  `);

const Listed = Suppressed.extend({ address_key: z.instanceof(Buffer) });
export type Listed = z.output<typeof Listed>;

export type SuppressionPage = {
  limit: number;
  before: { suppressedAt: Date; addressKey: Buffer } | null;
};

export const listSuppressed = ({ tx, projectId }: Scope, { limit, before }: SuppressionPage) => {
  const earlier = before
    ? sql.fragment`and (suppressed_at, address_key)
        < (${sql.timestamp(before.suppressedAt)}, ${sql.binary(before.addressKey)})`
    : sql.fragment``;
  return tx.any(sql.type(Listed)`
    select email, reason, source, suppressed_at, address_key from suppression.addresses
    where project_id = ${projectId} and suppressed_at is not null ${earlier}
    order by suppressed_at desc, address_key desc
    limit ${limit}
  `);
};

const Reason = z.strictObject({ reason: z.enum(SUPPRESSION_REASONS) });

/** Everything that an address was ever suppressed for and still is. */
export const listSuppressionReasons = ({ tx, projectId }: Scope, addressKey: Buffer) =>
  tx.any(sql.type(Reason)`
    select distinct history.reason
    from suppression.addresses as address
    join suppression.history as history
      on history.project_id = address.project_id and history.address_key = address.address_key
    where address.project_id = ${projectId} and history.project_id = ${projectId}
    and address.address_key = ${sql.binary(addressKey)}
    and address.suppressed_at is not null and history.change = 'suppressed'
    order by history.reason
  `);
