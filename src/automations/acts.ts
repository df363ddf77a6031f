import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints, hint } from '../base/hints.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { Refusal } from '../base/refusal.ts';
import * as profiles from '../profiles/profiles.ts';
import { advanceHint } from './advance.ts';
import { commandHint } from './commands/commands.ts';
import { listCommands } from './commands/queries.ts';
import { activate, deleteAutomation, moveInside, resume } from './life.ts';
import { findPersonId } from './person_ref.ts';
import { relocateProviders } from './public_links.ts';
import type { LiveDoors } from './public_links.ts';
import { findVersion, getAutomation } from './queries.ts';
import type { Kept } from './queries.ts';
import { retryFailed } from './retry.ts';
import { listNextOccurrences } from './schedules.ts';
import { toAutomation } from './shown.ts';
import { listRunsFor, listRunsIn } from './shown_queries.ts';
import type { ShownRun } from './shown_queries.ts';
import { startByHand, startTest } from './start.ts';

// What people with a server key or the Console do with automations; both doors answer the same.

export type Where = { deps: Deps; projectId: string };

const beforeIdOf = (cursor: string | undefined): string | null =>
  readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;

/** One page of what is listed by ids, the newest first. */
export const pageById = async <Row, Item>(
  { limit, cursor }: PageQuery,
  list: (page: { limit: number; beforeId: string | null }) => Promise<readonly Row[]>,
  { item, id }: { item: (row: Row) => Item; id: (row: Row) => string },
) => {
  const rows = await list({ limit: limit + 1, beforeId: beforeIdOf(cursor) });
  return toPage(rows, limit, { item, position: (row) => [id(row)] });
};

/** An automation with the definition of its latest version, and the commands that are not done. */
export const showAutomation = async (scope: Scope, kept: Kept) => {
  const { automation_id: automationId, latest_version: latest } = kept;
  const definition = await findVersion(scope, automationId, latest);
  const commands = await listCommands(scope, automationId);
  return toAutomation(kept, definition, {
    commands,
    occurrences: await listNextOccurrences(scope, automationId),
  });
};

/** Wakes workers for runs that may go on, and for commands that are not done. */
const wake = ({ deps, projectId }: Where, automationId: string, isMore: boolean): Promise<void> =>
  giveHints(deps, [
    advanceHint(projectId),
    ...(isMore ? [commandHint(projectId, automationId)] : []),
  ]);

/** Changes the state of an automation, and wakes workers for what may go on. */
export const changeLife = async (
  { deps, projectId }: Where,
  change: (scope: Scope) => Promise<Kept>,
) => {
  const shown = await inProject(deps, projectId, async (scope) =>
    showAutomation(scope, await change(scope)),
  );
  await wake({ deps, projectId }, shown.id, shown.commands.length > 0);
  return shown;
};

type Chosen = { automationId: string; version: number | null };

/** Activates a version of an automation, the latest where none is said. */
export const activateNow = async (where: Where, chosen: Chosen, doors: LiveDoors) => {
  const { automationId, version } = chosen;
  await relocateProviders(where, automationId, version, doors);
  return changeLife(where, (scope) =>
    activate(scope, automationId, version, { doors, site: where.deps.config }),
  );
};

/** Resumes an automation that is paused. */
export const resumeNow = async (where: Where, automationId: string, doors: LiveDoors) => {
  await relocateProviders(where, automationId, null, doors);
  return changeLife(where, (scope) =>
    resume(scope, automationId, { doors, site: where.deps.config }),
  );
};

/** Deletes an automation. */
export const deleteNow = async ({ deps, projectId }: Where, id: string) => {
  await inProject(deps, projectId, (scope) => deleteAutomation(scope, id));
  await hint(deps, commandHint(projectId, id));
  return { id, deleted: true as const };
};

/** Moves everyone inside to the active version. */
export const moveEverybody = async ({ deps, projectId }: Where, automationId: string) => {
  const shown = await inProject(deps, projectId, async (scope) => {
    const moved = await moveInside(scope, automationId);
    return { ...moved, version: (await getAutomation(scope, automationId)).active_version };
  });
  await wake({ deps, projectId }, automationId, shown.left > 0);
  return shown;
};

/** Nobody is 404, as where a path names them. */
export const getPersonId = async (scope: Scope, ref: string): Promise<string> => {
  const profileId = await findPersonId(scope, ref);
  if (profileId === null) throw new Refusal('not_found');
  return profileId;
};

const listIdentityIds = async (scope: Scope, ref: string): Promise<string[]> => {
  const profileId = await findPersonId(scope, ref);
  const members = profileId === null ? [] : await profiles.listMembers(scope, [profileId]);
  return members.map(({ identity_id }) => identity_id);
};

type RunsAsked = {
  person?: string | undefined;
  limit: number;
  beforeId: string | null;
  /** Only those that failed. */
  isFailed?: boolean;
};

/** The runs of an automation, of everybody or of one person. */
export const listRuns = async (
  scope: Scope,
  automationId: string,
  { person, ...page }: RunsAsked,
): Promise<readonly ShownRun[]> =>
  person === undefined
    ? listRunsIn(scope, automationId, page)
    : listRunsFor(scope, await listIdentityIds(scope, person), { ...page, automationId });

const begin = async (
  { deps, projectId }: Where,
  ref: string,
  start: (scope: Scope, profileId: string) => Promise<ShownRun>,
): Promise<ShownRun> => {
  const run = await inProject(deps, projectId, async (scope) =>
    start(scope, await getPersonId(scope, ref)),
  );
  await hint(deps, advanceHint(projectId));
  return run;
};

/** Starts a run for one person by hand. */
export const startPerson = (where: Where, kept: Kept, asked: { runId: string; person: string }) =>
  begin(where, asked.person, (scope, profileId) =>
    startByHand(scope, kept, { runId: asked.runId, profileId }),
  );

export type Trial = { runId: string; person: string; to: string; mayCall: boolean };

/** Tests the latest version for one person, to an address that the caller chooses. */
export const tryPerson = (where: Where, kept: Kept, { person, ...trial }: Trial) => {
  const { audit } = where.deps;
  return begin(where, person, (scope, profileId) =>
    startTest(scope, kept, { ...trial, profileId, audit }),
  );
};

/** Has runs that failed go on: one, or all. Answers how many are failed yet. */
export const retryRuns = async (
  { deps, projectId }: Where,
  automationId: string,
  runId: string | null,
) => {
  const failed = await inProject(deps, projectId, (scope) =>
    retryFailed(scope, automationId, runId),
  );
  await hint(deps, advanceHint(projectId));
  return { failed };
};
