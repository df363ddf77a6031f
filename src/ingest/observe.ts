import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import type { EventRow } from './events.ts';
import { timelineStart } from './occurred_at.ts';
import { acceptEvents } from './queries.ts';

/** Something that the service itself saw of a person. */
export type Observed = {
  name: string;
  externalId: string | null;
  anonymousId: string | null;
  properties: Readonly<Record<string, string | number | boolean>>;
  occurredAt: Date;
};

const toRow = (observed: Observed): EventRow => ({
  event_id: newId(),
  message_key: null,
  name: observed.name,
  external_id: observed.externalId,
  anonymous_id: observed.anonymousId,
  properties: JSON.stringify(observed.properties),
  occurred_at: observed.occurredAt.toISOString(),
  key_kind: null,
  source: 'system',
});

/**
 * Puts what the service itself saw on timelines, in the transaction of `scope`: once for each call, so the caller
 * knows what is new. What is older than the timeline is not kept. After the commit, `wake` a worker.
 */
export const observe = async (scope: Scope, observed: readonly Observed[]): Promise<number> => {
  const start = timelineStart(new Date());
  const rows = observed.filter(({ occurredAt }) => occurredAt > start).map(toRow);
  if (rows.length > 0) await acceptEvents(scope.tx, scope.projectId, newId(), rows);
  return rows.length;
};
