import { unlessLocked } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Hint } from '../../base/hints.ts';
import * as delivery from '../../delivery/delivery.ts';
import { readVersions } from '../definitions.ts';
import { countInsideUpTo } from '../life_queries.ts';
import { readClock } from '../run_queries.ts';
import { endRuns } from '../stand_queries.ts';
import { commonSteps } from './common_steps.ts';
import { deletePiece } from './delete_piece.ts';
import {
  countChanged,
  deleteCommands,
  holdCommand,
  insertCommand,
  listCommands,
} from './queries.ts';
import type { Command, CommandKind } from './queries.ts';
import { holdMovable, holdUnended, moveRuns, thawRuns } from './run_queries.ts';

/** How many rows of a kind one transaction of a command changes: runs, sends, and of a delete each other kind. */
export const PIECE_ROWS_MAX = 1_000;

/** Wakes a worker to continue the commands on an automation. */
export const commandHint = (projectId: string, automationId: string): Hint => ({
  task: 'automations/continue_commands',
  payload: { project_id: projectId, automation_id: automationId },
});

type Piece = { changed: number; isMore: boolean };

const sum = (counts: readonly number[]): Piece => ({
  changed: counts.reduce((all, count) => all + count, 0),
  isMore: counts.includes(PIECE_ROWS_MAX),
});

const resumeSome = async (scope: Scope, { automation_id: automationId }: Command): Promise<Piece> =>
  sum([
    await thawRuns(scope, automationId, PIECE_ROWS_MAX),
    await delivery.releasePaused(scope, automationId, PIECE_ROWS_MAX),
  ]);

const endRunsOf = async (scope: Scope, automationId: string, isTest: boolean): Promise<number> => {
  const asked = { runsMax: PIECE_ROWS_MAX, isTest };
  const runIds = await holdUnended(scope, automationId, asked);
  await endRuns(
    scope,
    runIds.map((runId) => ({ runId, outcome: 'archived' })),
  );
  return runIds.length;
};

const endSome = async (scope: Scope, { automation_id: automationId }: Command): Promise<Piece> =>
  sum([
    await endRunsOf(scope, automationId, false),
    await endRunsOf(scope, automationId, true),
    await delivery.cancelQueued(scope, automationId, {
      stop: 'automation_archived',
      sendsMax: PIECE_ROWS_MAX,
    }),
  ]);

const moveSome = async (
  scope: Scope,
  { automation_id: automationId, to_version: to, requested_at: startedBy }: Command,
): Promise<Piece> => {
  if (to === null) return { changed: 0, isMore: false };
  const places = await countInsideUpTo(scope, automationId, 1);
  const versions = new Set(places.map(({ version }) => version));
  const definitionOf = await readVersions(scope, automationId, [to, ...versions]);
  const now = await readClock(scope);
  let changed = 0;
  for (const from of versions) {
    if (from === to || changed === PIECE_ROWS_MAX) continue;
    const stepIds = commonSteps(definitionOf(from), definitionOf(to));
    const runsMax = PIECE_ROWS_MAX - changed;
    const runIds = await holdMovable(scope, automationId, { from, stepIds, startedBy, runsMax });
    await moveRuns(scope, runIds, { to, now });
    changed += runIds.length;
  }
  return { changed, isMore: changed === PIECE_ROWS_MAX };
};

const deleteSome = (scope: Scope, { automation_id: automationId }: Command): Promise<Piece> =>
  deletePiece(scope, automationId, PIECE_ROWS_MAX);

const PIECES = { resume: resumeSome, archive: endSome, move: moveSome, delete: deleteSome };

/**
 * Changes the next rows of a command, at most PIECE_ROWS_MAX of a kind. Returns whether there are more, and how many
 * were changed so far. Safe to repeat: what is done is not found again, and a command that another replaced is over.
 */
export const continueCommand = async (
  scope: Scope,
  automationId: string,
  kind: CommandKind,
): Promise<Piece> => {
  const command = await holdCommand(scope, automationId, kind);
  if (command === null) return { isMore: false, changed: 0 };
  const { changed, isMore } = await PIECES[kind](scope, command);
  if (isMore) await countChanged(scope, automationId, { kind, changed });
  else await deleteCommands(scope, automationId, [kind]);
  return { isMore, changed: command.changed + changed };
};

/**
 * The same for each command on an automation that is not done. Returns also how many rows a deletion has deleted so
 * far; null where there is none.
 */
export const continueCommands = async (
  scope: Scope,
  automationId: string,
): Promise<{ isMore: boolean; deleted: number | null }> => {
  let isMore = false;
  let deleted: number | null = null;
  for (const { kind } of await listCommands(scope, automationId)) {
    const continued = await continueCommand(scope, automationId, kind);
    isMore ||= continued.isMore;
    if (kind === 'delete') deleted = continued.changed;
  }
  return { isMore, deleted };
};

/** How long the first piece of a command waits for a lock: a worker may walk a run for seconds. */
const FIRST_PIECE_WAIT_MS = 50;

/**
 * Begins a command with its first piece, so that an automation with few people inside is done at once. Leaves that to
 * a job, too, where a transaction uses its rows.
 */
export const beginCommand = async (
  scope: Scope,
  automationId: string,
  command: { kind: CommandKind; toVersion?: number },
): Promise<void> => {
  await insertCommand(scope, automationId, command);
  await unlessLocked(scope, FIRST_PIECE_WAIT_MS, (own) =>
    continueCommand(own, automationId, command.kind),
  );
};

/** Begins a deletion, all of which is left to jobs: its pieces wait for transactions that use the rows. */
export const beginDeletion = (scope: Scope, automationId: string) =>
  insertCommand(scope, automationId, { kind: 'delete' });
