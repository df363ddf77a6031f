import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import type { PastPeople, PastPerson } from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import type { ReadAhead } from './ahead.ts';
import { isMeant } from './event_match.ts';
import { beginningOf, compare, isAfter } from './past.ts';
import { listEventsOf, listSentBeside } from './past_queries.ts';
import type { PastEvent } from './past_queries.ts';
import type { EventMatch } from './condition_schema.ts';
import type { PersonView, Run } from './world.ts';

/** How many events of one name are read of some people who were ever linked. */
export const FAMILY_EVENTS_MAX = 10_000;
const PAGE_EVENTS_MAX = 1_000;

type Event = PastEvent & { identityId: string };
/** A mail that was planned for somebody. */
export type Planned = { identityId: string; at: Date; isBrowserTriggered: boolean };
type Bounds = { since: Date; now: Date; automationId: string; ahead: ReadAhead };

/** The first of some moments after another. */
const firstAfter = (times: readonly Date[], after: Date): Date | null => {
  const [first] = times.filter((at) => at > after).toSorted((a, b) => a.getTime() - b.getTime());
  return first ?? null;
};

/**
 * The past of those who were ever linked to each other, asked as of any moment: nothing that came after it is told.
 * What would have been sent to them is noted here, since all their runs ask for it.
 */
export class Family {
  /** What their runs would have sent so far. */
  readonly planned: Planned[] = [];
  /** Whether there were more events than are read. */
  isCut = false;
  readonly people: PastPeople;
  readonly #scope: Scope;
  readonly #ids: readonly string[];
  readonly #bounds: Bounds;
  readonly #events = new Map<string, Promise<Event[]>>();
  readonly #entries = new Map<string, Promise<readonly segments.PastEntry[]>>();
  #beside: Promise<Planned[]> | null = null;

  constructor(scope: Scope, people: PastPeople, ids: readonly string[], bounds: Bounds) {
    this.#scope = scope;
    this.people = people;
    this.#ids = ids;
    this.#bounds = bounds;
  }

  personAt(run: Run, at: Date): PastPerson | null {
    return this.people.at(run.identity_id, at);
  }

  async viewAt(run: Run, at: Date): Promise<PersonView | null> {
    const person = this.personAt(run, at);
    if (person === null) return null;
    const { profileId, email, traits } = person;
    return { profileId, email, traits, tags: await this.people.tagsAt(email, at) };
  }

  /** The first event that matches after a run began and by `until`, of those that had come by `at`. */
  async firstEvent(
    run: Run,
    match: EventMatch,
    { until, at }: { until: Date; at: Date },
  ): Promise<PastEvent | null> {
    const isMember = this.#membersAt(run, at);
    const found = (await this.#eventsFor(run, match)).find(
      (event) =>
        isMember(event.identityId) &&
        ingest.arrivalOf(event) <= at &&
        ingest.occurredBy(event) <= until,
    );
    return found ?? null;
  }

  /** When the next event comes that matches. */
  async nextEvent(run: Run, match: EventMatch, after: Date): Promise<Date | null> {
    const arrivals = (await this.#eventsFor(run, match)).flatMap((event) => {
      const at = ingest.arrivalOf(event);
      return this.#membersAt(run, at)(event.identityId) ? [at] : [];
    });
    return firstAfter(arrivals, after);
  }

  /** When the person first came into a segment after a run began. */
  async entered(run: Run, segmentId: string, { until, at }: { until: Date; at: Date }) {
    const profileId = this.personAt(run, at)?.profileId;
    const entries = await this.#entriesOf(segmentId);
    const found = entries.find(
      (one) =>
        one.profile_id === profileId &&
        // Late events occurred as long before the entry as they were late.
        one.changed_at.getTime() - (one.lag_ms ?? 0) >= run.started_at.getTime() &&
        one.changed_at <= until &&
        one.changed_at <= at,
    );
    return found ? { entry: found.entry, at: found.changed_at } : null;
  }

  /** When somebody of them is linked next: what others did is the person's own from then on. */
  nextLink(after: Date): Date | null {
    return firstAfter(this.people.listLinkTimes(this.#ids), after);
  }

  /** When one of them joins another, or leaves, next. */
  nextRelink(after: Date): Date | null {
    return firstAfter(this.people.listRelinkTimes(this.#ids), after);
  }

  async nextEntry(run: Run, segmentId: string, after: Date): Promise<Date | null> {
    const entries = await this.#entriesOf(segmentId);
    const times = entries.flatMap(({ profile_id: profileId, changed_at: at }) =>
      this.personAt(run, at)?.profileId === profileId ? [at] : [],
    );
    return firstAfter(times, after);
  }

  /**
   * Returns when the person of a run was sent emails: by these runs and, of a whole project, by other automations. A
   * run that a server started does not count browser-triggered ones.
   */
  async sentSince(
    run: Run,
    { since, at }: { since: Date; at: Date },
    of: 'automation' | 'project',
  ): Promise<Date[]> {
    const isMember = this.#membersAt(run, at);
    const beside = of === 'project' ? await (this.#beside ??= this.#readBeside()) : [];
    return [...this.planned, ...beside]
      .filter((one) => isMember(one.identityId) && one.at > since && one.at <= at)
      .filter((one) => run.source !== 'server' || !one.isBrowserTriggered)
      .map((one) => one.at)
      .toSorted((a, b) => a.getTime() - b.getTime());
  }

  #membersAt(run: Run, at: Date): (identityId: string) => boolean {
    const members = new Set(this.personAt(run, at)?.members.map(({ identity_id }) => identity_id));
    return (identityId) => members.has(identityId);
  }

  async #eventsFor(run: Run, match: EventMatch): Promise<Event[]> {
    const { event: name } = match;
    const events = this.#events.get(name) ?? this.#readEvents(name);
    this.#events.set(name, events);
    const beginning = beginningOf(run);
    return (await events).filter(
      (event) =>
        event.occurred_at >= beginning.at && isAfter(event, beginning) && isMeant(match, event),
    );
  }

  async #readEvents(name: string): Promise<Event[]> {
    const { since, now: until } = this.#bounds;
    const all: Event[] = [];
    for (const identityId of this.#ids) {
      const known = this.people.identify(identityId);
      const ahead = this.#bounds.ahead.eventsOf(name, identityId);
      all.push(...(ahead ?? []).map((event) => ({ ...event, identityId })));
      this.isCut ||= all.length >= FAMILY_EVENTS_MAX;
      if (ahead !== null) continue;
      for (let from: Date | null = since; known && from && !this.isCut;) {
        const page = { name, from, until, limit: PAGE_EVENTS_MAX };
        const events: readonly PastEvent[] = await listEventsOf(this.#scope, known, page);
        all.push(...events.map((event) => ({ ...event, identityId })));
        const last = events.length < PAGE_EVENTS_MAX ? undefined : events.at(-1);
        from = last ? new Date(last.occurred_at.getTime() + 1) : null;
        this.isCut = all.length >= FAMILY_EVENTS_MAX;
      }
    }
    return all.toSorted(compare);
  }

  #entriesOf(segmentId: string): Promise<readonly segments.PastEntry[]> {
    const profileIds = this.#ids.flatMap((id) => this.people.identify(id)?.own_profile_id ?? []);
    const asked = { segmentId, change: 'entered' as const };
    const { since, ahead } = this.#bounds;
    const read = ahead.entriesOf(segmentId, profileIds);
    const entries =
      this.#entries.get(segmentId) ??
      (read
        ? Promise.resolve(read)
        : segments.listEntriesOf(this.#scope, asked, { profileIds, since }));
    this.#entries.set(segmentId, entries);
    return entries;
  }

  async #readBeside(): Promise<Planned[]> {
    const { automationId, ahead } = this.#bounds;
    const rows =
      ahead.besideOf(this.#ids) ?? (await listSentBeside(this.#scope, this.#ids, automationId));
    return rows.map((row) => ({
      identityId: row.identity_id,
      at: row.queued_at,
      isBrowserTriggered: row.is_browser_triggered,
    }));
  }
}
