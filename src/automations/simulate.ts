import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import type { Event } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import { hold } from './comparison.ts';
import { findVersion } from './queries.ts';
import type { Kept } from './queries.ts';
import { readClock } from './run_queries.ts';
import type { Definition } from './schema.ts';
import { listPast } from './simulate_queries.ts';
import { SIMULATED_RUNS_MAX, SIMULATION_TIME_MAX_MS } from './simulation.ts';
import type { Simulation } from './simulation.ts';
import { inSnapshot } from './snapshot.ts';
import { Tally } from './tally.ts';
import { entryKey, isKeptOut, isLate, subjectOf } from './triggers.ts';
import type { Entered } from './trigger_queries.ts';
import { walkPast } from './virtual.ts';
import type { Somebody } from './virtual.ts';

const DAY_MS = 86_400_000;

type Person = Somebody & { identityId: string };

const keyOf = (event: Event): string => {
  const { kind, value } = subjectOf(event);
  return `${kind}/${value}`;
};

/** Everybody whom some events are about, as they are today. */
const readPeople = async (scope: Scope, events: readonly Event[]): Promise<Map<string, Person>> => {
  const subjects = new Map(events.map((event) => [keyOf(event), subjectOf(event)]));
  const known = await profiles.listIdentities(scope, [...subjects.values()]);
  const profileIds = [...new Set(known.map(({ profile_id }) => profile_id))];
  const rows = await profiles.listRows(scope, profileIds);
  const members = Map.groupBy(
    await profiles.listMembers(scope, profileIds),
    ({ profile_id }) => profile_id,
  );
  const people = new Map(
    rows.map(({ profile_id: profileId, email, traits, tags }) => [
      profileId,
      {
        person: { profileId, email, traits, tags },
        identifiers: members.get(profileId) ?? [],
        sentAt: [] as Date[],
      },
    ]),
  );
  return new Map(
    known.flatMap(({ kind, value, identity_id: identityId, profile_id }) => {
      const somebody = people.get(profile_id);
      return somebody ? [[`${kind}/${value}`, Object.assign(somebody, { identityId })]] : [];
    }),
  );
};

/** Who is in, and by which keys, as the simulation goes on. */
class Entrance {
  readonly #definition: Definition;
  readonly #latest = new Map<string, Entered>();
  readonly #keys = new Set<string>();

  constructor(definition: Definition) {
    this.#definition = definition;
  }

  /** Lets somebody in by an event, or says why not. */
  enter(event: Event, { identityId, person }: Person): 'entered' | 'late' | 're_entry' {
    const { re_entry: reEntry, late_events: lateEvents } = this.#definition.settings;
    if (isLate(event, lateEvents)) return 'late';
    const before = this.#latest.get(person.profileId) ?? null;
    const entry = { identityId, eventId: event.event_id, properties: event.properties };
    const key = entryKey(reEntry, entry, before);
    if (isKeptOut(reEntry, before, event.occurred_at) || this.#keys.has(key)) return 're_entry';
    this.#keys.add(key);
    this.#latest.set(person.profileId, {
      run_id: event.event_id,
      automation_id: event.event_id,
      identity_id: identityId,
      started_at: event.occurred_at,
      trigger_event_id: event.event_id,
    });
    return 'entered';
  }
}

const toRun = (kept: Kept, definition: Definition, event: Event, person: Person) => ({
  run_id: newId(),
  automation_id: kept.automation_id,
  version: kept.latest_version,
  identity_id: person.identityId,
  definition,
  step_id: definition.entry,
  until: null,
  trigger_event_id: event.event_id,
  trigger_event_at: event.occurred_at,
  started_at: event.occurred_at,
  entries: 0,
});

type Asked = { kept: Kept; definition: Definition; from: Date; now: Date };

const readTriggered = async (scope: Scope, { definition, from, now }: Asked): Promise<Event[]> => {
  const { trigger } = definition;
  if (trigger.kind !== 'event') return [];
  const limit = SIMULATED_RUNS_MAX + 1;
  const events = await listPast(scope, { name: trigger.event, from, to: now, limit });
  return events.filter(({ properties }) => hold(trigger.filters, properties));
};

const follow = async (scope: Scope, asked: Asked, tally: Tally): Promise<void> => {
  const { kept, definition, now } = asked;
  const events = await readTriggered(scope, asked);
  const people = await readPeople(scope, events);
  const entrance = new Entrance(definition);
  const endAt = performance.now() + SIMULATION_TIME_MAX_MS;
  for (const [at, event] of events.entries()) {
    if (at >= SIMULATED_RUNS_MAX || performance.now() > endAt) {
      tally.isPartial = true;
      return;
    }
    const somebody = people.get(keyOf(event));
    if (!somebody) continue;
    const entered = entrance.enter(event, somebody);
    if (entered !== 'entered') tally.keepOut(entered);
    else {
      const run = toRun(kept, definition, event, somebody);
      tally.add(
        event,
        somebody.person,
        await walkPast(scope, { run, somebody, trigger: event, now }),
      );
    }
  }
};

/** Runs a version over the past of the project, without a trace. */
export const simulate = (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
  kept: Kept,
  { days, version }: { days: number; version: number },
): Promise<Simulation> =>
  inSnapshot(deps, projectId, async (scope) => {
    const definition = await findVersion(scope, kept.automation_id, version);
    if (definition === null)
      throw new Refusal('invalid_request', {
        issues: [{ path: '/version', message: 'there is no such version' }],
      });
    const now = await readClock(scope);
    const from = new Date(now.getTime() - days * DAY_MS);
    const tally = new Tally(definition);
    await follow(scope, { kept, definition, from, now }, tally);
    return {
      automation_id: kept.automation_id,
      version,
      from: from.toISOString(),
      to: now.toISOString(),
      ...tally.told(),
    };
  });
