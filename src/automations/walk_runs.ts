import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import { readDefinitions } from './definitions.ts';
import { isOver } from './due_queries.ts';
import type { DueRun, WalkedRun } from './due_queries.ts';
import { openLive } from './live.ts';
import { Others } from './merges/others.ts';
import { groupDependent, lockAhead } from './recipients.ts';
import { readClock } from './run_queries.ts';
import { saveWalks } from './save_walks.ts';
import type { SavedWalk } from './save_walks.ts';
import type { Definition } from './schema.ts';
import { postponeRun } from './stand_queries.ts';
import { walk } from './walk.ts';
import type { Walked } from './walk.ts';
import { WalkContext } from './walk_context.ts';

/** How often a run that cannot be walked is tried before it is given up. */
export const RUN_FAILURES_MAX = 10;
/** How many runs are walked side by side. The time is looked at between such pieces. */
export const PIECE_RUNS = 50;

/** What walks leave: providers with new emails, endpoints with new calls, and whether runs are left or look again. */
export type Done = { queuedFor: Set<string>; calledAt: Set<string>; isMore: boolean };

/** The profiles of the people of runs, by identity, how large a piece is, and when one begins at the latest. */
export type Held = { profileOf: ReadonlyMap<string, string>; pieceRuns: number; until: number };

type Group = readonly DueRun[];

/** The walks that a transaction leaves to the next. */
const LEFT: Done = { queuedFor: new Set(), calledAt: new Set(), isMore: true };
const ARCHIVED: Walked = { log: [], stand: { kind: 'ended', outcome: 'archived' } };
const ERASED: Walked = { log: [], stand: { kind: 'ended', outcome: 'erased' } };

/** A test of an automation sends its email now: no quiet hours and no frequency cap. */
const asTried = (definition: Definition): Definition => ({
  ...definition,
  settings: { ...definition.settings, quiet_hours: null, frequency_cap: null },
});

/**
 * Whether what a run is due for may have been done before a backup was restored: the backup had it, or the event
 * that starts it, or it is not known when its person came into a segment first.
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
  groups: readonly Group[],
  { profileOf }: Held,
): Promise<Done> => {
  const definitionOf = await readDefinitions(scope, groups.flat());
  const ready = groups.map((group) =>
    group.map((due): WalkedRun => {
      const definition = definitionOf(due);
      return { ...due, definition: due.is_test ? asTried(definition) : definition };
    }),
  );
  const others = new Others(scope, ready.flat(), profileOf);
  const context = new WalkContext(scope, await readClock(scope), others);
  const walking = ready.map(async (group) => {
    const walks: SavedWalk[] = [];
    for (const run of group)
      walks.push({ run, walked: await walkOne(run, profileOf.get(run.identity_id), context) });
    return walks;
  });
  try {
    const walks = await Promise.all(walking);
    const isMore = await saveWalks(scope, walks.flat(), context.now);
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

/** Walks parts one after the other while there is time. */
const walkParts = async (
  scope: Scope,
  parts: readonly (readonly Group[])[],
  held: Held,
): Promise<Done[]> => {
  const done: Done[] = [];
  for (const [at, part] of parts.entries()) {
    if (at > 0 && performance.now() > held.until) return done.concat(LEFT);
    done.push(...(await walkPart(scope, part, held)));
  }
  return done;
};

/** Walks groups together. Where that fails it walks halves of them, until the run that cannot be walked is alone. */
const walkPart = async (scope: Scope, groups: readonly Group[], held: Held): Promise<Done[]> => {
  const [[run, ...others] = [], ...otherGroups] = groups;
  if (!run) return [];
  const isAlone = others.length === 0 && otherGroups.length === 0;
  const options = { mayTimeOut: !isAlone };
  const walked = await attempt(scope, (inner) => walkGroups(inner, groups, held), options);
  if (walked.kind === 'done') return [walked.value];
  if (isAlone) {
    await postponeRun(scope, run, RUN_FAILURES_MAX);
    return [];
  }
  const parts =
    otherGroups.length > 0 ? halve(groups) : halve([run, ...others]).map((half) => [half]);
  return walkParts(scope, parts, held);
};

/** Divides groups, in their order, into pieces of at least so many runs. */
const toPieces = (groups: readonly Group[], pieceRuns: number): Group[][] => {
  const pieces: Group[][] = [];
  let runs = pieceRuns;
  for (const group of groups) {
    if (runs >= pieceRuns) {
      pieces.push([]);
      runs = 0;
    }
    pieces.at(-1)?.push(group);
    runs += group.length;
  }
  return pieces;
};

/** Walks runs until each waits or ends. A run that cannot be walked fails alone, and is tried again later. */
export const walkRuns = async (
  scope: Scope,
  runs: readonly DueRun[],
  held: Held,
): Promise<Done[]> => {
  if (runs.length === 0) return [];
  // What fails here fails again in the walk that meets it, which reports it.
  const ahead = await attempt(scope, (inner) => lockAhead(inner, runs, held.profileOf));
  const groups = ahead.kind === 'done' ? groupDependent(runs, ahead.value) : [runs];
  return walkParts(scope, toPieces(groups, held.pieceRuns), held);
};
