import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { KINDS } from './notice.ts';

const Notice = z.strictObject({
  source: z.string(),
  kind: z.enum(KINDS),
  bounce_type: z.string().nullable(),
  reason: z.string().nullable(),
  occurred_at: z.date(),
  received_at: z.date(),
});

/** How many notices about a send are shown. */
export const NOTICES_SHOWN_MAX = 100;

/** What was told of a send to an address: found by the address, of which there are few. The newest first. */
export const listNoticesOf = ({ tx, projectId }: Scope, addressKey: Buffer, sendId: string) =>
  tx.any(sql.type(Notice)`
    select source, kind, bounce_type, reason, occurred_at, received_at from feedback.notices
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)} and send_id = ${sendId}
    order by occurred_at desc, received_at desc
    limit ${NOTICES_SHOWN_MAX}
  `);
