import type { PastSegments } from '../segments/segments.ts';
import type { PastSpellings } from '../delivery/delivery.ts';
import { newId } from '../base/ids.ts';
import { entryKey, isKeptOut, sourceOf } from './entering.ts';
import type { Family } from './family.ts';
import type { Definition } from './schema.ts';
import type { Came } from './simulated.ts';
import type { Entered } from './trigger_queries.ts';
import { beginVirtual, walkOn } from './virtual.ts';
import type { Clock, SentTo, Virtual } from './virtual.ts';
import type { Run } from './world.ts';

/** Which automation is simulated, in which version. */
export type Simulated = {
  automationId: string;
  version: number;
  definition: Definition;
  segments: PastSegments;
  sentTo: Map<string, SentTo[]>;
  spellings: PastSpellings;
  recipientMax: number;
  now: Date;
};

/** What became of somebody who came. */
export type Walked =
  | { kind: 'kept_out'; came: Came; reason: 'late' | 're_entry' }
  | { kind: 'entered'; came: Came; virtual: Virtual };

const toRun = ({ automationId, version, definition }: Simulated, came: Came): Run => ({
  run_id: newId(),
  automation_id: automationId,
  version,
  identity_id: came.identityId,
  definition,
  step_id: definition.entry,
  until: null,
  trigger_event_id: came.by.kind === 'event' ? came.by.eventId : null,
  trigger_event_at: came.by.kind === 'event' ? came.by.at : null,
  trigger_entry: came.by.kind === 'entry' ? came.by.entry : null,
  source: sourceOf(came.by),
  started_at: came.at,
  may_call: true,
  is_test: false,
  entries: 0,
});

/** Who is in, and by which keys: the last run of each identity. */
class Entrance {
  readonly #family: Family;
  readonly #simulated: Simulated;
  readonly #latest = new Map<string, Entered>();
  readonly #keys = new Set<string>();

  constructor(family: Family, simulated: Simulated) {
    this.#family = family;
    this.#simulated = simulated;
  }

  /** Lets somebody in by what came, or says why not. */
  enter(came: Came): Walked {
    const { by, identityId, at } = came;
    const { re_entry: reEntry } = this.#simulated.definition.settings;
    if (by.isLate) return { kind: 'kept_out', came, reason: 'late' };
    const before = this.#findBefore(came);
    const key = entryKey(reEntry, { identityId, by }, before);
    if (isKeptOut(reEntry, before, at) || this.#keys.has(key))
      return { kind: 'kept_out', came, reason: 're_entry' };
    this.#keys.add(key);
    const run = toRun(this.#simulated, came);
    this.#latest.set(identityId, { ...run });
    return { kind: 'entered', came, virtual: beginVirtual(run, came.event) };
  }

  /** The last run of whoever came, under any of the identities that they had then. */
  #findBefore({ identityId, at }: Came): Entered | null {
    const members = this.#family.people.at(identityId, at)?.members ?? [];
    return members
      .flatMap(({ identity_id }) => this.#latest.get(identity_id) ?? [])
      .reduce<Entered | null>(
        (last, one) => (last === null || one.started_at > last.started_at ? one : last),
        null,
      );
  }
}

const byWake = (a: Virtual, b: Virtual): number =>
  (a.wakeAt?.getTime() ?? 0) - (b.wakeAt?.getTime() ?? 0);

const findDue = (runs: readonly Virtual[]): Virtual | null =>
  runs.filter(({ wakeAt }) => wakeAt !== null).toSorted(byWake)[0] ?? null;

/**
 * Lets the past of some people go by, moment after moment: who comes enters, whatever run is due walks on. So what
 * their runs ask of each other, such as how many mails there were, is as it would have been.
 */
export const walkFamily = async (
  family: Family,
  came: readonly Came[],
  simulated: Simulated,
): Promise<Walked[]> => {
  const entrance = new Entrance(family, simulated);
  const walked: Walked[] = [];
  const runs: Virtual[] = [];
  const clock: Clock = { now: simulated.now };
  const { segments, sentTo, spellings, recipientMax } = simulated;
  const past = { family, segments, sentTo, spellings, recipientMax, clock };
  const coming = [...came];
  for (;;) {
    const due = findDue(runs);
    const [next] = coming;
    const isDue = due?.wakeAt && (!next || due.wakeAt < next.at);
    const at = isDue ? due.wakeAt : next?.at;
    if (!at || at > simulated.now) return walked;
    clock.now = at;
    if (isDue) {
      await walkOn(due, past);
      continue;
    }
    const [one] = coming.splice(0, 1);
    if (!one) return walked;
    const entered = entrance.enter(one);
    walked.push(entered);
    if (entered.kind === 'entered') runs.push(entered.virtual);
  }
};
