import type { Scope } from '../base/db.ts';
import { todayAt } from './compile.ts';
import { listCounted, listUsed } from './conditions.ts';
import { evaluate } from './evaluate.ts';
import type { Counter, Person } from './evaluate.ts';
import { countAt, listMembershipsAt, listPastSegments } from './past_queries.ts';
import { listConditions, partsOf } from './schema.ts';
import type { Condition } from './schema.ts';

type Past = Awaited<ReturnType<typeof listPastSegments>>[number];

/** Somebody as they were at a moment, for whoever asks about that moment. */
export type PastSubject = {
  profileId: string;
  members: readonly { kind: 'external' | 'anonymous'; value: string }[];
  email: string | null;
  traits: Person['traits'];
  tags: readonly string[];
};

/** Nobody had been imported by then. */
const NOBODY = (segment_id: string): Condition => ({ kind: 'imported', segment_id });

const rebuilt = (condition: Condition, change: (leaf: Condition) => Condition): Condition => {
  if (condition.kind === 'not') return { ...condition, of: rebuilt(condition.of, change) };
  if (condition.kind === 'all' || condition.kind === 'any')
    return { ...condition, of: condition.of.map((part) => rebuilt(part, change)) };
  return change(condition);
};

/**
 * The segments of a project as they were: who was in one is told by who came and went. One that was made later is
 * asked what it asks today, of that moment.
 */
export class PastSegments {
  readonly #scope: Scope;
  readonly #known: Map<string, Past>;

  private constructor(scope: Scope, known: Map<string, Past>) {
    this.#scope = scope;
    this.#known = known;
  }

  /** Some segments, and those that they ask about. */
  static async read(scope: Scope, segmentIds: readonly string[]): Promise<PastSegments> {
    const known = new Map<string, Past>();
    for (let fresh = [...new Set(segmentIds)]; fresh.length > 0;) {
      const rows = await listPastSegments(scope, fresh);
      for (const row of rows) known.set(row.segment_id, row);
      const used = rows.flatMap(({ where }) =>
        where === null ? [] : listUsed({ where: where as Condition }),
      );
      fresh = [...new Set(used)].filter((id) => !known.has(id));
      if (rows.length === 0) break;
    }
    return new PastSegments(scope, known);
  }

  /** When a segment was made: of the time before, nobody knows who came and went. */
  madeAt(segmentId: string): Date | null {
    return this.#known.get(segmentId)?.created_at ?? null;
  }

  /** The segments that a condition asks about and that were made after a moment. */
  listYounger(where: Condition, at: Date): string[] {
    return listUsed({ where }).filter((id) => (this.madeAt(id) ?? at) > at);
  }

  /** The traits that are asked about, also by way of segments that were made after a moment. */
  listTraits(where: Condition, at: Date): string[] {
    return listConditions(this.#as(where, at, new Set())).flatMap((one) => {
      if (one.kind === 'trait') return [one.trait];
      return ['tag', 'suppressed', 'subscribed'].includes(one.kind) ? ['email'] : [];
    });
  }

  /** Whether a condition held for somebody at a moment. */
  async holds(where: Condition, subject: PastSubject, at: Date): Promise<boolean> {
    const asked = this.#as(where, at, new Set());
    const definition = { version: 1, include_suppressed: true, where: asked } as const;
    const counters: Counter[] = [];
    for (const condition of listCounted([definition]))
      for (const counted of await countAt(this.#scope, subject.members, { condition, at }))
        counters.push({ condition_id: condition.conditionId, ...counted });
    const segmentIds = listUsed({ where: asked });
    const inside =
      segmentIds.length === 0
        ? []
        : await listMembershipsAt(this.#scope, subject.profileId, { segmentIds, at });
    const { email, traits, tags } = subject;
    const person: Person = {
      email,
      traits,
      tags,
      counters,
      segmentIds: new Set(inside.map(({ segment_id }) => segment_id)),
      importedInto: new Set(),
    };
    return evaluate(definition, person, todayAt(at)).isMember;
  }

  /** A condition in which segments that were not there yet say what they ask. */
  #as(where: Condition, at: Date, open: ReadonlySet<string>): Condition {
    if (partsOf(where).length === 0 && where.kind !== 'segment') return where;
    return rebuilt(where, (leaf) => {
      if (leaf.kind !== 'segment') return leaf;
      const known = this.#known.get(leaf.segment_id);
      if (!known || known.created_at <= at) return leaf;
      if (known.where === null || open.has(leaf.segment_id)) return NOBODY(leaf.segment_id);
      const inner = this.#as(known.where as Condition, at, new Set([...open, leaf.segment_id]));
      return known.include_suppressed
        ? inner
        : { kind: 'all', of: [{ kind: 'not', of: { kind: 'suppressed' } }, inner] };
    });
  }
}
