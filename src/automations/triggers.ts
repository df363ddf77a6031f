import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import * as profiles from '../profiles/profiles.ts';
import { isMeant } from './event_match.ts';
import { letIn } from './entering.ts';
import type { Asking } from './entering.ts';
import { readDefinitions } from './definitions.ts';
import { isLate } from './late.ts';
import type { Definition } from './schema.ts';
import { queueEmailEvents, subscribedNames } from './subscriptions/subscriptions.ts';
import { listEventReaders, listTriggerEvents } from './trigger_queries.ts';
import type { EventReaders, EventTrigger, TriggerEvent } from './trigger_queries.ts';

/** Whom an event is about: its external id where it has one. */
export const subjectOf = ({
  external_id,
  anonymous_id,
}: Pick<TriggerEvent, 'external_id' | 'anonymous_id'>) =>
  external_id === null
    ? ({ kind: 'anonymous', value: anonymous_id ?? '' } as const)
    : ({ kind: 'external', value: external_id } as const);

/** An event, and an automation that it starts a run of. */
type Triggered = { event: TriggerEvent; trigger: EventTrigger; definition: Definition };

/** Some events with each active automation that they match. */
const listTriggered = async (
  scope: Scope,
  triggers: EventReaders['triggers'],
  events: readonly TriggerEvent[],
): Promise<Triggered[]> => {
  const byName = Map.groupBy(triggers, ({ event_name }) => event_name);
  const asked = new Set(events.map(({ name }) => name));
  const definitionOf = await readDefinitions(
    scope,
    triggers.filter(({ event_name }) => asked.has(event_name)),
  );
  return events.flatMap((event) =>
    (byName.get(event.name) ?? []).flatMap((trigger): Triggered[] => {
      const definition = definitionOf(trigger);
      const isMatch = definition.trigger.kind === 'event' && isMeant(definition.trigger, event);
      return isMatch ? [{ event, trigger, definition }] : [];
    }),
  );
};

export type Subject = ReturnType<typeof subjectOf>;

/** The living people behind some subjects: each subject's identity, and the profile that it has. */
export const findPeople = async (scope: Scope, subjects: readonly Subject[]) => {
  const known = await profiles.listIdentities(scope, subjects);
  const profileOf = await profiles.holdProfiles(
    scope,
    known.map(({ identity_id }) => identity_id),
  );
  return new Map(
    known.flatMap(({ kind, value, identity_id: identityId }) => {
      const profileId = profileOf.get(identityId);
      return profileId === undefined ? [] : [[`${kind}/${value}`, { identityId, profileId }]];
    }),
  );
};

const toAsking = (
  { event, trigger, definition }: Triggered,
  person: { identityId: string; profileId: string },
): Asking => ({
  automationId: trigger.automation_id,
  version: trigger.version,
  definition,
  ...person,
  by: {
    kind: 'event',
    eventId: event.event_id,
    at: event.occurred_at,
    properties: event.properties,
    isLate: isLate(event, definition.settings.late_events),
    source: event.source,
    traceparent: event.traceparent,
  },
});

/** What the events of some flushes started: the ids of runs to be walked, and hints for after the commit. */
export type Started = { started: string[]; hints: Hint[] };

/** Starts the runs that the events of some flushes call for, and queues what endpoints subscribe to. */
export const followEvents = async (scope: Scope, flushIds: readonly string[]): Promise<Started> => {
  const { triggers, subscriptions } = await listEventReaders(scope);
  const names = [
    ...new Set(triggers.map(({ event_name }) => event_name)),
    ...subscribedNames(subscriptions),
  ];
  if (names.length === 0) return { started: [], hints: [] };
  const events = await listTriggerEvents(scope, flushIds, names);
  return {
    hints: await queueEmailEvents(scope, subscriptions, events),
    started: await startTriggered(scope, await listTriggered(scope, triggers, events)),
  };
};

const startTriggered = async (scope: Scope, triggered: readonly Triggered[]): Promise<string[]> => {
  if (triggered.length === 0) return [];
  const people = await findPeople(
    scope,
    triggered.map(({ event }) => subjectOf(event)),
  );
  return letIn(
    scope,
    triggered.flatMap((one) => {
      const { kind, value } = subjectOf(one.event);
      const person = people.get(`${kind}/${value}`);
      return person ? [toAsking(one, person)] : [];
    }),
  );
};
