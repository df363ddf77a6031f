import type { Audit } from '../base/audit.ts';
import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import { countTestEmails, TEST_EMAILS_PER_CALLER_MAX } from '../base/test_emails.ts';
import * as profiles from '../profiles/profiles.ts';
import { isMeant } from './event_match.ts';
import { findNewestOf } from './explain_queries.ts';
import { findVersion, lockUndeleted } from './queries.ts';
import type { Kept } from './queries.ts';
import { insertRuns, readClock } from './run_queries.ts';
import { findRunById } from './shown_queries.ts';
import type { ShownRun } from './shown_queries.ts';
import { holdPeople, listLatestRuns, listUsedKeys } from './trigger_queries.ts';
import { entryKey, isKeptOut, keysOfPerson } from './entering.ts';
import type { Definition } from './schema.ts';

/** For whom a run is started: the profile's first identity, which is the external one where it has one. */
const findSubject = async (scope: Scope, profileId: string) => {
  const members = await profiles.listMembers(scope, [profileId]);
  const first = members[0];
  if (!first) throw new Refusal('not_found');
  const living = await profiles.holdProfiles(scope, [first.identity_id]);
  if (!living.has(first.identity_id)) throw new Refusal('not_found');
  return {
    identityId: first.identity_id,
    memberIds: members.map(({ identity_id }) => identity_id),
  };
};

const getStarted = async (scope: Scope, runId: string): Promise<ShownRun> => {
  const run = await findRunById(scope, runId);
  if (run === null) throw new Error(`run ${runId} is not there after its start`);
  return run;
};

type Start = { runId: string; profileId: string };

/** Refuses a start whose automation was deleted since it was read. */
export const requireUndeleted = async (scope: Scope, automationId: string): Promise<void> => {
  const undeleted = await lockUndeleted(scope, [automationId]);
  if (!undeleted.has(automationId)) throw new Refusal('not_found');
};

const getVersion = async (
  scope: Scope,
  kept: Kept,
  version: number | null,
): Promise<Definition> => {
  const definition =
    version === null ? null : await findVersion(scope, kept.automation_id, version);
  if (definition === null) throw new Refusal('automation_state');
  return definition;
};

/** Starts a run by hand, as often as the settings allow. The same again, with the same id, is the same run. */
export const startByHand = async (
  scope: Scope,
  kept: Kept,
  { runId, profileId }: Start,
): Promise<ShownRun> => {
  const known = await findRunById(scope, runId);
  if (known) return known;
  const definition = await getVersion(scope, kept, kept.active_version);
  if (kept.status !== 'active' || definition.trigger.kind !== 'manual')
    throw new Refusal('automation_state', {
      detail: 'Only an active automation whose trigger is manual can be started by hand.',
    });
  const { identityId, memberIds } = await findSubject(scope, profileId);
  await holdPeople(scope, [profileId]);
  await requireUndeleted(scope, kept.automation_id);
  const latest = await listLatestRuns(scope, memberIds, [kept.automation_id]);
  const before =
    latest.toSorted((a, b) => b.started_at.getTime() - a.started_at.getTime())[0] ?? null;
  const { re_entry: reEntry } = definition.settings;
  const entry = { identityId, by: { kind: 'hand', startId: runId } as const };
  const keys = keysOfPerson(reEntry, entry, memberIds).map((entry_key) => ({
    automation_id: kept.automation_id,
    entry_key,
  }));
  const isUsed = keys.length > 0 && (await listUsedKeys(scope, keys)).length > 0;
  const isStarted =
    !isUsed &&
    !isKeptOut(reEntry, before, await readClock(scope)) &&
    (
      await insertRuns(scope, [
        {
          run_id: runId,
          automation_id: kept.automation_id,
          version: kept.active_version ?? 1,
          identity_id: identityId,
          trigger_event_id: null,
          trigger_event_at: null,
          trigger_entry: null,
          entry_key: entryKey(reEntry, entry, before),
          step_id: definition.entry,
          test_recipient: null,
          may_call: true,
          traceparent: null,
          source: 'server',
          is_bulk: false,
          start_id: null,
          begins_at: null,
        },
      ])
    ).has(runId);
  if (!isStarted)
    throw new Refusal('automation_state', {
      detail:
        'This person was in the automation before, and its re_entry does not let them in again.',
    });
  return getStarted(scope, runId);
};

/** The event that somebody tries an automation with: the last of the person's that starts it, if there is one. */
const findTrigger = async (
  scope: Scope,
  profileId: string,
  { trigger }: Definition,
): Promise<{ event_id: string; occurred_at: Date } | null> => {
  if (trigger.kind !== 'event') return null;
  const event = await findNewestOf(scope, await profiles.listMembers(scope, [profileId]), {
    name: trigger.event,
    source: trigger.source,
    now: await readClock(scope),
  });
  return event && isMeant(trigger, event) ? event : null;
};

type Test = Start & { to: string; mayCall: boolean; audit?: Audit | undefined };

/** Returns how many emails a run sends at most: each step sends one. Refuses more than a caller may send in an hour. */
const requireTestable = ({ steps }: Definition): number => {
  const emails = Object.values(steps).filter(({ kind }) => kind === 'send_email').length;
  if (emails > TEST_EMAILS_PER_CALLER_MAX)
    throw new Refusal('automation_state', {
      detail:
        `This automation has ${emails} email steps, and a test sends at most ${TEST_EMAILS_PER_CALLER_MAX} emails. ` +
        'Send test emails of its templates instead.',
    });
  return emails;
};

/**
 * Runs the latest version for one profile now, as by the last event of theirs that would have started it. Every wait
 * takes seconds, all email goes to a chosen address, and the profile does not change. A test does not count for
 * re-entry. It counts as many test emails as it can send; the same again, with the same id, counts nothing.
 */
export const startTest = async (
  scope: Scope,
  kept: Kept,
  { runId, profileId, to, mayCall, audit }: Test,
): Promise<ShownRun> => {
  const known = await findRunById(scope, runId);
  if (known) return known;
  if (kept.status === 'archived')
    throw new Refusal('automation_state', {
      detail: 'An archived automation stays archived: nothing of it can be tried any more.',
    });
  const definition = await getVersion(scope, kept, kept.latest_version);
  const emails = requireTestable(definition);
  const { identityId } = await findSubject(scope, profileId);
  const event = await findTrigger(scope, profileId, definition);
  await requireUndeleted(scope, kept.automation_id);
  await insertRuns(scope, [
    {
      run_id: runId,
      automation_id: kept.automation_id,
      version: kept.latest_version,
      identity_id: identityId,
      trigger_event_id: event?.event_id ?? null,
      trigger_event_at: event?.occurred_at.toISOString() ?? null,
      trigger_entry: null,
      entry_key: `test/${runId}`,
      step_id: definition.entry,
      test_recipient: to,
      may_call: mayCall,
      traceparent: null,
      source: 'server',
      is_bulk: false,
      start_id: null,
      begins_at: null,
    },
  ]);
  const started = await getStarted(scope, runId);
  const { projectId } = scope;
  await countTestEmails(scope.tx, { projectId, audit, emails });
  return started;
};
