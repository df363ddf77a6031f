import type { Scope } from '../base/db.ts';
import type * as delivery from '../delivery/delivery.ts';
import type * as ingest from '../ingest/ingest.ts';
import type * as profiles from '../profiles/profiles.ts';
import { openBatched } from './batched.ts';
import type { Batched } from './batched.ts';
import type { DueRun } from './due_queries.ts';
import type { Others } from './merges/others.ts';
import type { PersonView } from './world.ts';

export type Member = Awaited<ReturnType<typeof profiles.listMembers>>[number];

const getOrAsk = <Answer>(
  answers: Map<string, Promise<Answer>>,
  key: string,
  ask: () => Promise<Answer>,
): Promise<Answer> => {
  const answer = answers.get(key) ?? ask();
  answers.set(key, answer);
  return answer;
};

/**
 * What the walks of one transaction share: people and trigger events, each read once, queries that are answered
 * together, and what the walks leave for later. A person who was changed is read again.
 */
export class WalkContext {
  readonly now: Date;
  readonly batched: Batched;
  /** What the other runs of their people did. */
  readonly others: Others;
  /** Providers that emails were planned for. */
  readonly queuedFor = new Set<string>();
  /** Endpoints that are to be called. */
  readonly calledAt = new Set<string>();
  /** Emails that are not even planned, for the timelines. */
  readonly skipped: delivery.Skip[] = [];
  readonly #people = new Map<string, Promise<PersonView | null>>();
  readonly #members = new Map<string, Promise<readonly Member[]>>();
  readonly #events = new Map<string, Promise<ingest.Event | null>>();

  constructor(scope: Scope, now: Date, others: Others) {
    this.now = now;
    this.others = others;
    this.batched = openBatched(scope, now, others);
  }

  /** Finds a person as the walks before left them; null once they are gone. */
  findPerson(profileId: string): Promise<PersonView | null> {
    return getOrAsk(this.#people, profileId, () => this.batched.findPerson(profileId));
  }

  /** Has a person read again, after a change. */
  forget(profileId: string): void {
    this.#people.delete(profileId);
  }

  /** Lists the identities of a person. */
  listMembers(profileId: string): Promise<readonly Member[]> {
    return getOrAsk(this.#members, profileId, () => this.batched.listMembers(profileId));
  }

  /** Finds the trigger event of a run. */
  findTrigger(run: DueRun): Promise<ingest.Event | null> {
    const { trigger_event_id: eventId, trigger_event_at: occurredAt } = run;
    if (eventId === null || occurredAt === null) return Promise.resolve(null);
    return getOrAsk(this.#events, eventId, () => this.batched.findEvent({ eventId, occurredAt }));
  }
}
