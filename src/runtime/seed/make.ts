import { inProject } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { makeMail, suppressionOf } from './mails.ts';
import type { SeedMail } from './mails.ts';
import { Past } from './past.ts';
import type { SeedEvent, SeedOptions } from './past.ts';
import { Random } from './random.ts';
import { hasEvent, hasHappened, hasIdentity, insertEvents, insertPeople } from './store.ts';
import { ROWS_PER_STATEMENT } from './store.ts';
import type { SeedIdentity } from './store.ts';
import { campaignOf, insertMails, keepCampaign } from './store_mails.ts';

type SeedDeps = Pick<Deps, 'db' | 'keys'>;

/** Told after each statement: how many events are there, and how many of them this run stored. */
export type Progress = (thereCount: number, storedCount: number) => void;

/** How many statements are on their way while the next rows are made. */
const IN_FLIGHT_MAX = 2;
const DAY_MS = 86_400_000;
/** A page says who its visitor is when it hears that they signed up. */
const IDENTIFIED_AFTER_MS = 120;

/** One person: what is known of each identifier, and the mail that welcomed them. */
type SeedPerson = { identities: SeedIdentity[]; mail: SeedMail | null };

const makeSeedPerson = (
  past: Past,
  number: number,
  random: Random,
  { seed, days, until }: SeedOptions,
): SeedPerson => {
  const { anonymousId, externalId, traits } = past.person(number);
  const { anonymous, external } = past.seen(number);
  const made = (kind: SeedIdentity['kind'], value: string, seen: typeof anonymous) =>
    seen === null
      ? null
      : {
          identityId: random.idAt(seen.first),
          profileId: random.idAt(seen.first),
          kind,
          value,
          firstSeenAt: seen.first,
          lastSeenAt: seen.last,
        };
  const visitor = made('anonymous', anonymousId, anonymous);
  const person = made('external', externalId, external);
  if (person === null) {
    return { identities: visitor ? [{ ...visitor, told: null }] : [], mail: null };
  }
  // A sign-up is the first that a server says of them.
  const signedUpAt = person.firstSeenAt;
  const { identityId, profileId } = person;
  const { email, first_name: firstName } = traits;
  const known = { seed, number, identityId, profileId, email, firstName, signedUpAt };
  const mail = makeMail(
    { ...known, until: until.getTime() },
    until.getTime() - (days / 2) * DAY_MS,
  );
  const linkedAt = signedUpAt + IDENTIFIED_AFTER_MS;
  const link = { linkId: random.idAt(linkedAt), at: linkedAt, person };
  return {
    identities: [
      ...(visitor ? [{ ...visitor, told: null, link }] : []),
      { ...person, told: { traits, at: signedUpAt }, tagged: suppressionOf(mail) },
    ],
    mail,
  };
};

/**
 * The events in their order, so many at a time, whatever the day. The first event of the first person
 * comes alone, so that an interrupted seed is known by it.
 */
function* batchesOf(past: Past): Generator<SeedEvent[]> {
  const { anonymousId } = past.person(0);
  let waiting: SeedEvent[] = [];
  let isBegun = false;
  for (const day of past.days()) {
    if (!isBegun && day.length > 0) {
      isBegun = true;
      const first = day.findIndex((event) => event.anonymousId === anonymousId);
      yield day.splice(first, 1);
    }
    waiting = waiting.concat(day);
    while (waiting.length >= ROWS_PER_STATEMENT) yield waiting.splice(0, ROWS_PER_STATEMENT);
  }
  if (waiting.length > 0) yield waiting;
}

/** Begins a seed, or refuses when its people are there with another past; answers whether it goes on with one. */
const beginSeed = async (
  deps: SeedDeps,
  projectId: string,
  past: Past,
  [first, options]: [SeedEvent[], SeedOptions],
): Promise<boolean> =>
  inProject(deps, projectId, async (scope) => {
    const [event] = first;
    if (event && (await hasEvent(scope, event))) return true;
    if (await hasHappened(scope, past.person(0))) {
      throw new Error(
        `The people of seed ${options.seed} are there already: give another seed=, or the same people=, events=, ` +
          'days= and until= to go on with what was interrupted',
      );
    }
    await insertEvents(scope, first);
    return false;
  });

const storeEvents = async (
  deps: SeedDeps,
  projectId: string,
  past: Past,
  [options, progress]: [SeedOptions, Progress],
): Promise<void> => {
  const batches = batchesOf(past);
  const first = batches.next().value ?? [];
  const goesOn = await beginSeed(deps, projectId, past, [first, options]);
  const store = (batch: SeedEvent[]): Promise<number> =>
    inProject(deps, projectId, async (scope) => {
      const isThere = goesOn && batch[0] !== undefined && (await hasEvent(scope, batch[0]));
      if (isThere) return 0;
      await insertEvents(scope, batch);
      return batch.length;
    });
  const inFlight = new Set<Promise<void>>();
  let thereCount = first.length;
  let storedCount = goesOn ? 0 : thereCount;
  progress(thereCount, storedCount);
  try {
    for (const batch of batches) {
      const storing: Promise<void> = store(batch).then((stored) => {
        inFlight.delete(storing);
        thereCount += batch.length;
        storedCount += stored;
        progress(thereCount, storedCount);
      });
      inFlight.add(storing);
      if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
    }
    await Promise.all(inFlight);
  } finally {
    // Nothing goes on behind the back of whoever hears that it failed.
    await Promise.allSettled(inFlight);
  }
};

const storePeople = async (
  deps: SeedDeps,
  projectId: string,
  past: Past,
  options: SeedOptions,
): Promise<void> => {
  const { people, seed, until, days } = options;
  const random = new Random(seed, people, 0x1d);
  const startedAt = until.getTime() - days * DAY_MS;
  const campaign = campaignOf(seed, startedAt);
  await inProject(deps, projectId, (scope) => keepCampaign(scope, campaign, startedAt));
  const store = (batch: SeedPerson[]) =>
    inProject(deps, projectId, async (scope) => {
      const [known] = batch[0]?.identities ?? [];
      if (!known || (await hasIdentity(scope, known.identityId))) return;
      await insertPeople(
        scope,
        batch.flatMap(({ identities }) => identities),
      );
      await insertMails(
        scope,
        batch.flatMap(({ mail }) => mail ?? []),
        campaign,
      );
    });
  let waiting: SeedPerson[] = [];
  for (let number = 0; number < people; number += 1) {
    waiting.push(makeSeedPerson(past, number, random, options));
    if (waiting.length < ROWS_PER_STATEMENT / 2) continue;
    await store(waiting);
    waiting = [];
  }
  await store(waiting);
};

/**
 * Makes people and their past in a project: events as if accepted in their time; of each identifier the
 * identity, the profile and the traits that the worker would have made; links of browsers to people; and
 * a welcome mail to everybody who signed up, with what was heard of it. The same options make the same
 * rows, and running them again makes only those that are missing.
 */
export const makeSeed = async (
  deps: SeedDeps,
  projectId: string,
  options: SeedOptions,
  progress: Progress = () => {},
): Promise<void> => {
  const past = new Past(options);
  await storeEvents(deps, projectId, past, [options, progress]);
  await storePeople(deps, projectId, past, options);
};
