import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import type { DueRun } from './due_queries.ts';
import type { Definition } from './schema.ts';
import type { PersonView } from './world.ts';

/** A due run with what its version says. */
export type WalkedRun = DueRun & { definition: Definition };

const toView = (row: profiles.ProfileRow): PersonView => ({
  profileId: row.profile_id,
  email: row.email,
  traits: row.traits,
  tags: row.tags,
});

/**
 * What runs that are walked in one transaction ask about people and events, asked for all of them at once: a
 * thousand runs are a few statements. A person who was changed is read again.
 */
export class Together {
  readonly #scope: Scope;
  readonly #runs: readonly DueRun[];
  readonly #people: Map<string, PersonView>;
  readonly #changed = new Set<string>();
  /** Whose address a server has said since they were asked about. */
  readonly #confirmed = new Set<string>();
  #confirmedBefore: Promise<Set<string>> | null = null;
  #events: Promise<Map<string, ingest.Event>> | null = null;

  private constructor(scope: Scope, runs: readonly DueRun[], people: Map<string, PersonView>) {
    this.#scope = scope;
    this.#runs = runs;
    this.#people = people;
  }

  static async open(
    scope: Scope,
    runs: readonly DueRun[],
    profileIds: readonly string[],
  ): Promise<Together> {
    const rows = await profiles.listRows(scope, [...new Set(profileIds)]);
    return new Together(scope, runs, new Map(rows.map((row) => [row.profile_id, toView(row)])));
  }

  /** Returns null where the person is gone. */
  async findPerson(profileId: string): Promise<PersonView | null> {
    if (!this.#changed.has(profileId)) return this.#people.get(profileId) ?? null;
    const row = await profiles.findRow(this.#scope, profileId);
    if (!row) return null;
    this.#people.set(profileId, toView(row));
    this.#changed.delete(profileId);
    return toView(row);
  }

  /** Notes that a person was changed since they were read. */
  forget(profileId: string): void {
    this.#changed.add(profileId);
  }

  /** Notes that a server, or the automation itself, asserted the address of a person. */
  confirm(profileId: string): void {
    this.#confirmed.add(profileId);
  }

  /** Whether a server asserted the address of a person, and not only a browser. That never changes back. */
  async isConfirmed(profileId: string): Promise<boolean> {
    const before = await (this.#confirmedBefore ??= profiles.listConfirmed(this.#scope, [
      ...this.#people.values(),
    ]));
    return this.#confirmed.has(profileId) || before.has(profileId);
  }

  async findTrigger({ trigger_event_id: eventId }: DueRun): Promise<ingest.Event | null> {
    if (eventId === null) return null;
    return (await (this.#events ??= this.#readEvents())).get(eventId) ?? null;
  }

  /**
   * Whether what a run is due for may have been done before a backup was restored: the backup had it, or the event
   * that starts it, or it is not known when its person came into a segment first.
   */
  async wasInBackup(run: DueRun): Promise<boolean> {
    const { restored_at: restoredAt } = run;
    if (restoredAt === null) return false;
    if (run.started_at < restoredAt) return true;
    if (run.trigger_event_id === null) return run.trigger_entry !== null;
    const event = await this.findTrigger(run);
    return event === null || event.received_at < restoredAt;
  }

  async #readEvents(): Promise<Map<string, ingest.Event>> {
    const keys = this.#runs.flatMap(
      ({ trigger_event_id: eventId, trigger_event_at: occurredAt }) =>
        eventId === null || occurredAt === null ? [] : [{ eventId, occurredAt }],
    );
    const events = await ingest.listEvents(this.#scope, keys);
    return new Map(events.map((event) => [event.event_id, event]));
  }
}
