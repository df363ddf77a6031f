import type { Scope } from '../base/db.ts';
import type { ChangeNotes } from '../profiles/profiles.ts';
import { compile, compileWakes } from './compile.ts';
import { listUsed } from './conditions.ts';
import { Lateness } from './lateness.ts';
import {
  askProfiles,
  deleteMembers,
  holdProfiles,
  insertHistory,
  insertMembers,
  listMemberships,
} from './member_queries.ts';
import type { Cause, Change, Entry } from './member_queries.ts';
import type { Defined } from './record_queries.ts';
import { deleteWakes, keepWakes } from './wake_queries.ts';
import type { Wake } from './wake_queries.ts';

/** How many definitions one statement asks: each costs the planner its share. */
const ASKED_MAX = 25;

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

/** What differs between members as they are kept and as they should be, of some definitions. */
const compare = async (
  scope: Scope,
  profileIds: readonly string[],
  defined: readonly Defined[],
  today: number,
): Promise<Looked> => {
  const place = { projectId: scope.projectId, today };
  const asked = await askProfiles(scope, profileIds, {
    holds: defined.map(({ definition }) => compile(definition, place)),
    wakes: defined.flatMap(({ definition }) => compileWakes(definition, place)),
  });
  const ids = [...new Set(defined.map(({ segment_id }) => segment_id))];
  const kept = await listMemberships(scope, profileIds, ids);
  const were = new Set(kept.map(({ segment_id, profile_id }) => `${segment_id}/${profile_id}`));
  const askedOf = new Map(asked.map((one) => [one.profile_id, one]));
  const changes = profileIds.flatMap((profile_id) =>
    defined.flatMap((one, at): Change[] => {
      const { segment_id, version } = one;
      const row = askedOf.get(profile_id);
      const isMember = row?.holds[at] ?? false;
      if (!countsFor(one, profile_id, row)) return [];
      if (isMember === were.has(`${segment_id}/${profile_id}`)) return [];
      return [{ segment_id, profile_id, version, change: isMember ? 'entered' : 'left' }];
    }),
  );
  const wakes = asked.flatMap(({ profile_id, wake_on }) =>
    wake_on === null ? [] : [[profile_id, wake_on] as const],
  );
  return { changes, wakes: new Map(wakes) };
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
 * When `isAll` definitions of the project are asked, what is known of when to look again is known anew.
 */
export const refresh = async (
  scope: Scope,
  profileIds: readonly string[],
  defined: readonly Defined[],
  { today, cause, isAll, notes = NO_NOTES }: Refreshing,
): Promise<Change[]> => {
  const changed: Change[] = [];
  const lateness = new Lateness(scope, { notes, cause, today });
  const wakes = new Map<string, string>();
  for (const level of toLevels(defined)) {
    for (const some of chunksOf(level, ASKED_MAX)) {
      const looked = await compare(scope, profileIds, some, today);
      changed.push(...(await write(scope, await lateness.judge(looked.changes, some))));
      noteWakes(wakes, looked.wakes);
    }
  }
  if (isAll) await deleteWakes(scope, profileIds);
  await keepWakes(scope, await toWakes(scope, wakes));
  return changed;
};
