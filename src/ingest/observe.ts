import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import type { EventRow } from './events.ts';
import { PUBLISHABLE_DAYS_BACK_MAX } from './occurred_at.ts';
import { acceptEvents } from './queries.ts';
import type { SystemEventName } from './reserved_names.ts';
import { getBeginning } from './retention_queries.ts';

const DAY_MS = 86_400_000;

/** An event that the service records itself. */
export type Observed = {
  name: SystemEventName;
  externalId: string | null;
  anonymousId: string | null;
  properties: Readonly<Record<string, string | number | boolean>>;
  occurredAt: Date;
  /** Of an event that is stored once: what `ingest.message_ids` knows it by. */
  messageKey?: string | undefined;
};

const toRow = (observed: Observed): EventRow => ({
  event_id: newId(),
  message_key: observed.messageKey ?? null,
  name: observed.name,
  external_id: observed.externalId,
  anonymous_id: observed.anonymousId,
  properties: JSON.stringify(observed.properties),
  occurred_at: observed.occurredAt.toISOString(),
  key_kind: null,
  source: 'system',
  traceparent: null,
});

/**
 * What of some things happened since the oldest month that is there. Of what happened lately nothing is asked; of
 * what did not, the months themselves say it, whatever a process that makes or drops them was told to keep.
 */
export const withinTimeline = async <T>(
  scope: Scope,
  seen: readonly T[],
  timeOf: (one: T) => Date,
): Promise<readonly T[]> => {
  const lately = new Date(Date.now() - PUBLISHABLE_DAYS_BACK_MAX * DAY_MS);
  if (seen.every((one) => timeOf(one) > lately)) return seen;
  const { begins_at } = await getBeginning(scope);
  return seen.filter((one) => timeOf(one) >= begins_at);
};

/**
 * Puts what the service itself saw on timelines, in the transaction of `scope`: once for each call, so the caller
 * knows what is new. What is older than the timeline is not kept. After the commit, `wake` a worker.
 */
export const observe = async (scope: Scope, observed: readonly Observed[]): Promise<number> => {
  const kept = await withinTimeline(scope, observed, ({ occurredAt }) => occurredAt);
  const rows = kept.map(toRow);
  if (rows.length > 0) await acceptEvents(scope.tx, scope.projectId, newId(), rows);
  return rows.length;
};
