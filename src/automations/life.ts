import { isDeepStrictEqual } from 'node:util';
import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import * as delivery from '../delivery/delivery.ts';
import { beginCommand, beginDeletion } from './commands/commands.ts';
import { commonSteps } from './commands/common_steps.ts';
import { deleteCommands } from './commands/queries.ts';
import { readVersions } from './definitions.ts';
import { countInsideUpTo, PEOPLE_AT_STEP_MAX } from './life_queries.ts';
import {
  DELETING,
  deleteTrigger,
  findVersion,
  getAutomation,
  holdAutomation,
  insertAutomation,
  insertVersion,
  setName,
  setStatus,
} from './queries.ts';
import type { Kept } from './queries.ts';
import { requirePublicLinks } from './public_links.ts';
import type { Activation } from './public_links.ts';
import { deleteSchedule, setScheduleStatus } from './schedule_queries.ts';
import type { Definition } from './schema.ts';
import { switchOn } from './switch_on.ts';
import { findUnknown } from './unknown.ts';
import type { Doors } from './unknown.ts';

const refuseUnknown = async (scope: Scope, definition: Definition, doors: Doors): Promise<void> => {
  const issues = await findUnknown(scope, definition, doors);
  if (issues.length > 0) throw new Refusal('invalid_request', { issues });
};

export type { Activation, Doors };
export type NewAutomation = { automationId: string; name: string; definition: Definition };

/** Keeps an automation as a draft with its version 1. The same again, with the same id, changes nothing. */
export const create = async (
  scope: Scope,
  { automationId, name, definition }: NewAutomation,
  doors: Doors,
): Promise<Kept> => {
  await refuseUnknown(scope, definition, doors);
  await insertAutomation(scope, automationId, name);
  await insertVersion(scope, automationId, 1, definition);
  // Not there where the same id was deleted since.
  return hold(scope, automationId);
};

const hold = async (scope: Scope, automationId: string): Promise<Kept> => {
  const held = await holdAutomation(scope, automationId);
  if (held === null) throw new Refusal('not_found');
  return held;
};

const refuseState = (detail: string): Refusal => new Refusal('automation_state', { detail });

/**
 * Keeps the next version, which nobody follows until it is activated. Whoever did not see the latest is refused;
 * the same version again is the one that is there.
 */
export const addVersion = async (
  scope: Scope,
  automationId: string,
  { definition, after }: { definition: Definition; after: number },
  doors: Doors,
): Promise<Kept> => {
  const held = await hold(scope, automationId);
  if (held.status === 'archived') throw refuseState('An archived automation gets no new versions.');
  const { latest_version: latest } = held;
  if (
    latest === after + 1 &&
    isDeepStrictEqual(await findVersion(scope, automationId, latest), definition)
  )
    return held;
  if (latest !== after)
    throw new Refusal('automation_changed', {
      detail: `Its latest version is ${latest}, not ${after}. Read it, then decide what your change is.`,
    });
  await refuseUnknown(scope, definition, doors);
  await insertVersion(scope, automationId, latest + 1, definition);
  return getAutomation(scope, automationId);
};

const follow = async (
  scope: Scope,
  automationId: string,
  version: number,
  activation: Activation,
): Promise<void> => {
  const definition = await findVersion(scope, automationId, version);
  if (definition === null)
    throw new Refusal('invalid_request', {
      issues: [{ path: '/version', message: 'there is no such version' }],
    });
  await requirePublicLinks(scope, definition, activation);
  await switchOn(scope, automationId, version, definition);
};

/** Resumes what was frozen while it was paused: from now on for every person, in pieces on their runs and sends. */
const goOn = async (scope: Scope, automationId: string): Promise<void> => {
  await delivery.goOnSending(scope, automationId);
  await beginCommand(scope, automationId, { kind: 'resume' });
};

/** Has whoever comes from now on follow a version, the latest where none is said. Who is inside stays on theirs. */
export const activate = async (
  scope: Scope,
  automationId: string,
  version: number | null,
  activation: Activation,
): Promise<Kept> => {
  const held = await hold(scope, automationId);
  if (held.status === 'archived') throw refuseState('An archived automation stays archived.');
  const chosen = version ?? held.latest_version;
  const definition = await findVersion(scope, automationId, chosen);
  if (definition) await refuseUnknown(scope, definition, activation.doors);
  if (held.status !== 'active' || held.active_version !== chosen)
    await follow(scope, automationId, chosen, activation);
  if (held.status === 'paused') await goOn(scope, automationId);
  return getAutomation(scope, automationId);
};

/** Calls it something else, whatever it does just now. */
export const rename = async (scope: Scope, automationId: string, name: string): Promise<Kept> => {
  await hold(scope, automationId);
  await setName(scope, automationId, name);
  return getAutomation(scope, automationId);
};

/** Starts nothing, freezes everyone inside where they are, and lets their email wait. */
export const pause = async (scope: Scope, automationId: string): Promise<Kept> => {
  const held = await hold(scope, automationId);
  if (held.status === 'paused') return held;
  if (held.status !== 'active')
    throw refuseState('Only an automation that is active can be paused.');
  await setStatus(scope, automationId, 'paused');
  await deleteTrigger(scope, automationId);
  await setScheduleStatus(scope, automationId, 'paused');
  await delivery.haltSends(scope, automationId, 'automation_paused');
  await deleteCommands(scope, automationId, ['resume']);
  return getAutomation(scope, automationId);
};

/** Goes on where it was: overdue steps run, unless they are older than `expires_after`. */
export const resume = async (
  scope: Scope,
  automationId: string,
  activation: Activation,
): Promise<Kept> => {
  const held = await hold(scope, automationId);
  if (held.status === 'active') return held;
  if (held.status !== 'paused' || held.active_version === null)
    throw refuseState('Only an automation that is paused can be resumed; a draft is activated.');
  await follow(scope, automationId, held.active_version, activation);
  await goOn(scope, automationId);
  return getAutomation(scope, automationId);
};

/**
 * Ends it for good, for everyone inside, and the email that is queued. Its runs and their log stay. It takes effect at
 * once; what it writes beyond the first piece is left to a job.
 */
export const archive = async (scope: Scope, automationId: string): Promise<Kept> => {
  const held = await hold(scope, automationId);
  if (held.status === 'archived') return held;
  await setStatus(scope, automationId, 'archived');
  await deleteTrigger(scope, automationId);
  await deleteSchedule(scope, automationId);
  await delivery.haltSends(scope, automationId, 'automation_archived');
  await deleteCommands(scope, automationId, ['resume', 'move']);
  await beginCommand(scope, automationId, { kind: 'archive' });
  return getAutomation(scope, automationId);
};

/**
 * Deletes it, whatever its status, with its runs and their log. It takes effect at once: it is not found any more,
 * nothing starts, no run goes on and no email goes. Sends and timelines stay. Jobs delete its rows, so that the command
 * waits for none of them.
 */
export const deleteAutomation = async (scope: Scope, automationId: string): Promise<void> => {
  await hold(scope, automationId);
  await setStatus(scope, automationId, DELETING);
  await deleteTrigger(scope, automationId);
  await deleteSchedule(scope, automationId);
  await delivery.haltSends(scope, automationId, 'automation_deleted');
  await beginDeletion(scope, automationId);
};

/**
 * How many people are on the active version now, how many are at a step that it lacks, and how many a job is still to
 * move. Each step counts at most PEOPLE_AT_STEP_MAX.
 */
export type Moved = { on_it: number; stayed: number; left: number };

/**
 * Moves everyone inside to the active version, at the step where they are. People at a step that it lacks stay on their
 * own version. It takes effect at once; what it writes on runs beyond the first piece is left to a job.
 */
export const moveInside = async (scope: Scope, automationId: string): Promise<Moved> => {
  const { active_version: to } = await hold(scope, automationId);
  if (to === null) throw refuseState('A draft has no active version. Activate it first.');
  await beginCommand(scope, automationId, { kind: 'move', toVersion: to });
  const places = await countInsideUpTo(scope, automationId, PEOPLE_AT_STEP_MAX);
  const versions = new Set(places.map(({ version }) => version));
  const definitionOf = await readVersions(scope, automationId, [to, ...versions]);
  const placeOf = ({ version, step_id }: (typeof places)[number]): keyof Moved => {
    if (version === to) return 'on_it';
    return commonSteps(definitionOf(version), definitionOf(to)).includes(step_id)
      ? 'left'
      : 'stayed';
  };
  const moved: Moved = { on_it: 0, stayed: 0, left: 0 };
  for (const place of places) moved[placeOf(place)] += place.people;
  return moved;
};
