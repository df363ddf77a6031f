import { createHash } from 'node:crypto';
import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import * as profiles from '../profiles/profiles.ts';
import { earlier } from './clock.ts';
import { valueOf } from './value_of.ts';
import { lockUndeleted } from './queries.ts';
import { insertRuns, readClock } from './run_queries.ts';
import type { NewRun } from './run_queries.ts';
import type { Definition, ReEntry } from './schema.ts';
import { holdPeople, insertRefusals, listLatestRuns, listUsedKeys } from './trigger_queries.ts';
import type { Entered, NewRefusal } from './trigger_queries.ts';

/** Who caused a run: a server key or a person of the project, a browser, the service; null where that is not known. */
export type RunSource = 'server' | 'browser' | 'system' | null;

/** What somebody enters by: an event, an entry of the history of segments, or a start by hand. */
export type By =
  | {
      kind: 'event';
      eventId: string;
      at: Date;
      properties: object;
      isLate: boolean;
      source: RunSource;
      traceparent: string | null;
    }
  | { kind: 'entry'; entry: number; at: Date; isLate: boolean; source: RunSource }
  | { kind: 'hand'; startId: string; beginsAt?: Date | undefined };

/** Who asks to enter what. */
export type Asking = {
  automationId: string;
  version: number;
  definition: Definition;
  identityId: string;
  profileId: string;
  by: By;
};

/** Returns who caused a run. A start by hand needs a server key, or a session of the Console. */
export const sourceOf = (by: By): RunSource => (by.kind === 'hand' ? 'server' : by.source);

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

const nameOf = (by: By, identityId: string): string => {
  if (by.kind === 'event') return `event/${by.eventId}`;
  return by.kind === 'entry' ? `entry/${by.entry}` : `hand/${by.startId}/${identityId}`;
};

/**
 * The key that makes a second entry impossible where the settings allow only one. Once per duration it names the run
 * before: two who look at the same time name the same, and one of them wins.
 */
export const entryKey = (
  reEntry: ReEntry,
  { identityId, by }: Pick<Asking, 'identityId' | 'by'>,
  latest: Entered | null,
): string => {
  if (reEntry === 'once') return `once/${identityId}`;
  if (reEntry === 'every_time') return nameOf(by, identityId);
  if ('once_per' in reEntry) return `after/${identityId}/${latest?.run_id ?? 'none'}`;
  const properties = by.kind === 'event' ? by.properties : {};
  const value = valueOf({ ...properties }, reEntry.by_property);
  return `property/${identityId}/${digest(JSON.stringify([reEntry.by_property, value ?? null]))}`;
};

/**
 * Returns the keys by which a person was enrolled under any of their identities, where one value of a property allows
 * one run: each identity has a key of its own.
 */
export const keysOfPerson = (
  reEntry: ReEntry,
  entry: Pick<Asking, 'identityId' | 'by'>,
  memberIds: readonly string[],
): string[] => {
  if (typeof reEntry === 'string' || !('by_property' in reEntry)) return [];
  return memberIds.map((identityId) => entryKey(reEntry, { ...entry, identityId }, null));
};

/** Whether it is what came alone that a key lets in once. */
const isOfWhatCame = ({ entry_key }: NewRun): boolean => /^(?:event|entry|hand)\//.test(entry_key);

/** Whether the person, who was in before under any of their identifiers, is kept from entering again. */
export const isKeptOut = (reEntry: ReEntry, latest: Entered | null, now: Date): boolean => {
  if (latest === null) return false;
  if (reEntry === 'once') return true;
  if (typeof reEntry === 'string' || !('once_per' in reEntry)) return false;
  return latest.started_at > earlier(now, reEntry.once_per, 'UTC');
};

/** Whether it matters if the person was in before. */
const asksBefore = ({ definition }: Asking): boolean =>
  definition.settings.re_entry !== 'every_time';

/** Who was enrolled before. */
type Before = {
  /** The last run of each person in each automation, whichever of their identities it was for. */
  latest: Map<string, Entered>;
  /** The keys of runs of their identities, each behind its automation. */
  used: Set<string>;
  /** The identities of each person. */
  membersOf: ReadonlyMap<string, readonly string[]>;
};

const withinAutomation = (automationId: string, key: string): string => `${automationId} ${key}`;

const listKeys = (
  { definition, automationId, ...asking }: Asking,
  membersOf: Before['membersOf'],
): { automation_id: string; entry_key: string }[] => {
  const memberIds = membersOf.get(asking.profileId) ?? [];
  const keys = keysOfPerson(definition.settings.re_entry, asking, memberIds);
  return keys.map((entry_key) => ({ automation_id: automationId, entry_key }));
};

/**
 * Reads who was enrolled before. Locks the people first, so that another worker that enrolls one of them under another
 * identifier does so before or after.
 */
const readBefore = async (scope: Scope, asking: readonly Asking[]): Promise<Before> => {
  const latest = new Map<string, Entered>();
  if (asking.length === 0) return { latest, used: new Set(), membersOf: new Map() };
  const profileIds = [...new Set(asking.map(({ profileId }) => profileId))];
  await holdPeople(scope, profileIds);
  const automationIds = [...new Set(asking.map(({ automationId }) => automationId))];
  const members = await profiles.listMembers(scope, profileIds);
  const profileOf = new Map(
    members.map(({ identity_id, profile_id }) => [identity_id, profile_id]),
  );
  const rows = await listLatestRuns(scope, [...profileOf.keys()], automationIds);
  for (const row of rows) {
    const key = `${row.automation_id}/${profileOf.get(row.identity_id)}`;
    const known = latest.get(key);
    if (!known || known.started_at < row.started_at) latest.set(key, row);
  }
  const groups = Map.groupBy(members, ({ profile_id }) => profile_id);
  const membersOf = new Map(
    [...groups].map(([id, those]) => [id, those.map(({ identity_id }) => identity_id)]),
  );
  const keys = asking.flatMap((one) => listKeys(one, membersOf));
  const used = keys.length === 0 ? [] : await listUsedKeys(scope, keys);
  return {
    latest,
    used: new Set(used.map((one) => withinAutomation(one.automation_id, one.entry_key))),
    membersOf,
  };
};

const toRefusal = (asking: Asking, reason: NewRefusal['reason']): NewRefusal[] => {
  const { automationId: automation_id, identityId: identity_id, by } = asking;
  if (by.kind === 'hand') return [];
  const came =
    by.kind === 'event'
      ? { event_id: by.eventId, entry: null }
      : { event_id: null, entry: by.entry };
  return [{ automation_id, identity_id, reason, ...came, event_at: by.at }];
};

const toRun = (asking: Asking, before: Entered | null): NewRun => {
  const { automationId, version, identityId, by, definition } = asking;
  return {
    run_id: newId(),
    automation_id: automationId,
    version,
    identity_id: identityId,
    trigger_event_id: by.kind === 'event' ? by.eventId : null,
    trigger_event_at: by.kind === 'event' ? by.at.toISOString() : null,
    trigger_entry: by.kind === 'entry' ? by.entry : null,
    entry_key: entryKey(definition.settings.re_entry, asking, before),
    step_id: definition.entry,
    test_recipient: null,
    may_call: true,
    traceparent: by.kind === 'event' ? by.traceparent : null,
    source: sourceOf(by),
    // A start of one person by hand makes its run elsewhere.
    is_bulk: by.kind === 'hand',
    start_id: by.kind === 'hand' ? by.startId : null,
    begins_at: by.kind === 'hand' ? (by.beginsAt?.toISOString() ?? null) : null,
  };
};

const isSame = (before: Entered | null, by: By): boolean =>
  before !== null &&
  ((by.kind === 'event' && before.trigger_event_id === by.eventId) ||
    (by.kind === 'entry' && before.trigger_entry === by.entry));

type Decided = { entering: { asking: Asking; run: NewRun }[]; refusals: NewRefusal[] };

/** Decides who may enter: by the automation's settings, and when they were in before. */
const decide = (
  all: readonly Asking[],
  { latest, used, membersOf }: Before,
  now: Date,
): Decided => {
  const decided: Decided = { entering: [], refusals: [] };
  const isUsed = (asking: Asking): boolean =>
    listKeys(asking, membersOf).some((one) =>
      used.has(withinAutomation(one.automation_id, one.entry_key)),
    );
  for (const asking of all) {
    const { re_entry: reEntry } = asking.definition.settings;
    const key = `${asking.automationId}/${asking.profileId}`;
    const before = latest.get(key) ?? null;
    const isLate = asking.by.kind !== 'hand' && asking.by.isLate;
    if (isLate) decided.refusals.push(...toRefusal(asking, 'late'));
    else if (isSame(before, asking.by)) continue;
    else if (isKeptOut(reEntry, before, now) || isUsed(asking))
      decided.refusals.push(...toRefusal(asking, 're_entry'));
    else {
      const run = toRun(asking, before);
      decided.entering.push({ asking, run });
      used.add(withinAutomation(run.automation_id, run.entry_key));
      latest.set(key, { ...run, started_at: now });
    }
  }
  return decided;
};

/**
 * Starts runs for whoever may enter: one per automation and what came, or as often as the settings allow, whatever
 * happens twice. Returns the ids of those that are new. Notes who is kept out, and why.
 */
export const letIn = async (scope: Scope, asked: readonly Asking[]): Promise<string[]> => {
  if (asked.length === 0) return [];
  const before = await readBefore(scope, asked.filter(asksBefore));
  const automationIds = new Set(asked.map(({ automationId }) => automationId));
  const undeleted = await lockUndeleted(scope, [...automationIds]);
  const all = asked.filter(({ automationId }) => undeleted.has(automationId));
  if (all.length === 0) return [];
  const { entering, refusals } = decide(all, before, await readClock(scope));
  const started = await insertRuns(
    scope,
    entering.map(({ run }) => run),
  );
  // What is processed again starts nothing again, which is no news.
  const beaten = entering.filter(({ run }) => !started.has(run.run_id) && !isOfWhatCame(run));
  const beatenBy = beaten.flatMap(({ asking }) => toRefusal(asking, 're_entry'));
  await insertRefusals(scope, [...refusals, ...beatenBy]);
  return [...started];
};
