import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { Suppressed, unsubscribedSince } from './queries.ts';

const Listed = Suppressed.extend({ address_key: z.instanceof(Buffer) });
export type Listed = z.output<typeof Listed>;

/** Which part of a list of addresses is read: newest first, from a place on. */
export type AddressPage = {
  limit: number;
  before: { since: Date; addressKey: Buffer } | null;
  /** Only this address; of suppressions, only what this source said. */
  addressKey: Buffer | null;
  source: string | null;
};

export const listSuppressed = ({ tx, projectId }: Scope, page: AddressPage) => {
  const { limit, before, addressKey, source } = page;
  const earlier = before
    ? sql.fragment`and (suppressed_at, address_key)
        < (${sql.timestamp(before.since)}, ${sql.binary(before.addressKey)})`
    : sql.fragment``;
  const same = addressKey
    ? sql.fragment`and address_key = ${sql.binary(addressKey)}`
    : sql.fragment``;
  const told = source === null ? sql.fragment`` : sql.fragment`and source = ${source}`;
  return tx.any(sql.type(Listed)`
    select email, reason, source, suppressed_at, address_key from suppression.addresses
    where project_id = ${projectId} and suppressed_at is not null ${earlier} ${same} ${told}
    order by suppressed_at desc, address_key desc
    limit ${limit}
  `);
};

const Unsubscribed = z.strictObject({
  email: z.string().nullable(),
  source: z.string(),
  unsubscribed_at: z.date(),
  said_at: z.date(),
  address_key: z.instanceof(Buffer),
});
export type Unsubscribed = z.output<typeof Unsubscribed>;

/** Who gets no marketing mail now, with whoever said so last, the latest word first. */
export const listUnsubscribed = (
  { tx, projectId }: Scope,
  { limit, before, addressKey }: AddressPage,
) => {
  const earlier = before
    ? sql.fragment`and (address.unsubscribed_at, address.address_key)
        < (${sql.timestamp(before.since)}, ${sql.binary(before.addressKey)})`
    : sql.fragment``;
  const same = addressKey
    ? sql.fragment`and address.address_key = ${sql.binary(addressKey)}`
    : sql.fragment``;
  return tx.any(sql.type(Unsubscribed)`
    select address.email, address.unsubscribed_at as said_at, address.address_key,
      ${unsubscribedSince} as unsubscribed_at, (
        select said.source from suppression.history as said
        where said.project_id = ${projectId} and said.address_key = address.address_key
        and said.change = 'unsubscribed'
        order by said.changed_at desc, said.history_id desc
        limit 1
      ) as source
    from suppression.addresses as address
    where address.project_id = ${projectId} and address.unsubscribed_at is not null
    and address.unsubscribed_at >= coalesce(address.resubscribed_at, '-infinity') ${earlier} ${same}
    order by address.unsubscribed_at desc, address.address_key desc
    limit ${limit}
  `);
};
