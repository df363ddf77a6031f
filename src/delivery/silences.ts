import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** How long a provider may answer nothing, and be given nothing new, before that is told. */
export const SILENT_SECONDS = 30;

const Silence = z.strictObject({ provider_id: z.uuid(), hand_offs: z.int(), since: z.date() });
export type Silence = z.output<typeof Silence>;

/**
 * The providers that have answered none of their hand-offs under way for so long: how many these are, and when the
 * first of them began. What is queued for them waits until one ends.
 */
export const listSilences = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Silence)`
    select provider_id, count(*)::int as hand_offs, min(handed_off_at) as since
    from delivery.sends
    where project_id = ${projectId} and status = 'handing_off' and status <> 'accepted'
    group by provider_id
    having max(handed_off_at) <= statement_timestamp() - make_interval(secs => ${SILENT_SECONDS})
    order by since
  `);
