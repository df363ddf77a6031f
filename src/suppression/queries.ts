import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** Why addresses are suppressed, the strongest reason last. */
export const SUPPRESSION_REASONS = [
  'manual',
  'soft_bounces',
  'provider_suppressed',
  'hard_bounce',
  'complaint',
] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

export const Suppressed = z.strictObject({
  email: z.string().nullable(),
  reason: z.enum(SUPPRESSION_REASONS),
  source: z.string(),
  suppressed_at: z.date(),
});
export type Suppressed = z.output<typeof Suppressed>;

export const findSuppressed = ({ tx, projectId }: Scope, addressKey: Buffer) =>
  tx.maybeOne(sql.type(Suppressed)`
    select email, reason, source, suppressed_at from suppression.addresses
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)} and suppressed_at is not null
  `);

const Known = z.strictObject({
  email: z.string().nullable(),
  reason: z.enum(SUPPRESSION_REASONS).nullable(),
  source: z.string().nullable(),
  suppressed_at: z.date().nullable(),
  unsubscribed_at: z.date().nullable(),
});
export type Known = z.output<typeof Known>;

/** Since when an unsubscribed address is: its row keeps when that was said last, however often it was. */
export const unsubscribedSince = sql.fragment`
  least(address.unsubscribed_at, (
    select min(said.changed_at) from suppression.history as said
    where said.project_id = address.project_id and said.address_key = address.address_key
    and said.change = 'unsubscribed' and said.changed_at >= coalesce(address.resubscribed_at, '-infinity')
  ))
`;

/** An address as it stands, whether or not it is left alone; null when nobody ever mentioned it. */
export const findAddress = ({ tx, projectId }: Scope, addressKey: Buffer) =>
  tx.maybeOne(sql.type(Known)`
    select email, reason, source, suppressed_at, case
        when unsubscribed_at >= coalesce(resubscribed_at, '-infinity') then ${unsubscribedSince}
      end as unsubscribed_at
    from suppression.addresses as address
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)}
  `);

const Why = z.strictObject({
  address_key: z.instanceof(Buffer),
  reason: z.enum([...SUPPRESSION_REASONS, 'unsubscribed']),
});

/** Everything that some addresses are left alone for now: what they are suppressed for first. */
export const listWhy = ({ tx, projectId }: Scope, addressKeys: readonly Buffer[]) => {
  const keys = sql.array([...addressKeys], 'bytea');
  return tx.any(sql.type(Why)`
    select why.address_key, why.reason
    from (
      select distinct asked.address_key, standing.reason, 1 as nth
      from unnest(${keys}) as asked (address_key)
      cross join lateral suppression.standing_reasons(
        project_id => ${projectId}, address_key => asked.address_key
      ) as standing
      union all
      select address_key, 'unsubscribed', 2 from suppression.addresses
      where project_id = ${projectId} and address_key = any (${keys})
      and unsubscribed_at >= coalesce(resubscribed_at, '-infinity')
    ) as why
    order by why.address_key, why.nth, why.reason
  `);
};

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

const Stopped = z.strictObject({ stops_mail: z.string().nullable() });

/**
 * Why an address gets no mail of a category, or null: as `suppression.stops_mail` says it, of an address that may
 * be new. What would stop it later waits until the transaction ends.
 */
export const findStop = async ({ tx, projectId }: Scope, addressKey: Buffer, category: string) => {
  await tx.query(sql.unsafe`
    insert into suppression.addresses (project_id, address_key) values (${projectId}, ${sql.binary(addressKey)})
    on conflict do nothing
  `);
  const { stops_mail } = await tx.one(sql.type(Stopped)`
    select stops_mail
    from suppression.stops_mail(
      project_id => ${projectId}, address_key => ${sql.binary(addressKey)}, category => ${category}
    )
  `);
  return stops_mail;
};

/** Locks addresses until the transaction ends, in the order of all locks. */
export const holdAddresses = ({ tx, projectId }: Scope, addressKeys: readonly Buffer[]) =>
  tx.query(sql.unsafe`
    select suppression.hold_addresses(
      project_id => ${projectId}, address_keys => ${sql.array([...addressKeys], 'bytea')}
    )
  `);

/** Locks the addresses of emails before they are planned, in the order of all locks; inserts those without a row. */
export const lockAddresses = ({ tx, projectId }: Scope, addressKeys: readonly Buffer[]) =>
  tx.query(sql.unsafe`
    select suppression.lock_addresses(
      project_id => ${projectId}, address_keys => ${sql.array([...addressKeys], 'bytea')}
    )
  `);

const ErasedKey = z.strictObject({ address_key: z.instanceof(Buffer) });

/** Those of some addresses that were erased: it stays true while they are held. */
export const listErased = ({ tx, projectId }: Scope, addressKeys: readonly Buffer[]) =>
  tx.any(sql.type(ErasedKey)`
    select address_key from suppression.addresses
    where project_id = ${projectId} and address_key = any (${sql.array([...addressKeys], 'bytea')})
    and erased_at is not null
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

/** Forgets what people wrote about addresses that are held and erased; answers how many notes there were. */
export const eraseNotes = async (
  { tx, projectId }: Scope,
  addressKeys: readonly Buffer[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update suppression.history set note = null
    where project_id = ${projectId} and address_key = any (${sql.array([...addressKeys], 'bytea')})
    and note is not null
  `);
  return rowCount;
};

export const CHANGES = [
  'suppressed',
  'released',
  'unsubscribed',
  'resubscribed',
  'soft_bounced',
  'soft_recovered',
] as const;

const Change = z.strictObject({
  change: z.enum(CHANGES),
  reason: z.string().nullable(),
  source: z.string(),
  note: z.string().nullable(),
  import_id: z.uuid().nullable(),
  changed_at: z.date(),
});
export type Change = z.output<typeof Change>;

/** How many changes of an address are shown. */
export const CHANGES_MAX = 1_000;

/** What was done about an address, the newest first; of one moment, an unsubscribe counts. */
export const listChanges = ({ tx, projectId }: Scope, addressKey: Buffer) =>
  tx.any(sql.type(Change)`
    select change, reason, source, note, import_id, changed_at from suppression.history
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)}
    order by changed_at desc, change = 'resubscribed', history_id desc
    limit ${CHANGES_MAX}
  `);

const Word = z.strictObject({
  address_key: z.instanceof(Buffer),
  change: z.enum(CHANGES),
  reason: z.string().nullable(),
  import_id: z.uuid().nullable(),
  lifts_complaints: z.boolean(),
  changed_at: z.date(),
});
/** One word that was said of an address. */
export type Word = z.output<typeof Word>;

/** All that was ever said of an address, the oldest first; with soft bounces as they were counted last. */
export const listWords = ({ tx, projectId }: Scope, addressKeys: readonly Buffer[]) => {
  const keys = sql.array([...addressKeys], 'bytea');
  return tx.any(sql.type(Word)`
    select address_key, change, reason, import_id, lifts_complaints, changed_at
    from (
      select address_key, change, reason, import_id, lifts_complaints, changed_at, history_id from suppression.history
      where project_id = ${projectId} and address_key = any (${keys})
      union all
      select address_key, 'soft_bounced', null, null, false, soft_bounced_at, null from suppression.addresses
      where project_id = ${projectId} and address_key = any (${keys}) and soft_bounced_at is not null
    ) as said
    order by changed_at, history_id nulls last
  `);
};
