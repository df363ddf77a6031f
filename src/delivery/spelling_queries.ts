// Which other spellings of a recipient's mailbox matter for a send.
import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Stopping = z.strictObject({ address_key: z.instanceof(Buffer) });

/**
 * Returns the key of the spelling of the recipient's mailbox that stops a browser-triggered send by now. Null where its
 * own address does, where nothing does any more, and for a send that was not stopped.
 */
export const findStoppingKey = ({ tx, projectId }: Scope, sendId: string) =>
  tx.maybeOne(sql.type(Stopping)`
    select spelling.address_key
    from delivery.sends as send
    cross join lateral unnest(delivery.list_spellings(
      project_id => ${projectId}, mailbox_key => send.mailbox_key
    )) with ordinality as spelling (address_key, place)
    where send.project_id = ${projectId} and send.send_id = ${sendId}
    and send.status = 'suppressed' and send.limits ? 'browser_triggered'
    and suppression.stops_any(
      project_id => ${projectId}, address_keys => array[send.address_key], category => send.category
    ) is null
    and suppression.stops_any(
      project_id => ${projectId}, address_keys => array[spelling.address_key], category => send.category
    ) = send.status_reason
    order by spelling.place
    limit 1
  `);

const Sent = z.strictObject({
  mailbox_key: z.instanceof(Buffer),
  address_key: z.instanceof(Buffer),
  since: z.date(),
});

/** Of how many sends to a mailbox, the newest, a simulation reads the spellings. */
export const SPELLING_SENDS_READ_MAX = 1_000;

/** Lists the addresses of some mailboxes that emails of other automations were planned to, and since when. */
export const listSpellingsSent = (
  { tx, projectId }: Scope,
  mailboxKeys: readonly Buffer[],
  automationId: string,
) =>
  tx.any(sql.type(Sent)`
    select known.mailbox_key, sent.address_key, min(sent.queued_at) as since
    from unnest(${sql.array([...mailboxKeys], 'bytea')}) as known (mailbox_key)
    cross join lateral (
      select address_key, queued_at, automation_id from delivery.sends
      where project_id = ${projectId} and mailbox_key = known.mailbox_key
      order by send_id desc
      limit ${SPELLING_SENDS_READ_MAX}
    ) as sent
    where sent.address_key is not null and sent.automation_id is distinct from ${automationId}::uuid
    group by known.mailbox_key, sent.address_key
  `);
