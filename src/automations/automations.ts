import { attempt } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import {
  activateVersion,
  claimDueRuns,
  endRuns,
  findAutomationByName,
  insertAutomation,
  insertLog,
  insertRuns,
  insertVersion,
  listAutomations,
  listTriggered,
  postponeRun,
} from './queries.ts';
import type { DueRun, LogEntry, NewRun, Triggered } from './queries.ts';
import { Definition, STEPS_MAX } from './schema.ts';
import type { NewDefinition, Step } from './schema.ts';
import { takeStep } from './steps.ts';

export { eraser } from './erase.ts';
export { runSection } from './export.ts';
export { findAutomationByName, listAutomations };

/** How many due runs one transaction walks. */
export const CLAIM_RUNS_MAX = 500;

/** Wakes a worker for the runs of a project that are due. */
export const advanceHint = (projectId: string): Hint => ({
  task: 'automations/advance_runs',
  payload: { project_id: projectId },
});

/** Makes an automation and switches it on, with its version 1 frozen. */
export const createActive = async (
  scope: Scope,
  name: string,
  definition: NewDefinition,
): Promise<string> => {
  const automationId = newId();
  const parsed = Definition.parse(definition);
  await insertAutomation(scope, automationId, name);
  await insertVersion(scope, automationId, 1, parsed);
  await activateVersion(scope, automationId, 1, parsed.trigger.event);
  return automationId;
};

const matches = ({ definition, properties }: Triggered): boolean =>
  definition.trigger.filters.every(({ property, equals }) => properties[property] === equals);

/** The key that makes a second entry impossible where the settings allow only one. */
const entryKey = ({ definition, event_id }: Triggered, identityId: string): string =>
  definition.settings.re_entry === 'once' ? `once/${identityId}` : `event/${event_id}`;

const toRun = (triggered: Triggered, identityId: string): NewRun => ({
  run_id: newId(),
  automation_id: triggered.automation_id,
  version: triggered.version,
  identity_id: identityId,
  trigger_event_id: triggered.event_id,
  trigger_event_at: triggered.occurred_at.toISOString(),
  entry_key: entryKey(triggered, identityId),
  step_id: triggered.definition.entry,
});

/** Whom an event is about: its external id where it has one. */
const subjectOf = ({ external_id, anonymous_id }: Triggered) =>
  external_id === null
    ? ({ kind: 'anonymous', value: anonymous_id ?? '' } as const)
    : ({ kind: 'external', value: external_id } as const);

/**
 * Starts the runs that the events of some flushes call for: one per automation and trigger event,
 * or one per person, whatever happens twice. Answers how many are new.
 */
export const startRuns = async (scope: Scope, flushIds: string[]): Promise<number> => {
  const triggered = (await listTriggered(scope, flushIds)).filter(matches);
  if (triggered.length === 0) return 0;

  const subjects = await profiles.listIdentities(scope, triggered.map(subjectOf));
  const living = await profiles.holdProfiles(
    scope,
    subjects.map(({ identity_id }) => identity_id),
  );
  const identities = new Map(
    subjects
      .filter(({ identity_id }) => living.has(identity_id))
      .map(({ kind, value, identity_id }) => [`${kind}/${value}`, identity_id]),
  );
  const runs = triggered.flatMap((event) => {
    const { kind, value } = subjectOf(event);
    const identityId = identities.get(`${kind}/${value}`);
    return identityId ? [toRun(event, identityId)] : [];
  });
  return (await insertRuns(scope, runs)).length;
};

type Walked = { log: LogEntry[]; queuedFor: string[] };

/** Walks one run until it ends: at once, when its person is being erased. */
const walk = async (scope: Scope, run: DueRun, profileId: string | null): Promise<Walked> => {
  const walked: Walked = { log: [], queuedFor: [] };
  let stepId: string | null = run.step_id;
  while (stepId !== null && profileId !== null && walked.log.length < STEPS_MAX) {
    const step: Step | undefined = run.definition.steps[stepId];
    if (!step) break;
    const { decision, detail, queuedFor } = await takeStep({ scope, run, stepId, profileId }, step);
    walked.log.push({
      runId: run.run_id,
      entry: run.entries + walked.log.length,
      stepId,
      decision,
      detail,
    });
    if (queuedFor) walked.queuedFor.push(queuedFor);
    stepId = step.next;
  }
  return walked;
};

export type Advanced = { hints: Hint[]; isMore: boolean };

/** How often a run that cannot be walked is tried before it is given up. */
export const RUN_FAILURES_MAX = 10;

const walkAll = async (scope: Scope, runs: readonly DueRun[]): Promise<Walked[]> => {
  const walks: Walked[] = [];
  const profileOf = await profiles.holdProfiles(
    scope,
    runs.map(({ identity_id }) => identity_id),
  );
  for (const run of runs)
    walks.push(await walk(scope, run, profileOf.get(run.identity_id) ?? null));
  await insertLog(
    scope,
    walks.flatMap(({ log }) => log),
  );
  await endRuns(
    scope,
    runs.map(({ run_id }) => run_id),
  );
  return walks;
};

/** Walks runs together; when one of them cannot be walked, each alone, and that one later. */
const walkWhatGoes = async (scope: Scope, runs: readonly DueRun[]): Promise<Walked[]> => {
  const together = await attempt(scope, (inner) => walkAll(inner, runs));
  if (together.kind === 'done') return together.value;
  const walks: Walked[] = [];
  for (const run of runs) {
    const alone = await attempt(scope, (inner) => walkAll(inner, [run]));
    if (alone.kind === 'done') walks.push(...alone.value);
    else await postponeRun(scope, run, RUN_FAILURES_MAX);
  }
  return walks;
};

/**
 * Takes due runs of the project and walks each until it ends. Answers what to wake after the commit.
 * A run that cannot be walked waits longer each time and is given up in the end; it stops nobody else.
 */
export const advance = async (scope: Scope): Promise<Advanced> => {
  const runs = await claimDueRuns(scope, CLAIM_RUNS_MAX);
  const walks = runs.length > 0 ? await walkWhatGoes(scope, runs) : [];
  const providerIds = new Set(walks.flatMap(({ queuedFor }) => queuedFor));
  return {
    hints: [...providerIds].map((providerId) => delivery.sendHint(scope.projectId, providerId)),
    isMore: runs.length === CLAIM_RUNS_MAX,
  };
};
