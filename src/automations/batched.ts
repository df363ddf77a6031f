import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import type { Condition } from '../segments/segments.ts';
import { Batcher } from './batcher.ts';
import type { WalkedRun } from './due_queries.ts';
import { findFirstEvents } from './past.ts';
import type { FirstEventQuery } from './past.ts';
import type { Others } from './merges/others.ts';
import { listOwnSends, listSentTo } from './past_queries.ts';
import { findCalls, queueCalls } from './step_call_queries.ts';
import type { PersonView, Run } from './world.ts';

/** Returns the rows of each of some ids. */
const collect = <Row>(
  ids: readonly string[],
  rows: readonly Row[],
  idOf: (row: Row) => string,
): Row[][] => {
  const byId = Map.groupBy(rows, idOf);
  return ids.map((id) => byId.get(id) ?? []);
};

const toView = (row: profiles.ProfileRow): PersonView => ({
  profileId: row.profile_id,
  email: row.email,
  traits: row.traits,
  tags: row.tags,
});

const findPeople = async (scope: Scope, profileIds: readonly string[]) => {
  const rows = await profiles.listRows(scope, [...new Set(profileIds)]);
  const byId = new Map(rows.map((row) => [row.profile_id, toView(row)]));
  return profileIds.map((id) => byId.get(id) ?? null);
};

const findEvents = async (scope: Scope, keys: readonly ingest.EventKey[]) => {
  const events = await ingest.listEvents(scope, [...keys]);
  const byId = new Map(events.map((event) => [event.event_id, event]));
  return keys.map(({ eventId }) => byId.get(eventId) ?? null);
};

type Addressee = { profileId: string; email: string };

const areConfirmed = async (scope: Scope, people: readonly Addressee[]): Promise<boolean[]> => {
  const confirmed = await profiles.listConfirmed(scope, people);
  return people.map(({ profileId }) => confirmed.has(profileId));
};

type ConditionQuery = { profileId: string; where: Condition };

/** Walks of one version share their conditions, so a statement answers one condition for all of them. */
const matchAll = async (scope: Scope, queries: readonly ConditionQuery[], now: Date) => {
  const matching = new Map<Condition, Set<string>>();
  for (const [where, same] of Map.groupBy(queries, (query) => query.where)) {
    const ids = same.map(({ profileId }) => profileId);
    const asked = { where, today: segments.todayAt(now) };
    matching.set(where, await segments.listMatching(scope, ids, asked));
  }
  return queries.map(({ profileId, where }) => matching.get(where)?.has(profileId) ?? false);
};

/** A change of the traits of a person, and who caused it. */
export type TraitWrite = {
  profileId: string;
  change: profiles.TraitChange;
  source: Run['source'];
};

/** The aspects of a person that a change of traits changes. With an address tags change, too: then null, for all. */
const aspectsOf = ({ change: { traits } }: TraitWrite): number[] | null =>
  Object.hasOwn(traits, 'email')
    ? null
    : Object.keys(traits).map((name) => profiles.aspectOf('trait', name));

/**
 * Notes who caused changes of traits that no server caused. The steps set traits with a server's authority, but what
 * they cause, such as an entry into a segment, has the source of the run. The notes come before the changes:
 * `take_changes` may take a change's own note in a later batch, and never in an earlier one.
 */
const noteCauses = async (scope: Scope, writes: readonly TraitWrite[]): Promise<void> => {
  const caused = writes.filter(({ source }) => source !== 'server');
  const causeOf = ({ source }: TraitWrite) => (source === 'browser' ? source : null);
  for (const [source, same] of Map.groupBy(caused, causeOf)) {
    const ids = same.map(({ profileId }) => profileId);
    await profiles.noteChanges(scope, ids, { source, aspects: same.map(aspectsOf) });
  }
};

/** Changes traits of different people. Returns which changes were kept. */
const changeTraits = async (scope: Scope, writes: readonly TraitWrite[]): Promise<boolean[]> => {
  await noteCauses(scope, writes);
  const full = await profiles.changeTraitsOf(
    scope,
    writes.map(({ change }) => change),
  );
  return writes.map(({ change }) => !full.has(change.identityId));
};

type OtherQuery = { run: WalkedRun; stepId: string };

/** Asks one after the other: the answers for all runs of a transaction are read together, once. */
const askOthers = async <Query, Answer>(
  queries: readonly Query[],
  ask: (query: Query) => Promise<Answer>,
): Promise<Answer[]> => {
  const answers: Answer[] = [];
  for (const query of queries) answers.push(await ask(query));
  return answers;
};

/**
 * What the walks of one transaction ask of the database and change in it. Each function answers all walks that call it
 * at the same moment in as many statements as one.
 */
export const openBatched = (scope: Scope, now: Date, others: Others) => {
  const batcher = new Batcher();
  return {
    findPerson: batcher.add((profileIds: readonly string[]) => findPeople(scope, profileIds)),
    findEvent: batcher.add((keys: readonly ingest.EventKey[]) => findEvents(scope, keys)),
    isConfirmed: batcher.add((people: readonly Addressee[]) => areConfirmed(scope, people)),
    listMembers: batcher.add(async (profileIds: readonly string[]) => {
      const members = await profiles.listMembers(scope, [...new Set(profileIds)]);
      return collect(profileIds, members, ({ profile_id }) => profile_id);
    }),
    findFirstEvent: batcher.add((queries: readonly FirstEventQuery[]) =>
      findFirstEvents(scope, queries),
    ),
    findFirstEntry: batcher.add((queries: Parameters<typeof segments.findFirstEntries>[1]) =>
      segments.findFirstEntries(scope, queries),
    ),
    matches: batcher.add((queries: readonly ConditionQuery[]) => matchAll(scope, queries, now)),
    findCall: batcher.add((steps: Parameters<typeof findCalls>[1]) => findCalls(scope, steps)),
    listOwnSends: batcher.add(async (runIds: readonly string[]) => {
      const sends = await listOwnSends(scope, runIds);
      return collect(runIds, sends, ({ run_id }) => run_id);
    }),
    countMailed: batcher.add((asked: Parameters<typeof delivery.countMailed>[1]) =>
      delivery.countMailed(scope, asked, now),
    ),
    countOfRecipient: batcher.add((emails: readonly string[]) =>
      delivery.countOfRecipients(scope, emails, now),
    ),
    findSent: batcher.add((queries: readonly (OtherQuery & { to: string })[]) =>
      askOthers(queries, ({ run, stepId, to }) => others.findSent(run, stepId, to)),
    ),
    findArm: batcher.add((queries: readonly OtherQuery[]) =>
      askOthers(queries, ({ run, stepId }) => others.findArm(run, stepId)),
    ),
    listSentTo: batcher.add((people: Parameters<typeof listSentTo>[1]) =>
      listSentTo(scope, people),
    ),
    changeTraits: batcher.add((writes: readonly TraitWrite[]) => changeTraits(scope, writes)),
    plan: batcher.add((intents: readonly delivery.Intent[]) => delivery.plan(scope, intents)),
    queueCall: batcher.add((calls: Parameters<typeof queueCalls>[1]) => queueCalls(scope, calls)),
  };
};
export type Batched = ReturnType<typeof openBatched>;
