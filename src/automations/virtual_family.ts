import type { PastSegments } from '../segments/segments.ts';
import type { PastSpellings } from '../delivery/delivery.ts';
import { newId } from '../base/ids.ts';
import { entryKey, isKeptOut, keysOfPerson, sourceOf } from './entering.ts';
import type { Family } from './family.ts';
import type { Definition } from './schema.ts';
import type { Came } from './simulated.ts';
import type { Entered } from './trigger_queries.ts';
import { MERGED } from './merges/rule.ts';
import { beginVirtual, walkOn } from './virtual.ts';
import type { Clock, Past, SentTo, Virtual } from './virtual.ts';
import { settleVirtual } from './virtual_merges.ts';
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

/** Who is in, and by which keys. A run that ended as merged does not count. */
class Entrance {
  readonly #family: Family;
  readonly #simulated: Simulated;
  readonly #runs: Virtual[];
  readonly #keys = new Set<string>();

  constructor(family: Family, simulated: Simulated, runs: Virtual[]) {
    this.#family = family;
    this.#simulated = simulated;
    this.#runs = runs;
  }

  /** Lets somebody in by what came, or says why not. */
  enter(came: Came): Walked {
    const { by, identityId, at } = came;
    const { re_entry: reEntry } = this.#simulated.definition.settings;
    if (by.isLate) return { kind: 'kept_out', came, reason: 'late' };
    const memberIds = this.#family.people.at(identityId, at)?.members ?? [];
    const members = new Set(memberIds.map(({ identity_id }) => identity_id));
    const counted = this.#runs.filter(
      ({ run, outcome }) => outcome !== MERGED && members.has(run.identity_id),
    );
    const before = counted.reduce<Entered | null>(
      (last, { run }) => (last === null || run.started_at > last.started_at ? run : last),
      null,
    );
    const key = entryKey(reEntry, { identityId, by }, before);
    const others = new Set(keysOfPerson(reEntry, { identityId, by }, [...members]));
    const isUsed = this.#keys.has(key) || counted.some((one) => others.has(one.entryKey));
    if (isKeptOut(reEntry, before, at) || isUsed)
      return { kind: 'kept_out', came, reason: 're_entry' };
    this.#keys.add(key);
    const virtual = beginVirtual(toRun(this.#simulated, came), {
      trigger: came.event,
      entryKey: key,
    });
    this.#runs.push(virtual);
    return { kind: 'entered', came, virtual };
  }
}

const byWake = (a: Virtual, b: Virtual): number =>
  (a.wakeAt?.getTime() ?? 0) - (b.wakeAt?.getTime() ?? 0);

const findDue = (runs: readonly Virtual[]): Virtual | null =>
  runs.filter(({ wakeAt }) => wakeAt !== null).toSorted(byWake)[0] ?? null;

/**
 * Lets the past of some people go by, moment after moment: with each link and undo their runs are compared, who comes
 * enters, whatever run is due walks on. So what their runs ask of each other, such as how many mails there were, is as
 * it would have been.
 */
export const walkFamily = async (
  family: Family,
  came: readonly Came[],
  simulated: Simulated,
): Promise<Walked[]> => {
  const runs: Virtual[] = [];
  const entrance = new Entrance(family, simulated, runs);
  const walked: Walked[] = [];
  const clock: Clock = { now: simulated.now };
  const { segments, sentTo, spellings, recipientMax } = simulated;
  const past: Past = { family, runs, segments, sentTo, spellings, recipientMax, clock };
  const coming = [...came];
  let relinkAt = family.nextRelink(new Date(0));
  for (;;) {
    const due = findDue(runs);
    const [next] = coming;
    const isDue = due?.wakeAt && (!next || due.wakeAt < next.at);
    const at = isDue ? due.wakeAt : next?.at;
    const isOver = !at || at > simulated.now;
    if (relinkAt !== null && relinkAt <= (isOver ? simulated.now : at)) {
      clock.now = relinkAt;
      await settleVirtual(past);
      relinkAt = family.nextRelink(relinkAt);
      continue;
    }
    if (isOver) return walked;
    clock.now = at;
    if (isDue) {
      await walkOn(due, past);
      continue;
    }
    const [one] = coming.splice(0, 1);
    if (!one) return walked;
    const entered = entrance.enter(one);
    walked.push(entered);
  }
};
