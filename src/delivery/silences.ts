import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { LINKS_PER_PROVIDER_MAX } from '../providers/providers.ts';

/** How long a provider may answer nothing, and be given nothing new, before that is told. */
export const SILENT_SECONDS = 30;

const Silence = z.strictObject({ provider_id: z.uuid(), hand_offs: z.int(), since: z.date() });
export type Silence = z.output<typeof Silence>;

/** What can be done about it. A test message would be one more that is not answered. */
export const SILENCE_FIX =
  'Each ends as unknown when its time is up, and what waits goes then. See what the provider says of its state.';

/**
 * The providers that have as many hand-offs under way as a process makes at a time, and were given nothing new for so
 * long: how many these are, and when the first of them began. What is queued for them waits until one ends. One that
 * hangs while others go on is nothing of the provider's.
 */
export const listSilences = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Silence)`
    select provider_id, count(*)::int as hand_offs, min(handed_off_at) as since
    from delivery.sends
    where project_id = ${projectId} and status = 'handing_off' and status <> 'accepted'
    group by provider_id
    having count(*) >= ${LINKS_PER_PROVIDER_MAX}
    and max(handed_off_at) <= statement_timestamp() - make_interval(secs => ${SILENT_SECONDS})
    order by since
  `);
