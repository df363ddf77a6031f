import { inProject } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { Past } from './past.ts';
import type { SeedEvent, SeedOptions } from './past.ts';
import { Random } from './random.ts';
import { insertEvents, insertPeople, isSeeded, ROWS_PER_STATEMENT } from './store.ts';
import type { SeedIdentity } from './store.ts';

type SeedDeps = Pick<Deps, 'db' | 'keys'>;

/** Told after each statement: how many events are stored. */
export type Progress = (storedCount: number) => void;

/** How many statements are on their way while the next rows are made. */
const IN_FLIGHT_MAX = 2;

/** The two identifiers of a person, as far as each was seen. A sign-up is the first that a server says of them. */
const identitiesOf = (past: Past, number: number, random: Random): SeedIdentity[] => {
  const { anonymousId, externalId, traits } = past.person(number);
  const { anonymous, external } = past.seen(number);
  const made = (
    kind: SeedIdentity['kind'],
    value: string,
    seen: { first: number; last: number } | null,
  ): SeedIdentity[] =>
    seen === null
      ? []
      : [
          {
            identityId: random.idAt(seen.first),
            profileId: random.idAt(seen.first),
            kind,
            value,
            firstSeenAt: seen.first,
            lastSeenAt: seen.last,
            told: kind === 'external' ? { traits, at: seen.first } : null,
          },
        ];
  return [...made('anonymous', anonymousId, anonymous), ...made('external', externalId, external)];
};

/** The events in their order, so many at a time, whatever the day. */
function* batchesOf(past: Past): Generator<SeedEvent[]> {
  let waiting: SeedEvent[] = [];
  for (const day of past.days()) {
    waiting = waiting.concat(day);
    while (waiting.length >= ROWS_PER_STATEMENT) yield waiting.splice(0, ROWS_PER_STATEMENT);
  }
  if (waiting.length > 0) yield waiting;
}

const storeEvents = async (
  deps: SeedDeps,
  projectId: string,
  past: Past,
  progress: Progress,
): Promise<void> => {
  const inFlight = new Set<Promise<void>>();
  let storedCount = 0;
  for (const batch of batchesOf(past)) {
    const storing: Promise<void> = inProject(deps, projectId, (scope) =>
      insertEvents(scope, batch),
    ).then(() => {
      inFlight.delete(storing);
      storedCount += batch.length;
      progress(storedCount);
    });
    inFlight.add(storing);
    if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
};

const storePeople = async (
  deps: SeedDeps,
  projectId: string,
  past: Past,
  { people, seed }: SeedOptions,
): Promise<void> => {
  const random = new Random(seed, people, 0x1d);
  const store = (identities: SeedIdentity[]) =>
    inProject(deps, projectId, (scope) => insertPeople(scope, identities));
  let waiting: SeedIdentity[] = [];
  for (let number = 0; number < people; number += 1) {
    waiting.push(...identitiesOf(past, number, random));
    if (waiting.length < ROWS_PER_STATEMENT) continue;
    await store(waiting);
    waiting = [];
  }
  if (waiting.length > 0) await store(waiting);
};

/**
 * Makes people and their past in a project: events as if accepted in their time, and of each identifier the
 * identity, the profile and the traits that the worker would have made. The same options make the same rows.
 */
export const makeSeed = async (
  deps: SeedDeps,
  projectId: string,
  options: SeedOptions,
  progress: Progress = () => {},
): Promise<void> => {
  const past = new Past(options);
  const isThere = await inProject(deps, projectId, (scope) =>
    isSeeded(scope, past.person(0).anonymousId),
  );
  if (isThere) {
    throw new Error(`The people of seed ${options.seed} are there already: give another seed=`);
  }
  await storeEvents(deps, projectId, past, progress);
  await storePeople(deps, projectId, past, options);
};
