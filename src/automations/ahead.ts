import type { Scope } from '../base/db.ts';
import type { PastPeople } from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import { listFirstEventsOf, listSentBeside } from './past_queries.ts';
import type { PastEvent } from './past_queries.ts';
import { listRunLeaves } from './conditions.ts';
import type { Definition } from './schema.ts';

/** How many families are read for together. */
export const FAMILIES_AHEAD_MAX = 100;
/** How many events of a name are read ahead of somebody; whoever has more is asked by themselves. */
export const EVENTS_AHEAD_MAX = 100;

/** Some people who were ever linked, and since when their past matters. */
export type Ahead = { ids: readonly string[]; since: Date };
type Asked = { definition: Definition; automationId: string; now: Date };
type Beside = Awaited<ReturnType<typeof listSentBeside>>[number];

/** The events that a version may ask anybody for. */
const listNames = ({ settings: { goal }, steps }: Definition): string[] => [
  ...new Set([
    ...(goal && 'event' in goal ? [goal.event] : []),
    ...Object.values(steps).flatMap((step) => {
      if (step.kind === 'wait_for_event') return [step.event];
      if (step.kind !== 'branch') return [];
      const asked = step.branches.flatMap(({ when }) => listRunLeaves(when));
      return asked.flatMap((one) => (one.kind === 'event_since' ? [one.event] : []));
    }),
  ]),
];

const groupBy = <T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> =>
  Map.groupBy(all, keyOf);

/** What some families are likely to be asked, read for all of them in a few statements. */
export class ReadAhead {
  readonly #events = new Map<string, Map<string, PastEvent[]>>();
  readonly #entries = new Map<string, Map<string, segments.PastEntry[]>>();
  #beside: Map<string, Beside[]> | null = null;

  static async of(
    scope: Scope,
    people: PastPeople,
    families: readonly Ahead[],
    { definition, automationId, now }: Asked,
  ): Promise<ReadAhead> {
    const ahead = new ReadAhead();
    const ids = families.flatMap((family) => family.ids);
    const { goal, frequency_cap: cap } = definition.settings;
    await people.readAhead(ids);
    const known = families.flatMap(({ ids: own, since }) =>
      own.flatMap((id) => {
        const person = people.identify(id);
        return person ? [{ id, kind: person.kind, value: person.value, since, until: now }] : [];
      }),
    );
    for (const name of listNames(definition)) {
      const rows = await listFirstEventsOf(scope, known, { name, limit: EVENTS_AHEAD_MAX + 1 });
      ahead.#events.set(
        name,
        groupBy(rows, ({ identity_id }) => identity_id),
      );
    }
    if (goal && 'segment_id' in goal) {
      const profileIds = ids.flatMap((id) => people.identify(id)?.own_profile_id ?? []);
      const since = new Date(Math.min(...families.map((one) => one.since.getTime())));
      const sought = { segmentId: goal.segment_id, change: 'entered' as const };
      const rows = await segments.listEntriesOf(scope, sought, { profileIds, since });
      ahead.#entries.set(
        goal.segment_id,
        groupBy(rows, ({ profile_id }) => profile_id),
      );
    }
    if (cap?.of === 'project') {
      const rows = await listSentBeside(scope, ids, automationId);
      ahead.#beside = groupBy(rows, ({ identity_id }) => identity_id);
    }
    return ahead;
  }

  /** Somebody's events of a name; null when they were not read, or not all. */
  eventsOf(name: string, identityId: string): readonly PastEvent[] | null {
    const read = this.#events.get(name);
    if (!read) return null;
    const events = read.get(identityId) ?? [];
    return events.length > EVENTS_AHEAD_MAX ? null : events;
  }

  /** When some profiles came into a segment, in their order; null when that was not read. */
  entriesOf(segmentId: string, profileIds: readonly string[]): segments.PastEntry[] | null {
    const read = this.#entries.get(segmentId);
    if (!read) return null;
    return profileIds.flatMap((id) => read.get(id) ?? []).toSorted((a, b) => a.entry - b.entry);
  }

  /** Mail that some people were sent beside; null when that was not read. */
  besideOf(ids: readonly string[]): Beside[] | null {
    const read = this.#beside;
    return read && ids.flatMap((id) => read.get(id) ?? []);
  }
}
