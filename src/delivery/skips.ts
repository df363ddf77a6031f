import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';

/** An email that a run did not even plan, and the identity that the run was for. */
export type Skip = {
  identityId: string;
  kind: 'external' | 'anonymous';
  value: string;
  automationId: string;
  stepId: string;
  reason: string;
  at: Date;
  /** Whether no server started the run: then a person gets one `email_skipped` of an automation a day. */
  isBrowserTriggered: boolean;
};

const NewSkip = z.strictObject({ place: z.int(), message_key: z.string() });

/** Returns the first skip of each person, automation and day, unless the timeline has one, with its message key. */
const listNew = async ({ tx, projectId }: Scope, skips: readonly Skip[]) => {
  if (skips.length === 0) return [];
  const column = (read: (skip: Skip) => string, type: string) => sql.array(skips.map(read), type);
  const rows = await tx.any(sql.type(NewSkip)`
    select distinct on (skip.message_key) skip.place::int4, skip.message_key::text
    from (
      select asked.place, delivery.skip_key(
        project_id => ${projectId},
        identity_id => asked.identity_id,
        automation_id => asked.automation_id,
        at => asked.at
      ) as message_key
      from unnest(
        ${column(({ identityId }) => identityId, 'uuid')},
        ${column(({ automationId }) => automationId, 'uuid')},
        ${column(({ at }) => at.toISOString(), 'timestamptz')}
      ) with ordinality as asked (identity_id, automation_id, at, place)
    ) as skip
    where not exists (
      select from ingest.message_ids as taken
      where taken.project_id = ${projectId} and taken.message_key = skip.message_key
    )
    order by skip.message_key, skip.place
  `);
  return rows.flatMap(({ place, message_key: messageKey }) => {
    const skip = skips[place - 1];
    return skip ? [{ ...skip, messageKey }] : [];
  });
};

const toObserved = (skip: Skip & { messageKey?: string }): ingest.Observed => ({
  name: 'email_skipped',
  externalId: skip.kind === 'external' ? skip.value : null,
  anonymousId: skip.kind === 'anonymous' ? skip.value : null,
  properties: { automation_id: skip.automationId, step_id: skip.stepId, reason: skip.reason },
  occurredAt: skip.at,
  messageKey: skip.messageKey,
});

/**
 * Puts skipped emails on timelines, in one flush, as `observe_sends` does for emails that were planned. Call it once
 * in a transaction: it locks message keys in their order.
 */
export const observeSkips = async (scope: Scope, skips: readonly Skip[]): Promise<void> => {
  const limited = skips.filter(({ isBrowserTriggered }) => isBrowserTriggered);
  const others = skips.filter(({ isBrowserTriggered }) => !isBrowserTriggered);
  await ingest.observe(scope, [...others, ...(await listNew(scope, limited))].map(toObserved));
};
