import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Named = z.strictObject({ send_id: z.uuid() });

/**
 * `taken`, `opened` and `clicked` are signs that the provider accepted the message. `soft_bounced` stands unless a
 * later delivery follows. Every other bounce stands.
 */
export type Fact =
  'delivered' | 'bounced' | 'soft_bounced' | 'complained' | 'taken' | 'opened' | 'clicked';

/** What a feedback event reports about a send. */
export type Told = { sendId: string; fact: Fact; occurredAt: Date };

const Added = z.strictObject({
  send_id: z.uuid(),
  fact: z.string(),
  /** Whether it proved that the provider accepted a send with an unknown outcome. */
  is_proved: z.boolean(),
  /** Whether it is the first complaint of the send, or its first bounce that is not soft. */
  is_first: z.boolean(),
});

/** Adds facts to sends. Returns the facts that prove an outcome, or that are counted. */
export const addFacts = ({ tx, projectId }: Scope, told: readonly Told[]) =>
  tx.any(sql.type(Added)`
    select told.send_id, told.fact, recorded.is_proved, recorded.is_first
    from unnest(
      ${sql.array(
        told.map(({ sendId }) => sendId),
        'uuid',
      )},
      ${sql.array(
        told.map(({ fact }) => fact),
        'text',
      )},
      ${sql.array(
        told.map(({ occurredAt }) => occurredAt.toISOString()),
        'timestamptz',
      )}
    ) as told (send_id, fact, occurred_at)
    cross join lateral delivery.record_feedback(
      project_id => ${projectId},
      send_id => told.send_id,
      fact => told.fact,
      occurred_at => told.occurred_at
    ) as recorded
    where recorded.is_proved or recorded.is_first
  `);

/** Marks sends as accepted that a user resolved as not sent, and that the provider reports. Returns these sends. */
export const proveResolved = ({ tx, projectId }: Scope, sendIds: readonly string[]) =>
  tx.any(sql.type(Named)`
    update delivery.sends
    set status = 'accepted', status_reason = 'outcome_unknown',
      accepted_at = least(delivered_at, bounced_at, complained_at, taken_at)
    where project_id = ${projectId} and send_id = any (${sql.array([...sendIds], 'uuid')})
    and status = 'not_sent' and status_reason = 'resolved'
    returning send_id
  `);

/**
 * Adds the bounce that refused a message to a send that was not accepted; returns null for any other send. It proves
 * nothing else.
 */
export const noteRefused = ({ tx, projectId }: Scope, sendId: string, occurredAt: Date) =>
  tx.maybeOne(sql.type(Named)`
    update delivery.sends
    set bounced_at = least(bounced_at, ${sql.timestamp(occurredAt)}),
      firm_bounced_at = least(firm_bounced_at, bounced_at, ${sql.timestamp(occurredAt)})
    where project_id = ${projectId} and send_id = ${sendId} and status in ('rejected', 'not_sent')
    returning send_id
  `);
