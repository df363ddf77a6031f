import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import type { Claimed } from './call_queries.ts';

/** What the message says that it is. */
export const WEBHOOK_TYPE = 'automation.step_reached';

const findTrigger = async (scope: Scope, call: Claimed): Promise<ingest.Event | null> => {
  const { trigger_event_id: eventId, trigger_event_at: occurredAt, trigger_entry: entry } = call;
  if (entry !== null || eventId === null || occurredAt === null) return null;
  const [event] = await ingest.listEvents(scope, [{ eventId, occurredAt }]);
  return event ?? null;
};

/** Whether the properties of an event may stand beside the address of a person, by the rule of emails. */
const isShown = (scope: Scope, found: profiles.ForEmail, event: ingest.Event): boolean => {
  const { asserted, profile } = found;
  return (
    asserted === null ||
    (profile.email !== null &&
      profiles.isOfBrowser(scope, asserted, { event, email: profile.email }))
  );
};

const toTrigger = async (scope: Scope, call: Claimed, found: profiles.ForEmail) => {
  const { trigger_event_id: eventId, trigger_event_at: occurredAt, trigger_entry: entry } = call;
  if (entry !== null) {
    const { kind, segment_id } = call.trigger as { kind: string; segment_id?: string };
    return { kind, segment_id, entry, source: call.source };
  }
  if (eventId === null || occurredAt === null) {
    const { kind } = call.trigger as { kind: string };
    return { kind: kind === 'schedule' ? kind : 'manual', source: call.source };
  }
  const event = await findTrigger(scope, call);
  return {
    kind: 'event',
    event: event?.name ?? null,
    event_id: eventId,
    occurred_at: occurredAt.toISOString(),
    source: event?.source ?? call.source,
    properties: event !== null && isShown(scope, found, event) ? event.properties : {},
  };
};

const toPerson = async (scope: Scope, found: profiles.ForEmail) => {
  const { profile, asserted } = found;
  const { traits, browserNames } = profiles.traitsForEmail(found);
  const members = await profiles.listMembers(scope, [profile.profile_id]);
  return {
    id: profile.profile_id,
    external_id: members.find(({ kind }) => kind === 'external')?.value ?? null,
    email: profile.email,
    email_confirmed: profile.email === null ? null : asserted === null,
    traits,
    browser_asserted: browserNames.filter((name) => Object.hasOwn(traits, name)).toSorted(),
    tags: asserted === null ? profile.tags : [],
  };
};

/**
 * Returns the JSON of a call: which person came to which step, as they are at this attempt; null when the person is
 * gone. Beside an address that only a browser asserted it has what an email to that address would show, and no more: an
 * endpoint that emails the address would otherwise give a server's traits to the visitor who typed it in.
 */
export const writeBody = async (scope: Scope, call: Claimed): Promise<string | null> => {
  const held = await profiles.holdProfiles(scope, [call.identity_id]);
  const profileId = held.get(call.identity_id);
  if (profileId === undefined) return null;
  const addressee = { identityId: call.identity_id, profileId, email: null };
  const [found] = await profiles.readForEmail(scope, [addressee]);
  if (!found) return null;
  return JSON.stringify({
    id: call.call_id,
    type: WEBHOOK_TYPE,
    timestamp: call.queued_at.toISOString(),
    data: {
      person: await toPerson(scope, found),
      run: { id: call.run_id, started_at: call.started_at.toISOString(), is_test: call.is_test },
      automation: { id: call.automation_id, name: call.automation, version: call.version },
      step: { id: call.step_id },
      trigger: await toTrigger(scope, call, found),
    },
  });
};
