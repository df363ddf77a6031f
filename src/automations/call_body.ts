import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import type { Claimed } from './call_queries.ts';

/** What the message says that it is. */
export const WEBHOOK_TYPE = 'automation.step_reached';

const toTrigger = async (scope: Scope, call: Claimed): Promise<object> => {
  const { trigger_event_id: eventId, trigger_event_at: occurredAt, trigger_entry: entry } = call;
  if (entry !== null) {
    const { kind, segment_id } = call.trigger as { kind: string; segment_id?: string };
    return { kind, segment_id, entry };
  }
  if (eventId === null || occurredAt === null) return { kind: 'manual' };
  const [event] = await ingest.listEvents(scope, [{ eventId, occurredAt }]);
  return {
    kind: 'event',
    event: event?.name ?? null,
    event_id: eventId,
    occurred_at: occurredAt.toISOString(),
    properties: event?.properties ?? {},
  };
};

/**
 * What an endpoint is told, as JSON: who came to which step, as they are at this attempt. Null when there is nobody
 * any more.
 */
export const writeBody = async (scope: Scope, call: Claimed): Promise<string | null> => {
  const held = await profiles.holdProfiles(scope, [call.identity_id]);
  const profileId = held.get(call.identity_id);
  const row = profileId === undefined ? null : await profiles.findRow(scope, profileId);
  if (profileId === undefined || row === null) return null;
  const members = await profiles.listMembers(scope, [profileId]);
  return JSON.stringify({
    id: call.call_id,
    type: WEBHOOK_TYPE,
    timestamp: call.queued_at.toISOString(),
    data: {
      person: {
        id: profileId,
        external_id: members.find(({ kind }) => kind === 'external')?.value ?? null,
        email: row.email,
        traits: row.traits,
        tags: row.tags,
      },
      run: { id: call.run_id, started_at: call.started_at.toISOString(), is_test: call.is_test },
      automation: { id: call.automation_id, name: call.automation, version: call.version },
      step: { id: call.step_id },
      trigger: await toTrigger(scope, call),
    },
  });
};
