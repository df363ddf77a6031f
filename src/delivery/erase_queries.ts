import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** Whose sends: a profile's, or those to an address. */
export type Owner = { profileId: string } | { addressKey: Buffer };

export type SendPage = { after: string | null; limit: number };

const ofOwner = (owner: Owner) =>
  'profileId' in owner
    ? sql.fragment`profile_id = ${owner.profileId}`
    : sql.fragment`address_key = ${sql.binary(owner.addressKey)}`;

const Recipient = z.strictObject({ send_id: z.uuid(), recipient: z.string().nullable() });
export type SendOf = z.output<typeof Recipient>;

/** Sends in the order of their ids, and to which address each is, unless that is erased already. */
export const listSendsOf = ({ tx, projectId }: Scope, owner: Owner, { after, limit }: SendPage) => {
  const later = after === null ? sql.fragment`` : sql.fragment`and send_id > ${after}`;
  return tx.any(sql.type(Recipient)`
    select send_id, recipient from delivery.sends
    where project_id = ${projectId} and ${ofOwner(owner)} ${later}
    order by send_id
    limit ${limit}
  `);
};

/**
 * Takes out of sends whom they were for; those that wait are cancelled. One that is being handed over
 * keeps its state: what becomes of it is written all the same.
 */
export const eraseSends = async ({ tx, projectId }: Scope, sendIds: string[]): Promise<number> => {
  const ids = sql.array(sendIds, 'uuid');
  await tx.query(sql.unsafe`
    select from delivery.sends
    where project_id = ${projectId} and send_id = any (${ids})
    order by send_id
    for update
  `);
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.sends
    set recipient = null, subject = null, address_key = null,
      status_reason = case when status in ('queued', 'failed_render') then 'erased' else status_reason end,
      lease_owner = case when status = 'queued' then null else lease_owner end,
      lease_until = case when status = 'queued' then null else lease_until end,
      status = case when status = 'queued' then 'cancelled' else status end
    where project_id = ${projectId} and send_id = any (${ids})
    and num_nonnulls(recipient, subject, address_key) > 0
  `);
  return rowCount;
};

/** Removes what was rendered. After the sends, which nobody renders any more. */
export const deleteContents = async (
  { tx, projectId }: Scope,
  sendIds: string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from delivery.contents
    where project_id = ${projectId} and send_id = any (${sql.array(sendIds, 'uuid')})
  `);
  return rowCount;
};

const Content = z.strictObject({
  send_id: z.uuid(),
  subject: z.string(),
  html: z.string(),
  text: z.string(),
});

export const listContents = ({ tx, projectId }: Scope, sendIds: string[]) =>
  tx.any(sql.type(Content)`
    select send_id, subject, html, text from delivery.contents
    where project_id = ${projectId} and send_id = any (${sql.array(sendIds, 'uuid')})
  `);
