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

const Held = z.strictObject({ hold_address: z.boolean() });

/** Says whether an address was erased, which stays true until the transaction ends. */
export const holdAddress = async (
  { tx, projectId }: Scope,
  addressKey: Buffer,
): Promise<boolean> => {
  const { hold_address } = await tx.one(sql.type(Held)`
    select hold_address
    from suppression.hold_address(project_id => ${projectId}, address_key => ${sql.binary(addressKey)})
  `);
  return hold_address;
};

/** Locks addresses until the transaction ends, in the order of all locks. */
export const holdAddresses = ({ tx, projectId }: Scope, addressKeys: readonly Buffer[]) =>
  tx.query(sql.unsafe`
    select suppression.hold_addresses(
      project_id => ${projectId}, address_keys => ${sql.array([...addressKeys], 'bytea')}
    )
  `);

const Erased = z.strictObject({ erase_addresses: z.int() });

/** Forgets how addresses read; answers how many could be read. Suppressions stay in force. */
export const eraseAddresses = async (
  { tx, projectId }: Scope,
  addressKeys: readonly Buffer[],
): Promise<number> => {
  const { erase_addresses } = await tx.one(sql.type(Erased)`
    select erase_addresses
    from suppression.erase_addresses(
      project_id => ${projectId}, address_keys => ${sql.array([...addressKeys], 'bytea')}, at => now()
    )
  `);
  return erase_addresses;
};

const Change = z.strictObject({
  change: z.enum(['suppressed', 'released']),
  reason: z.string(),
  source: z.string(),
  changed_at: z.date(),
});
export type Change = z.output<typeof Change>;

const CHANGES_MAX = 1_000;

/** What was done about an address, the newest first. */
export const listChanges = ({ tx, projectId }: Scope, addressKey: Buffer) =>
  tx.any(sql.type(Change)`
    select change, reason, source, changed_at from suppression.history
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)}
    order by changed_at desc, history_id
    limit ${CHANGES_MAX}
  `);
