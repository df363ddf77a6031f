import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import { readDefinitions } from './definitions.ts';
import { openLive } from './live.ts';
import { groupDependent, lockAhead } from './recipients.ts';
import { isOver, readClock } from './run_queries.ts';
import type { DueRun } from './run_queries.ts';
import { saveWalks } from './save_walks.ts';
import type { Definition } from './schema.ts';
import { postponeRun } from './stand_queries.ts';
import { walk } from './walk.ts';
import type { Walked } from './walk.ts';
import { WalkContext } from './walk_context.ts';
import type { WalkedRun } from './walk_context.ts';

/** How often a run that cannot be walked is tried before it is given up. */
export const RUN_FAILURES_MAX = 10;

/** What walks leave: providers with new emails, endpoints with new calls, and whether some runs look once more. */
export type Done = { queuedFor: Set<string>; calledAt: Set<string>; isMore: boolean };

/** The profiles of identities that are locked. */
export type ProfileOf = ReadonlyMap<string, string>;

const ARCHIVED: Walked = { log: [], stand: { kind: 'ended', outcome: 'archived' } };
const ERASED: Walked = { log: [], stand: { kind: 'ended', outcome: 'erased' } };

/** A test shows its emails at once: its only recipient asked for them. */
const asTried = (definition: Definition): Definition => ({
  ...definition,
  settings: { ...definition.settings, quiet_hours: null, frequency_cap: null },
});

/**
 * Whether what a run is due for may have been done before a backup was restored: the backup had it, or the event
 * that starts it, or nobody knows when it came into a segment first.
 */
const wasInBackup = async (run: DueRun, context: WalkContext): Promise<boolean> => {
  const { restored_at: restoredAt } = run;
  if (restoredAt === null) return false;
  if (run.started_at < restoredAt) return true;
  if (run.trigger_event_id === null) return run.trigger_entry !== null;
  const event = await context.findTrigger(run);
  return event === null || event.received_at < restoredAt;
};

const walkOne = async (
  run: WalkedRun,
  profileId: string | undefined,
  context: WalkContext,
): Promise<Walked> => {
  if (isOver(run)) return ARCHIVED;
  if (profileId === undefined) return ERASED;
  const around = { now: context.now, dueAt: run.wake_at, ...openLive({ run, profileId, context }) };
  return walk(run, { ...around, isRestored: await wasInBackup(run, context) });
};

/**
 * Walks groups of runs side by side, the runs of a group one after the other. What the walks of all groups ask at the
 * same moment is answered together. Throws the first error, once no walk asks any more.
 */
const walkGroups = async (
  scope: Scope,
  groups: readonly (readonly DueRun[])[],
  profileOf: ProfileOf,
): Promise<Done> => {
  const definitionOf = await readDefinitions(scope, groups.flat());
  const context = new WalkContext(scope, await readClock(scope));
  const walking = groups.map(async (group) => {
    const results = [];
    for (const due of group) {
      const definition = definitionOf(due);
      const run = { ...due, definition: due.is_test ? asTried(definition) : definition };
      const profileId = profileOf.get(run.identity_id);
      results.push({ run, walked: await walkOne(run, profileId, context) });
    }
    return results;
  });
  try {
    const results = await Promise.all(walking);
    const isMore = await saveWalks(scope, results.flat(), context.now);
    await delivery.observeSkips(scope, context.skipped);
    return { queuedFor: context.queuedFor, calledAt: context.calledAt, isMore };
  } finally {
    await Promise.allSettled(walking);
  }
};

const halve = <T>(all: readonly T[]): T[][] => {
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)];
};

/** Walks groups together. Where that fails it walks halves of them, until the run that cannot be walked is alone. */
const walkInParts = async (
  scope: Scope,
  groups: readonly (readonly DueRun[])[],
  profileOf: ProfileOf,
): Promise<Done[]> => {
  const [[run, ...others] = [], ...otherGroups] = groups;
  if (!run) return [];
  const isAlone = others.length === 0 && otherGroups.length === 0;
  const mayTimeOut = !isAlone;
  const walked = await attempt(scope, (inner) => walkGroups(inner, groups, profileOf), {
    mayTimeOut,
  });
  if (walked.kind === 'done') return [walked.value];
  if (isAlone) {
    await postponeRun(scope, run, RUN_FAILURES_MAX);
    return [];
  }
  const parts =
    otherGroups.length > 0 ? halve(groups) : halve([run, ...others]).map((half) => [half]);
  const done: Done[] = [];
  for (const part of parts) done.push(...(await walkInParts(scope, part, profileOf)));
  return done;
};

/** Walks runs until each waits or ends. A run that cannot be walked fails alone and is tried again later. */
export const walkRuns = async (
  scope: Scope,
  runs: readonly DueRun[],
  profileOf: ProfileOf,
): Promise<Done[]> => {
  if (runs.length === 0) return [];
  // A failure here comes again in the walk that meets it.
  const ahead = await attempt(scope, (inner) => lockAhead(inner, runs, profileOf));
  const groups = ahead.kind === 'done' ? groupDependent(runs, ahead.value) : [runs];
  return walkInParts(scope, groups, profileOf);
};
