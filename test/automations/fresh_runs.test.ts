// What an event has just started or woken goes before runs that are due by time or of a bulk start.
import { expect, test } from 'vitest';
import {
  advance,
  advanceHint,
  advanceStarted,
  FLUSH_RUNS_MAX,
} from '../../src/automations/advance.ts';
import { startRuns } from '../../src/automations/automations.ts';
import { getAutomation } from '../../src/automations/queries.ts';
import { listDueRuns } from '../../src/automations/due_queries.ts';
import {
  START_DUE_RUNS_MAX,
  startNextPeople,
  startSegment,
} from '../../src/automations/segment_start.ts';
import { newId } from '../../src/base/ids.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { identify } from '../../src/profiles/identify.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { connectTo } from '../base/connections.ts';
import { journeysOf } from './journeys.ts';
import { note, onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();

const HOUR = {
  entry: 'hour',
  steps: { hour: { kind: 'delay' as const, duration: 'PT1H', next: 'note' }, note: note() },
};

type Journeys = ReturnType<typeof journeysOf>;

const signUp = (external_id: string, source: 'server' | 'browser' = 'server') =>
  newEvent({ name: 'user_signed_up', external_id, properties: '{}', source });
const people = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `person-${at}`);

/** What a worker does with flushes in one transaction. */
const process = (journeys: Journeys, ...flushIds: string[]) =>
  journeys.within(async (scope) => {
    await profiles.seeEvents(scope, flushIds);
    return advanceStarted(scope, (await startRuns(scope, flushIds)).started);
  });

type Due = { count: number; goesFirst?: boolean; source?: 'browser' | null };

/** Inserts runs that became due in the last hour, of people who no longer exist. */
const insertDue = async (
  { projectId }: { projectId: string },
  automationId: string,
  { count, goesFirst = false, source = null }: Due,
): Promise<void> => {
  await database.owner.query(
    `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
      step_id, wake_at, waits_until, started_at, goes_first, source)
    select $1, gen_random_uuid(), $2, 1, gen_random_uuid(), gen_random_uuid()::text, 'active', 'note',
      now() - make_interval(secs => 3600 - nth * 0.1), now() - interval '1 hour', now() - interval '2 hours', $4, $5
    from generate_series(1, $3) as nth`,
    [projectId, automationId, count, goesFirst, source],
  );
};

const turnsOf = async (first: number, others: number, runsMax = 8): Promise<string> => {
  const journeys = journeysOf(database);
  const id = await journeys.activate(HOUR);
  await insertDue(journeys, id, { count: others });
  await insertDue(journeys, id, { count: first, goesFirst: true });
  const due = await journeys.within((scope) => listDueRuns(scope, runsMax));
  const kinds = new Map(
    (await journeys.select('run_id, goes_first, wake_at', 'automations.runs')).map((run) => [
      run.run_id as string,
      run as { goes_first: boolean; wake_at: Date },
    ]),
  );
  const listed = due.flatMap(({ run_id }) => kinds.get(run_id) ?? []);
  for (const goesFirst of [true, false]) {
    const times = listed
      .filter((run) => run.goes_first === goesFirst)
      .map(({ wake_at }) => wake_at.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  }
  return listed.map(({ goes_first: isFirst }) => (isFirst ? 'F' : 'o')).join('');
};

test.each([
  ['both kinds share, three to one', 20, 20, 'FFFoFFFo'],
  ['without others all are first', 20, 0, 'FFFFFFFF'],
  ['without first ones all are others', 0, 20, 'oooooooo'],
  ['one that has just started waits for none', 1, 20, 'Fooooooo'],
  ['others fill up what the first leave', 4, 20, 'FFFoFooo'],
  ['the first fill up what others leave', 20, 1, 'FFFoFFFF'],
])('%s', async (_name, first, others, turns) => {
  expect(await turnsOf(first, others)).toBe(turns);
});

const PAGE = { source: 'browser' } as const;
const FIRST = { goesFirst: true } as const;

test.each<[string, string, Due[]]>([
  [
    'runs of pages get a quarter of each kind',
    'FFFfOFFFfOFFFfOoFFFf',
    [
      { count: 20, ...FIRST },
      { count: 20, ...FIRST, ...PAGE },
      { count: 20 },
      { count: 20, ...PAGE },
    ],
  ],
  [
    'runs of pages fill up what the others leave',
    'fffofffofffofffofffo',
    [
      { count: 20, ...FIRST, ...PAGE },
      { count: 20, ...PAGE },
    ],
  ],
  [
    'a run that a server has just started waits for none',
    'Ffffffffffffffffffff',
    [
      { count: 20, ...FIRST, ...PAGE },
      { count: 1, ...FIRST },
    ],
  ],
])('attack: %s', async (_name, turns, kinds) => {
  const journeys = journeysOf(database);
  const id = await journeys.activate(HOUR);
  for (const kind of kinds) await insertDue(journeys, id, kind);
  const due = await journeys.within((scope) => listDueRuns(scope, turns.length));
  const letters = new Map(
    (await journeys.select('run_id, goes_first, source', 'automations.runs')).map((run) => {
      const letter = run.goes_first ? 'f' : 'o';
      return [run.run_id, run.source === null ? letter.toUpperCase() : letter];
    }),
  );
  expect(due.map(({ run_id }) => letters.get(run_id)).join('')).toBe(turns);
});

/** The runs that were walked to their delay: one that has just begun goes first. */
const walked = async (journeys: Journeys) =>
  (await journeys.select('step_id, goes_first, source', 'automations.runs')).filter(
    ({ step_id, goes_first }) => step_id === 'hour' && !goes_first,
  );

test('attack: a flush walks what a server started before what a page started', async () => {
  const journeys = journeysOf(database);
  const id = await journeys.activate(HOUR);
  await insertDue(journeys, id, { count: 600, goesFirst: true, source: 'browser' });
  const ofPage = await journeys.flush(...people(3).map((person) => signUp(person, 'browser')));
  const ofServer = await journeys.flush(signUp('ann'));
  expect(await process(journeys, ofPage, ofServer)).toEqual([advanceHint(journeys.projectId)]);
  const server = { step_id: 'hour', goes_first: false, source: 'server' };
  expect(await walked(journeys)).toEqual([server]);
  // Where a server started none, the flush walks what it has just started for a page, and nothing else.
  const alone = await journeys.flush(signUp('ben', 'browser'));
  expect(await process(journeys, alone)).toEqual([]);
  expect(await walked(journeys)).toEqual(
    expect.arrayContaining([server, { ...server, source: 'browser' }]),
  );
  expect(await walked(journeys)).toHaveLength(2);
});

test('attack: a flush locks no person of another flush, whatever runs are due', async () => {
  const journeys = journeysOf(database);
  await journeys.activate(HOUR);
  await journeys.start(await journeys.flush(signUp('ann')));
  const isOf = "project_id = $1 and value = 'ann'";
  const other = await connectTo(database, journeys.projectId);
  await other.query('begin');
  await other.query(`select from identity.identities where ${isOf} for update`, [
    journeys.projectId,
  ]);
  // The person of the other flush is locked: a walk of that run would wait until the statement times out.
  const flushId = await journeys.flush(signUp('ben'));
  expect(await process(journeys, flushId)).toEqual([]);
  await other.query('rollback');
  expect(await walked(journeys)).toHaveLength(1);
});

test.each([
  ['at the bound walks all', FLUSH_RUNS_MAX, false],
  ['one past it leaves one to the job of the runs', FLUSH_RUNS_MAX + 1, true],
])('a flush with runs %s', async (_name, count, isMore) => {
  const journeys = journeysOf(database);
  await journeys.activate(HOUR);
  const flushId = await journeys.flush(...people(count).map((person) => signUp(person)));
  expect(await process(journeys, flushId)).toEqual(isMore ? [advanceHint(journeys.projectId)] : []);
  expect(await walked(journeys)).toHaveLength(FLUSH_RUNS_MAX);
});

test('an event is walked at once beside more due runs than one transaction takes', async () => {
  const journeys = journeysOf(database);
  const id = await journeys.activate({ ...HOUR, settings: { re_entry: 'every_time' } });
  await insertDue(journeys, id, { count: 600 });
  await process(journeys, await journeys.flush(signUp('ann')));
  // It waits by time from now on, and the flush left the others to their own job.
  expect(await walked(journeys)).toEqual([
    { step_id: 'hour', goes_first: false, source: 'server' },
  ]);
  expect(await journeys.select('run_id', `automations.runs`)).toHaveLength(601);
  const { length } = (await journeys.select('status', 'automations.runs')).filter(
    ({ status }) => status === 'active',
  );
  expect(length).toBe(601);
  await journeys.start(await journeys.flush(signUp('bob')));
  await journeys.advance();
  expect(await walked(journeys)).toHaveLength(2);
});

test('an event wakes a run before those that are due by time', async () => {
  const journeys = journeysOf(database);
  const id = await journeys.activate({
    entry: 'paid',
    steps: {
      paid: {
        kind: 'wait_for_event',
        event: 'paid',
        where: [],
        timeout: 'P1D',
        next: 'hour',
        on_timeout: null,
      },
      ...HOUR.steps,
    },
  });
  await journeys.tell(signUp('ann'));
  await insertDue(journeys, id, { count: 600 });
  const flushId = await journeys.flush(
    newEvent({ name: 'paid', external_id: 'ann', properties: '{}' }),
  );
  await journeys.start(flushId);
  await journeys.advance();
  expect(await walked(journeys)).toHaveLength(1);
});

test.each([
  ['started or woken by an event', true],
  ['due by time', false],
])(
  'attack: runs of pages that are due longer, %s, are walked after those of others',
  async (_how, goesFirst) => {
    const journeys = journeysOf(database);
    const id = await journeys.activate(HOUR);
    await insertDue(journeys, id, { count: 20, goesFirst, source: 'browser' });
    await insertDue(journeys, id, { count: 3, goesFirst });
    await database.owner.query(
      "update automations.runs set wake_at = now() - interval '1 second' where automation_id = $1 and source is null",
      [id],
    );
    const walkedSources: (string | null)[] = [];
    for (let at = 0; at < 3; at += 1) {
      await journeys.within((scope) => advance(scope, { msMax: 0, pieceRuns: 1 }));
      const over = (await journeys.select('source, status', 'automations.runs')).filter(
        ({ status }) => status !== 'active',
      );
      walkedSources.splice(0, 3, ...over.map(({ source }) => source as string | null));
    }
    expect(walkedSources).toEqual([null, null, null]);
  },
);

test.each([
  ['together', false, [1, 2, 3]],
  ['each alone, because the first cannot be walked', true, [0, 1, 2]],
])(
  'a transaction begins no walk after its time: runs that are walked %s',
  async (_how, isBroken, counts) => {
    const journeys = journeysOf(database);
    await journeys.activate({ ...HOUR, settings: { re_entry: 'every_time' } });
    await journeys.start(await journeys.flush(...people(3).map((person) => signUp(person))));
    const [first] = await journeys.select('run_id', 'automations.runs');
    const step = isBroken ? 'missing' : 'hour';
    await database.owner.query(
      `update automations.runs set step_id = $2, wake_at = wake_at - interval '1 ms' where run_id = $1`,
      [first.run_id, step],
    );
    const seen: [number, boolean][] = [];
    for (let at = 0; at < counts.length; at += 1) {
      const { isMore } = await journeys.within((scope) =>
        advance(scope, { msMax: 0, pieceRuns: 1 }),
      );
      seen.push([(await walked(journeys)).length, isMore]);
    }
    expect(seen).toEqual(counts.map((count, at) => [count, at < counts.length - 1]));
  },
);

test.each([
  ['at the bound waits', START_DUE_RUNS_MAX, 0],
  ['one below the bound goes on', START_DUE_RUNS_MAX - 1, 1],
])('a bulk start beside due runs: %s', async (_name, count, started) => {
  const world = withSegments(database);
  await identify(database.deps, world.caller, { external_id: 'ann', traits: { plan: 'pro' } });
  const segmentId = await world.segment(onPlan('pro'));
  const id = await world.live({});
  const startId = newId();
  await world.within(async (scope) =>
    startSegment(scope, await getAutomation(scope, id), { startId, segmentId }),
  );
  await insertDue(world, id, { count });
  const outcome = await world.within((scope) => startNextPeople(scope, startId));
  expect(outcome).toEqual({ started, isMore: false });
  const [start] = await world.select('status, started::int', 'automations.segment_starts');
  expect(start).toEqual({ status: started ? 'done' : 'running', started });
  // Those it starts go after what events start.
  expect(await world.select('goes_first', 'automations.runs')).not.toContainEqual({
    goes_first: true,
  });
});
