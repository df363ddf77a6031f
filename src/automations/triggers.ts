import { createHash } from 'node:crypto';
import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import * as profiles from '../profiles/profiles.ts';
import { earlier, later } from './clock.ts';
import { hold, valueOf } from './comparison.ts';
import { insertRuns, readClock } from './run_queries.ts';
import type { NewRun } from './run_queries.ts';
import type { ReEntry } from './schema.ts';
import { insertRefusals, listLatestRuns, listTriggered } from './trigger_queries.ts';
import type { Entered, NewRefusal, Triggered } from './trigger_queries.ts';

/** Who enters, by which event if by any: what decides whether they may. */
type Entry = { automationId: string; identityId: string; eventId: string; properties: object };

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * The key that makes a second entry impossible where the settings allow only one. Once per duration it names the run
 * before: two who look at the same time name the same, and one of them wins.
 */
export const entryKey = (
  reEntry: ReEntry,
  { identityId, eventId, properties }: Omit<Entry, 'automationId'>,
  latest: Entered | null,
): string => {
  if (reEntry === 'once') return `once/${identityId}`;
  if (reEntry === 'every_time') return `event/${eventId}`;
  if ('once_per' in reEntry) return `after/${identityId}/${latest?.run_id ?? 'none'}`;
  const value = valueOf({ ...properties }, reEntry.by_property);
  return `property/${identityId}/${digest(JSON.stringify([reEntry.by_property, value ?? null]))}`;
};

/** Whether it is the event alone that a key lets in once. */
const isOfEvent = ({ entry_key }: NewRun): boolean => entry_key.startsWith('event/');

/** Whether the person, who was in before under any of their identifiers, is kept from entering again. */
export const isKeptOut = (reEntry: ReEntry, latest: Entered | null, now: Date): boolean => {
  if (latest === null) return false;
  if (reEntry === 'once') return true;
  if (typeof reEntry === 'string' || !('once_per' in reEntry)) return false;
  return latest.started_at > earlier(now, reEntry.once_per, 'UTC');
};

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

type Known = { identityId: string; profileId: string };
type Asking = Triggered & Known;
type Decided = { runs: NewRun[]; refusals: NewRefusal[] };

/** Whether it matters if the person was in before. */
const asksBefore = ({ definition }: Asking): boolean =>
  definition.settings.re_entry !== 'every_time';

/** The last run of each person in each automation, whichever of their identities it was for. */
const readLatest = async (scope: Scope, asking: readonly Asking[]) => {
  const latest = new Map<string, Entered>();
  if (asking.length === 0) return latest;
  const profileIds = [...new Set(asking.map(({ profileId }) => profileId))];
  const automationIds = [...new Set(asking.map(({ automation_id }) => automation_id))];
  const members = await profiles.listMembers(scope, profileIds);
  const profileOf = new Map(
    members.map(({ identity_id, profile_id }) => [identity_id, profile_id]),
  );
  const rows = await listLatestRuns(scope, [...profileOf.keys()], automationIds);
  for (const row of rows) {
    const key = `${row.automation_id}/${profileOf.get(row.identity_id)}`;
    const known = latest.get(key);
    if (!known || known.started_at < row.started_at) latest.set(key, row);
  }
  return latest;
};

const toRefusal = (event: Asking, reason: NewRefusal['reason']): NewRefusal => ({
  automation_id: event.automation_id,
  identity_id: event.identityId,
  event_id: event.event_id,
  event_at: event.occurred_at,
  reason,
});

const toRun = (event: Asking, before: Entered | null): NewRun => ({
  run_id: newId(),
  automation_id: event.automation_id,
  version: event.version,
  identity_id: event.identityId,
  trigger_event_id: event.event_id,
  trigger_event_at: event.occurred_at.toISOString(),
  entry_key: entryKey(
    event.definition.settings.re_entry,
    { identityId: event.identityId, eventId: event.event_id, properties: event.properties },
    before,
  ),
  step_id: event.definition.entry,
  test_recipient: null,
});

/** Decides who may enter: by the automation's settings, and when they were in before. */
const decide = (asking: readonly Asking[], latest: Map<string, Entered>, now: Date): Decided => {
  const decided: Decided = { runs: [], refusals: [] };
  for (const event of asking) {
    const { re_entry: reEntry, late_events: lateEvents } = event.definition.settings;
    const key = `${event.automation_id}/${event.profileId}`;
    const before = latest.get(key) ?? null;
    if (isLate(event, lateEvents)) decided.refusals.push(toRefusal(event, 'late'));
    else if (before?.trigger_event_id === event.event_id) continue;
    else if (isKeptOut(reEntry, before, now)) decided.refusals.push(toRefusal(event, 're_entry'));
    else {
      const run = toRun(event, before);
      decided.runs.push(run);
      latest.set(key, { ...run, started_at: now });
    }
  }
  return decided;
};

/** Of runs that somebody else had started already, under the same key. */
const toBeaten = ({
  automation_id,
  identity_id,
  trigger_event_id: event_id,
  trigger_event_at: event_at,
}: NewRun): NewRefusal[] =>
  event_id === null || event_at === null
    ? []
    : [{ automation_id, identity_id, event_id, event_at: new Date(event_at), reason: 're_entry' }];

/**
 * Starts the runs that the events of some flushes call for: one per automation and trigger event, or as often as
 * the settings allow, whatever happens twice. Answers how many are new. Who is kept out is noted, with why.
 */
export const startTriggered = async (
  scope: Scope,
  flushIds: readonly string[],
): Promise<number> => {
  const triggered = (await listTriggered(scope, flushIds)).filter(matches);
  if (triggered.length === 0) return 0;
  const people = await findPeople(scope, triggered.map(subjectOf));
  const known = triggered.flatMap((event) => {
    const { kind, value } = subjectOf(event);
    const person = people.get(`${kind}/${value}`);
    return person ? [{ ...event, ...person }] : [];
  });
  const latest = await readLatest(scope, known.filter(asksBefore));
  const { runs, refusals } = decide(known, latest, await readClock(scope));
  const started = await insertRuns(scope, runs);
  // An event that is processed again starts nothing again, which is no news.
  const beaten = runs.filter((run) => !started.has(run.run_id) && !isOfEvent(run));
  await insertRefusals(scope, [...refusals, ...beaten.flatMap(toBeaten)]);
  return started.size;
};
