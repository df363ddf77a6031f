import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';
import { later } from './clock.ts';
import { hold } from './comparison.ts';
import { letIn } from './entering.ts';
import type { Asking } from './entering.ts';
import { listTriggered } from './trigger_queries.ts';
import type { Triggered } from './trigger_queries.ts';

/** Whom an event is about: its external id where it has one. */
export const subjectOf = ({
  external_id,
  anonymous_id,
}: Pick<Triggered, 'external_id' | 'anonymous_id'>) =>
  external_id === null
    ? ({ kind: 'anonymous', value: anonymous_id ?? '' } as const)
    : ({ kind: 'external', value: external_id } as const);

/** An event that was told too long after it occurred. */
export const isLate = (
  { occurred_at, received_at }: { occurred_at: Date; received_at: Date },
  setting: string,
): boolean => setting !== 'accept' && later(occurred_at, setting, 'UTC') < received_at;

const matches = ({ definition: { trigger }, properties }: Triggered): boolean =>
  trigger.kind === 'event' && hold(trigger.filters, properties);

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

const toAsking = (event: Triggered, person: { identityId: string; profileId: string }): Asking => ({
  automationId: event.automation_id,
  version: event.version,
  definition: event.definition,
  ...person,
  by: {
    kind: 'event',
    eventId: event.event_id,
    at: event.occurred_at,
    properties: event.properties,
    isLate: isLate(event, event.definition.settings.late_events),
  },
});

/** Starts the runs that the events of some flushes call for. Answers how many are new. */
export const startTriggered = async (
  scope: Scope,
  flushIds: readonly string[],
): Promise<number> => {
  const triggered = (await listTriggered(scope, flushIds)).filter(matches);
  if (triggered.length === 0) return 0;
  const people = await findPeople(scope, triggered.map(subjectOf));
  return letIn(
    scope,
    triggered.flatMap((event) => {
      const { kind, value } = subjectOf(event);
      const person = people.get(`${kind}/${value}`);
      return person ? [toAsking(event, person)] : [];
    }),
  );
};
