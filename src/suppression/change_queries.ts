import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { SuppressionReason } from './queries.ts';

const at = (moment: Date | null) => (moment === null ? null : sql.timestamp(moment));

export type NewSuppression = {
  addressKey: Buffer;
  email: string;
  historyId: string;
  reason: SuppressionReason;
  source: string;
  /** When it became so, by whoever says it; null is now, after all that is known. */
  at?: Date | null;
  note?: string | null;
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
      at => ${at(suppression.at ?? null)},
      note => ${suppression.note ?? null}
    )
  `);

export type NewLift = {
  addressKey: Buffer;
  historyId: string;
  source: string;
  note: string;
  liftsComplaints: boolean;
};

const Lifted = z.strictObject({ lift_address: z.boolean() });

/** Takes an address off the list; answers whether it was on it. Refuses an unconfirmed lift of a complaint. */
export const liftAddress = async ({ tx, projectId }: Scope, lift: NewLift): Promise<boolean> => {
  const { lift_address } = await tx.one(sql.type(Lifted)`
    select lift_address
    from suppression.lift_address(
      project_id => ${projectId},
      address_key => ${sql.binary(lift.addressKey)},
      history_id => ${lift.historyId},
      source => ${lift.source},
      note => ${lift.note},
      lifts_complaints => ${lift.liftsComplaints}
    )
  `);
  return lift_address;
};

export type SubscriptionChange = {
  addressKey: Buffer;
  /** How the address reads, where that is known. */
  email: string | null;
  historyId: string;
  change: 'unsubscribed' | 'resubscribed';
  source: string;
  at: Date | null;
  note?: string | null;
};

const Changed = z.strictObject({ change_subscription: z.boolean() });

/** Unsubscribes or resubscribes an address; answers whether that changed anything. */
export const changeSubscription = async (
  { tx, projectId }: Scope,
  change: SubscriptionChange,
): Promise<boolean> => {
  const { change_subscription } = await tx.one(sql.type(Changed)`
    select change_subscription
    from suppression.change_subscription(
      project_id => ${projectId},
      address_key => ${sql.binary(change.addressKey)},
      email => ${change.email},
      history_id => ${change.historyId},
      change => ${change.change},
      source => ${change.source},
      at => ${at(change.at)},
      note => ${change.note ?? null}
    )
  `);
  return change_subscription;
};

export type ImportRow = { addressKey: Buffer; email: string; reason: string; historyId: string };

const Imported = z.strictObject({ import_addresses: z.int() });

/** Says an import's word of each address; answers of how many it was new. */
export const importAddresses = async (
  { tx, projectId }: Scope,
  { importId, source, note }: { importId: string; source: string; note: string | null },
  rows: readonly ImportRow[],
): Promise<number> => {
  const { import_addresses } = await tx.one(sql.type(Imported)`
    select import_addresses
    from suppression.import_addresses(
      project_id => ${projectId},
      import_id => ${importId},
      source => ${source},
      note => ${note},
      address_keys => ${sql.array(
        rows.map(({ addressKey }) => addressKey),
        'bytea',
      )},
      emails => ${sql.array(
        rows.map(({ email }) => email),
        'text',
      )},
      reasons => ${sql.array(
        rows.map(({ reason }) => reason),
        'text',
      )},
      history_ids => ${sql.array(
        rows.map(({ historyId }) => historyId),
        'uuid',
      )}
    )
  `);
  return import_addresses;
};

const Undone = z.strictObject({ undo_import: z.int() });

/** Takes an import's words of some addresses back; answers how many are left alone no longer. */
export const undoImport = async (
  { tx, projectId }: Scope,
  { importId, source }: { importId: string; source: string },
  rows: readonly { addressKey: Buffer; historyId: string }[],
): Promise<number> => {
  const { undo_import } = await tx.one(sql.type(Undone)`
    select undo_import
    from suppression.undo_import(
      project_id => ${projectId},
      import_id => ${importId},
      source => ${source},
      address_keys => ${sql.array(
        rows.map(({ addressKey }) => addressKey),
        'bytea',
      )},
      history_ids => ${sql.array(
        rows.map(({ historyId }) => historyId),
        'uuid',
      )}
    )
  `);
  return undo_import;
};

const ImportedAddress = z.strictObject({
  address_key: z.instanceof(Buffer),
  email: z.string().nullable(),
});

/** The addresses of an import. */
export const listImported = ({ tx, projectId }: Scope, importId: string, addressesMax: number) =>
  tx.any(sql.type(ImportedAddress)`
    select distinct address.address_key, address.email
    from suppression.history as said
    join suppression.addresses as address
      on address.project_id = said.project_id and address.address_key = said.address_key
    where said.project_id = ${projectId} and address.project_id = ${projectId}
    and said.import_id = ${importId}
    order by address.address_key
    limit ${addressesMax}
  `);

const Free = z.strictObject({ count: z.int() });

/** How many addresses of an import may get mail of any kind now. */
export const countFree = async ({ tx, projectId }: Scope, importId: string): Promise<number> => {
  const { count } = await tx.one(sql.type(Free)`
    select count(distinct address.address_key)::integer as count
    from suppression.history as said
    join suppression.addresses as address
      on address.project_id = said.project_id and address.address_key = said.address_key
    where said.project_id = ${projectId} and address.project_id = ${projectId}
    and said.import_id = ${importId} and address.suppressed_at is null
    and (address.unsubscribed_at >= coalesce(address.resubscribed_at, '-infinity')) is not true
  `);
  return count;
};
