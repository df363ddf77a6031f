import type { Scope } from '../base/db.ts';
import type { ChangeNotes } from '../profiles/profiles.ts';
import { compile, compileWakes } from './compile.ts';
import { Concerns } from './concerns.ts';
import type { Concern } from './concerns.ts';
import { listUsed } from './conditions.ts';
import { Lateness } from './lateness.ts';
import {
  askProfiles,
  deleteMembers,
  holdProfiles,
  insertHistory,
  insertMembers,
  listMemberships,
  QUESTIONS_MAX,
} from './member_queries.ts';
import type { Cause, Change, Entry, Membership } from './member_queries.ts';
import type { Defined } from './record_queries.ts';
import { deleteWakes, keepWakes } from './wake_queries.ts';
import type { Wake } from './wake_queries.ts';

/**
 * Definitions in groups, each of which asks at most about segments of the groups before it. Those that are
 * not there, or static, are asked about as they are.
 */
const toLevels = (defined: readonly Defined[]): Defined[][] => {
  const levels: Defined[][] = [];
  let waiting = [...defined];
  while (waiting.length > 0) {
    const ids = new Set(waiting.map(({ segment_id }) => segment_id));
    const isFree = ({ definition }: Defined) => !listUsed(definition).some((id) => ids.has(id));
    const free = waiting.filter(isFree);
    // There are no circles: a change that would make one is refused.
    if (free.length === 0) throw new Error('segments that ask about each other in a circle');
    levels.push(free);
    waiting = waiting.filter((one) => !free.includes(one));
  }
  return levels;
};

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );

type Asked = Awaited<ReturnType<typeof askProfiles>>[number];

/** Whether a definition is the one that counts for somebody just now; of whoever is gone, the one to come. */
const countsFor = (
  { is_former, filled_to, filling_since }: Defined,
  profileId: string,
  asked: Asked | undefined,
): boolean => {
  if (filled_to === null) return !is_former;
  const isNew = filling_since !== null && asked !== undefined && asked.made_at > filling_since;
  const isReached = asked === undefined || isNew || profileId <= filled_to;
  return isReached !== is_former;
};

type Looked = { changes: Change[]; wakes: Map<string, string> };

/** What differs between members as they are kept, by their keys, and as they should be, of some definitions. */
const compare = async (
  scope: Scope,
  concerns: readonly Concern[],
  { today, kept }: { today: number; kept: ReadonlySet<string> },
): Promise<Looked> => {
  const place = { projectId: scope.projectId, today };
  const bits = new Map<string, number>();
  for (const [at, { profileIds }] of concerns.entries())
    for (const id of profileIds) bits.set(id, (bits.get(id) ?? 0) | (2 ** at));
  const questions = concerns.map(({ one: { definition } }) => ({
    holds: compile(definition, place),
    wakes: compileWakes(definition, place),
  }));
  const asked = await askProfiles(scope, questions, bits);
  const askedOf = new Map(asked.map((one) => [one.profile_id, one]));
  const changes = concerns.flatMap(({ one, profileIds }, at) =>
    [...profileIds].flatMap((profile_id): Change[] => {
      const { segment_id, version } = one;
      const row = askedOf.get(profile_id);
      const isMember = row?.holds[at] ?? false;
      if (!countsFor(one, profile_id, row)) return [];
      if (isMember === kept.has(keyOf({ segment_id, profile_id }))) return [];
      return [{ segment_id, profile_id, version, change: isMember ? 'entered' : 'left' }];
    }),
  );
  const wakes = asked.flatMap(({ profile_id, wake_on }) =>
    wake_on === null ? [] : [[profile_id, wake_on] as const],
  );
  return { changes, wakes: new Map(wakes) };
};

const keyOf = ({ segment_id, profile_id }: Membership): string => `${segment_id}/${profile_id}`;

/** So many definitions at most are asked about in a statement for each. */
const ALONE_MAX = 4;

/**
 * Definitions in groups, one for each statement. The text of a statement follows from the definitions alone, not from
 * those that a page of people happens to need: Postgres keeps the plans of texts that come again, and they are as dear
 * as the look at the people.
 */
const toStatements = (concerns: readonly Concern[]): (readonly Concern[])[] => {
  const isAsked = ({ profileIds }: Concern) => profileIds.size > 0;
  const asked = concerns.filter(isAsked);
  if (asked.length <= ALONE_MAX) return asked.map((one) => [one]);
  return chunksOf(concerns, QUESTIONS_MAX).filter((some) => some.some(isAsked));
};

/** Does the same with definitions that do not ask about each other, however many. */
const compareAll = async (
  scope: Scope,
  concerns: readonly Concern[],
  today: number,
): Promise<Looked> => {
  const all: Looked = { changes: [], wakes: new Map() };
  const statements = toStatements(concerns);
  const asked = statements.flat().filter(({ profileIds }) => profileIds.size > 0);
  if (asked.length === 0) return all;
  const ids = new Set(asked.flatMap(({ profileIds }) => [...profileIds]));
  const segmentIds = new Set(asked.map(({ one }) => one.segment_id));
  const kept = new Set((await listMemberships(scope, [...ids], [...segmentIds])).map(keyOf));
  for (const some of statements) {
    const { changes, wakes } = await compare(scope, some, { today, kept });
    all.changes.push(...changes);
    noteWakes(all.wakes, wakes);
  }
  return all;
};

/** Writes who entered and left, of the people who exist by now. */
const write = async (scope: Scope, changes: readonly Entry[]): Promise<readonly Change[]> => {
  const held = await holdProfiles(scope, [...new Set(changes.map(({ profile_id }) => profile_id))]);
  const real = changes.filter(({ profile_id, change }) =>
    change === 'entered' ? held.get(profile_id) : held.has(profile_id),
  );
  await insertMembers(
    scope,
    real.filter(({ change }) => change === 'entered'),
  );
  await deleteMembers(
    scope,
    real.filter(({ change }) => change === 'left'),
  );
  await insertHistory(scope, real);
  return real;
};

const noteWakes = (noted: Map<string, string>, wakes: Map<string, string>): void => {
  for (const [id, wakeOn] of wakes) {
    const known = noted.get(id);
    if (known === undefined || wakeOn < known) noted.set(id, wakeOn);
  }
};

const toWakes = async (scope: Scope, wakes: Map<string, string>): Promise<Wake[]> => {
  const held = await holdProfiles(scope, [...wakes.keys()]);
  return [...wakes].flatMap(([profile_id, wake_on]) =>
    held.get(profile_id) ? [{ profile_id, wake_on }] : [],
  );
};

type Refreshing = {
  today: number;
  /** The cause of changes of people without notes. */
  cause: Cause;
  isAll: boolean;
  /** The notes that people are evaluated for, by their profiles. */
  notes?: ReadonlyMap<string, ChangeNotes>;
};
const NO_NOTES: ReadonlyMap<string, ChangeNotes> = new Map();

/**
 * Makes members of definitions whoever passes them, of some profiles, and of nobody else among these; writes
 * who came and went. Whoever calls holds the project. Answers the changes.
 *
 * People whose notes say what changed are asked about the definitions that this concerns. When `isAll` definitions of
 * the project are given, those who are asked about all of them are looked at again when these say so; the others then,
 * or earlier where that was known.
 */
export const refresh = async (
  scope: Scope,
  profileIds: readonly string[],
  defined: readonly Defined[],
  { today, cause, isAll, notes = NO_NOTES }: Refreshing,
): Promise<Change[]> => {
  const changed: Change[] = [];
  const lateness = new Lateness(scope, { notes, cause, today });
  const concerns = new Concerns(profileIds, notes);
  const wakes = new Map<string, string>();
  for (const level of toLevels(defined)) {
    const looked = await compareAll(scope, concerns.ask(level), today);
    const written = await write(scope, await lateness.judge(looked.changes, level));
    concerns.add(written);
    changed.push(...written);
    noteWakes(wakes, looked.wakes);
  }
  if (isAll) await deleteWakes(scope, concerns.listAskedAll(defined.length));
  await keepWakes(scope, await toWakes(scope, wakes));
  return changed;
};
