import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';
import { stopSends } from './stop.ts';

const SendOf = z.strictObject({
  owner_id: z.uuid(),
  send_id: z.uuid(),
  recipient: z.string().nullable(),
});
export type SendOf = z.output<typeof SendOf>;

/** By what sends are a person's: the profile they were planned for, or whom their run was started for. */
export type OwnerKind = 'profile' | 'identity';

const ownerColumns = { profile: sql.fragment`profile_id`, identity: sql.fragment`identity_id` };

/**
 * Sends of owners and to which address each is, unless that is erased already: page by page, in the order of
 * the owners and of their own ids. Each owner is looked up by an index, and no further than the page goes.
 */
export const listSendsOf = (
  { tx, projectId }: Scope,
  { kind, ids }: { kind: OwnerKind; ids: readonly string[] },
  { last, limit }: { last: SendOf | null; limit: number },
) =>
  tx.any(sql.type(SendOf)`
    select owner.owner_id, send.send_id, send.recipient
    from unnest(${sql.array(ids.slice(last ? ids.indexOf(last.owner_id) : 0), 'uuid')})
      with ordinality as owner (owner_id, ordinal)
    cross join lateral (
      select send_id, recipient from delivery.sends
      where project_id = ${projectId} and ${ownerColumns[kind]} = owner.owner_id
      and send_id > case when owner.ordinal = 1 then ${last?.send_id ?? FIRST_ID}::uuid else ${FIRST_ID}::uuid end
      order by send_id
      limit ${limit}
    ) as send
    limit ${limit}
  `);

const SendId = z.strictObject({ send_id: z.uuid() });

/** Sends to addresses, `limit` at most: those that are erased are not found again. */
export const listSendsTo = async (
  { tx, projectId }: Scope,
  addressKeys: readonly Buffer[],
  limit: number,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(SendId)`
    select send.send_id from unnest(${sql.array([...addressKeys], 'bytea')}) as known (address_key)
    cross join lateral (
      select send_id from delivery.sends
      where project_id = ${projectId} and address_key = known.address_key
      order by send_id
      limit ${limit}
    ) as send
    limit ${limit}
  `);
  return rows.map(({ send_id }) => send_id);
};

/**
 * Takes out of sends whom they were for; those that wait are stopped. One that is being handed over
 * keeps its state: what becomes of it is written all the same.
 */
export const eraseSends = async (scope: Scope, sendIds: string[]): Promise<number> => {
  const { tx, projectId } = scope;
  const ids = sql.array(sendIds, 'uuid');
  await tx.query(sql.unsafe`
    select from delivery.sends
    where project_id = ${projectId} and send_id = any (${ids})
    order by send_id
    for update
  `);
  await stopSends(scope, { stop: 'erased', sendIds: ids });
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.sends
    set recipient = null, subject = null, address_key = null, mailbox_key = null,
      status_reason = case when status = 'failed_render' then 'erased' else status_reason end
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

/** Deletes the texts of providers, which may name the recipient. Codes and queue ids name no person. */
export const eraseAnswers = async (
  { tx, projectId }: Scope,
  sendIds: string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.attempts set reply_text = null
    where project_id = ${projectId} and send_id = any (${sql.array(sendIds, 'uuid')}) and reply_text is not null
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
