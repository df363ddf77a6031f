// What clients asked for, and what they were told: all that a run is held to.

export type Role = 'plain' | 'linked' | 'manual' | 'told' | 'erased';

/** `unknown`: nobody answered before the run was over. */
export type Fate = 'stored' | 'refused' | 'unknown';

export type AskedEvent = {
  projectId: string;
  /** What its message id and a property of it are. */
  op: string;
  event: string;
  external_id: string | null;
  anonymous_id: string | null;
  properties: Record<string, string | number | boolean>;
  occurred_at: string;
  fate: Fate;
  /** What the answer called it. */
  event_id: string | null;
};

export type Said = 'suppress' | 'lift' | 'unsubscribe' | 'resubscribe' | 'bounce' | 'complaint';

/** What was said about an address, in milliseconds since 1970; `ackedAt` is null where nobody answered. */
export type AddressSaid = {
  projectId: string;
  email: string;
  said: Said;
  askedAt: number;
  ackedAt: number | null;
};

export type Person = {
  projectId: string;
  external_id: string;
  anonymous_id: string;
  email: string;
  role: Role;
  /** Whether the device is theirs: null where that was left open. */
  isLinked: boolean | null;
  links: { linked: number; undone: number };
  /** When the erase was answered; `asked` where nobody answered. */
  erase: 'none' | 'asked' | { ackedAt: number };
};

/** What a server key changed, by the id of its request, which is the same each time it is tried. */
export type Changed = { projectId: string; kind: string; requestId: string; isDone: boolean };

/** What somebody made, and how it should stand by what was answered; null where nobody answered. */
export type Made = {
  projectId: string;
  what: 'key' | 'provider' | 'automation';
  id: string;
  stands: string | null;
};

export class Journal {
  /** By the database's clock: what was there before is nobody's change. */
  startedAt = new Date(0);
  readonly made: Made[] = [];
  readonly changed: Changed[] = [];
  readonly events: AskedEvent[] = [];
  readonly said: AddressSaid[] = [];
  readonly people: Person[] = [];
  /** How often which request was answered how. */
  readonly answers = new Map<string, number>();
  /** Answers that nobody should have got. */
  readonly surprises: string[] = [];
  /** Bodies of refusals, in which no secret may be. */
  readonly refusals: string[] = [];

  note(kind: string, status: number | string): void {
    const name = `${kind} ${status}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
  }

  /** Those whose events and addresses may be gone, or are. */
  isErased(externalId: string | null, anonymousId: string | null): boolean {
    return this.#erased().has(externalId ?? '') || this.#erased().has(anonymousId ?? '');
  }

  #known: { size: number; names: Set<string> } | null = null;
  #erased(): Set<string> {
    const erased = this.people.filter(({ erase }) => erase !== 'none');
    if (this.#known?.size !== erased.length) {
      const names = erased.flatMap((one) => [one.external_id, one.anonymous_id]);
      this.#known = { size: erased.length, names: new Set(names) };
    }
    return this.#known.names;
  }
}
