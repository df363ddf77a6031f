import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Notice } from './notice.ts';

export type NoticeRow = Pick<
  Notice,
  'kind' | 'bounceType' | 'occurredAt' | 'reason' | 'dedupeKey'
> & {
  source: string;
  addressKey: Buffer;
  sendId: string | null;
};

const Inserted = z.strictObject({ dedupe_key: z.string() });

/** Keeps a notice; answers whether it is new. */
export const insertNotice = async ({ tx, projectId }: Scope, row: NoticeRow): Promise<boolean> => {
  const inserted = await tx.maybeOne(sql.type(Inserted)`
    insert into feedback.notices (project_id, source, dedupe_key, kind, bounce_type, address_key, send_id, occurred_at,
      received_at, reason)
    values (${projectId}, ${row.source}, ${row.dedupeKey}, ${row.kind}, ${row.bounceType},
      ${sql.binary(row.addressKey)}, ${row.sendId}, ${sql.timestamp(row.occurredAt)}, now(), ${row.reason})
    on conflict do nothing
    returning dedupe_key
  `);
  return inserted !== null;
};
