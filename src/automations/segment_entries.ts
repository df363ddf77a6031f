import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { hint } from '../base/hints.ts';
import type { Hint } from '../base/hints.ts';
import * as profiles from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import { letIn } from './entering.ts';
import type { Asking } from './entering.ts';
import { isLateEntry } from './late.ts';
import {
  holdReader,
  isReaderBehind,
  listSegmentTriggers,
  listSegmentUsers,
  moveReader,
} from './segment_queries.ts';
import { wakeEntered } from './wait_queries.ts';

/** How many entries of the history one transaction reads. */
export const READ_ENTRIES_MAX = 500;

/** Wakes a worker for people who entered or left segments of a project. */
export const segmentEntriesHint = (projectId: string): Hint => ({
  task: 'automations/read_segment_entries',
  payload: { project_id: projectId },
});

/** Wakes a worker where the history of segments has entries that automations have not read. */
export const wakeReader = async (
  deps: Pick<Deps, 'db' | 'keys' | 'log'>,
  projectId: string,
): Promise<void> => {
  if (await inProject(deps, projectId, isReaderBehind))
    await hint(deps, segmentEntriesHint(projectId));
};

type Members = Awaited<ReturnType<typeof profiles.listMembers>>;
export type Subjects = Map<string, { identityId: string; memberIds: string[] }>;

const groupMembers = (members: Members): Map<string, string[]> => {
  const groups = Map.groupBy(members, ({ profile_id }) => profile_id);
  return new Map(
    [...groups].map(([id, those]) => [id, those.map(({ identity_id }) => identity_id)]),
  );
};

/**
 * For whom a run of each of some people is: the profile's first identity, which is the external one where it has
 * one. Nobody is linked or erased until the transaction ends; who was meanwhile is left out.
 */
export const findSubjects = async (
  scope: Scope,
  profileIds: readonly string[],
): Promise<Subjects> => {
  const idsOf = groupMembers(await profiles.listMembers(scope, profileIds));
  const held = await profiles.holdProfiles(
    scope,
    [...idsOf.values()].flatMap((ids) => ids.slice(0, 1)),
  );
  return new Map(
    [...idsOf].flatMap(([profileId, [identityId = '', ...others]]) =>
      held.get(identityId) === profileId
        ? [[profileId, { identityId, memberIds: [identityId, ...others] }]]
        : [],
    ),
  );
};

/** A fill finds who was a member before, and the undo of a link restores who was: neither starts or ends a run. */
const isNews = ({ cause }: segments.Told): boolean => cause !== 'fill' && cause !== 'undo';

const listAsking = async (
  scope: Scope,
  told: readonly segments.Told[],
  subjects: Subjects,
): Promise<Asking[]> => {
  const triggers = await listSegmentTriggers(scope, [
    ...new Set(told.map(({ segment_id }) => segment_id)),
  ]);
  return told.flatMap((one) => {
    const { entry, segment_id, profile_id: profileId, change, changed_at: at, source } = one;
    const subject = subjects.get(profileId);
    if (!subject) return [];
    return triggers
      .filter((trigger) => trigger.segment_id === segment_id && trigger.change === change)
      .filter(({ after_entry }) => entry > after_entry)
      .map(({ automation_id: automationId, version, definition }) => {
        const late = isLateEntry(one, definition.settings.late_events);
        const by = { kind: 'entry', entry, at, isLate: late, source } as const;
        const { identityId } = subject;
        return { automationId, version, definition, identityId, profileId, by };
      });
  });
};

const wakeThose = async (
  scope: Scope,
  told: readonly segments.Told[],
  subjects: Subjects,
): Promise<string[]> => {
  const entered = told.filter(({ change }) => change === 'entered');
  const pairs = entered.flatMap(({ segment_id: segmentId, profile_id }) =>
    (subjects.get(profile_id)?.memberIds ?? []).map((identityId) => ({ segmentId, identityId })),
  );
  return wakeEntered(scope, pairs);
};

export type EntriesRead = { started: number; isMore: boolean };

/**
 * Reads on in the history of the project's segments: starts the runs that coming and going there calls for, and
 * wakes those that wait for it. How far it has read is kept in the same transaction, so nothing counts twice and
 * nothing is left out.
 */
export const readSegmentEntries = async (
  scope: Scope,
  entriesMax = READ_ENTRIES_MAX,
): Promise<EntriesRead> => {
  const seen = await holdReader(scope);
  if (seen === null) return { started: 0, isMore: false };
  const read = await segments.listHistoryAfter(scope, seen, entriesMax);
  const last = read.at(-1);
  if (!last) return { started: 0, isMore: false };
  const news = read.filter(isNews);
  const profileIds = [...new Set(news.map(({ profile_id }) => profile_id))];
  const subjects = await findSubjects(scope, profileIds);
  const started = await letIn(scope, await listAsking(scope, news, subjects));
  const woken = await wakeThose(scope, news, subjects);
  await moveReader(scope, last.entry);
  return { started: started.length + woken.length, isMore: read.length === entriesMax };
};

/** Who asks about a segment, in words. */
export const listSegmentUsersNamed = async (scope: Scope, segmentId: string): Promise<string[]> =>
  (await listSegmentUsers(scope, segmentId)).map(({ name }) => `the automation "${name}"`);
