// Links, undos and workers that come at the same time: no email comes twice, and nothing is left undecided.
import { beforeEach, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import type { Hint } from '../../src/base/hints.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { listWork } from '../../src/worker/work.ts';
import mergeRuns from '../../tasks/automations/merge_runs.ts';
import { connectAs } from '../base/connections.ts';
import { eraseNow } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { asWorker } from '../support/work_on.ts';
import { SERIES, withMerges } from './with_merges.ts';

const database = testDatabase();
let world: ReturnType<typeof withMerges>;
beforeEach(() => {
  world = withMerges(database);
});

const PEOPLE = 12;
const OVERDUE_SECONDS = 2;

const pendingOf = async (): Promise<string[]> =>
  (await world.select('profile_id', 'automations.pending_merges')).map(
    ({ profile_id }) => profile_id as string,
  );
const work = async (profile_id: string): Promise<void> => {
  const payload = { project_id: world.projectId, profile_id };
  await mergeRuns(asWorker(database))(payload, undefined as never);
};

/** Enrolls Ann, and then her phone, in the series. */
const enrollBoth = async (): Promise<void> => {
  await world.activate(SERIES);
  for (const who of ['ann', 'Phone']) await world.know(who);
  for (const who of ['ann', 'Phone']) await world.enroll(who);
};

test('people who are linked while workers walk their runs are sent each email once', async () => {
  await world.activate(SERIES);
  const people = Array.from({ length: PEOPLE }, (_, at) => ({ who: `p${at}`, device: `D${at}` }));
  for (const { who, device } of people) {
    await world.know(who);
    await world.know(device);
    await world.enroll(who);
    await world.enroll(device);
  }
  await world.pass('1 day');
  const walk = async () => {
    for (let round = 0; round < 6; round += 1) await world.advance();
  };
  const compare = async () => {
    for (let round = 0; round < 6; round += 1)
      await Promise.all((await pendingOf()).map((profileId) => work(profileId)));
  };
  await Promise.all([
    walk(),
    walk(),
    compare(),
    ...people.map(({ who, device }) => world.link(device, who)),
  ]);
  await world.settle();
  expect(await pendingOf()).toEqual([]);
  const { rows } = await database.owner.query<{ emails: number; runs: number }>(
    `select count(distinct send.send_id) filter (where send.status = 'queued')::integer as emails,
      count(distinct run.run_id) filter (where run.outcome is distinct from 'merged')::integer as runs
    from identity.identities as known
    join automations.runs as run on run.project_id = $1 and run.identity_id = known.identity_id
    left join delivery.sends as send on send.project_id = $1 and send.run_id = run.run_id
    where known.project_id = $1 group by known.profile_id`,
    [world.projectId],
  );
  expect(rows).toEqual(people.map(() => ({ emails: 1, runs: 1 })));
});

test('a comparison waits for the walk of a run, and a walk that comes after it finds the run ended', async () => {
  await enrollBoth();
  await world.pass('1 day');
  await world.link('Phone');
  const [profileId = ''] = await pendingOf();
  await Promise.all([work(profileId), world.advance(), work(profileId), world.advance()]);
  await world.settle();
  expect(await world.stands()).toEqual(['ann active at rest', 'Phone merged']);
  expect(await world.emails()).toEqual(['ann mail queued']);
});

test('a comparison that no job does is found by the sweeper', async () => {
  await enrollBoth();
  await world.link('Phone');
  const queue = await connectAs(database, 'trunkline_queue');
  const found = async () =>
    (await listWork(queue, OVERDUE_SECONDS)).merges.filter(
      ({ project_id }) => project_id === world.projectId,
    );
  expect(await found()).toEqual([]);
  await database.owner.query(
    "update automations.pending_merges set noted_at = now() - interval '1 minute' where project_id = $1",
    [world.projectId],
  );
  const [profileId = ''] = await pendingOf();
  expect(await found()).toEqual([{ project_id: world.projectId, profile_id: profileId }]);
  await work(profileId);
  expect(await found()).toEqual([]);
  expect(await world.stands()).toEqual(['ann active at wait', 'Phone merged']);
  // The same again changes nothing.
  await work(profileId);
  expect(await world.stands()).toEqual(['ann active at wait', 'Phone merged']);
});

test('a comparison that is interrupted begins again where it was', async () => {
  await world.activate(SERIES);
  await world.activate({ ...SERIES, trigger: { kind: 'event', event: 'other' } }, 'other');
  await world.know('ann');
  await world.know('Phone');
  for (const who of ['ann', 'Phone']) {
    await world.enroll(who);
    await world.enroll(who, {}, 'other');
  }
  await world.link('Phone');
  const [profileId = ''] = await pendingOf();
  const piece = () => world.within((scope) => automations.settleMerges(scope, profileId, 3));
  expect(await piece()).toEqual({ isMore: true });
  await world
    .within(async (scope) => {
      await automations.settleMerges(scope, profileId, 3);
      throw new Error('a crash');
    })
    .catch(() => {});
  expect(await pendingOf()).toEqual([profileId]);
  expect(await piece()).toEqual({ isMore: false });
  expect((await world.stands()).toSorted()).toEqual([
    'Phone merged',
    'Phone merged',
    'ann active at wait',
    'ann active at wait',
  ]);
});

test('an erase leaves no place that an undo could restore', async () => {
  await enrollBoth();
  await world.link('Phone');
  await world.settle();
  const [{ profile_id: profileId }] = (
    await database.owner.query(
      "select profile_id from identity.identities where project_id = $1 and value = 'ann'",
      [world.projectId],
    )
  ).rows;
  await eraseNow(database, world.projectId, profileId);
  expect(await world.select('run_id', 'automations.run_merges')).toEqual([]);
  expect(await world.select('profile_id', 'automations.pending_merges')).toEqual([]);
});

/** Links Ann's phone to her, and returns the jobs that this asks for. */
const jobsOfLink = (key_type: 'server' | 'publishable') =>
  world.within(async (scope) => {
    const wish = {
      anonymous_id: 'Phone',
      external_id: 'ann',
      source: 'identify',
      key_type,
    } as const;
    const hints: Hint[] = [];
    await profiles.linkPeople(scope, wish, async (inner, moved) => {
      hints.push(...(await automations.followLink(inner, moved)));
    });
    return hints.map(({ task }) => task).filter((task) => task.includes('merge'));
  });

test.each([
  ['server', 'automations/merge_runs'],
  ['publishable', 'automations/merge_runs_of_pages'],
] as const)('a link by a %s key has its runs compared by %s', async (keyType, task) => {
  await enrollBoth();
  expect(await jobsOfLink(keyType)).toEqual([task]);
});

test.each([
  ['a server', 'server', ['automations/merge_runs']],
  ['a page', 'browser', []],
] as const)(
  'attack: links of pages wait to be compared; a due run of %s that waits asks for: %s',
  async (_who, source, tasks) => {
    await enrollBoth();
    await jobsOfLink('publishable');
    await database.owner.query('update automations.runs set source = $2 where project_id = $1', [
      world.projectId,
      source,
    ]);
    await world.pass('1 day');
    const { hints } = await world.advance();
    const [profileId] = await pendingOf();
    const merging = hints.filter(({ task }) => task.includes('merge'));
    expect(merging.map(({ task }) => task)).toEqual(tasks);
    for (const { payload } of merging) expect(payload).toMatchObject({ profile_id: profileId });
    await work(profileId ?? '');
    expect((await world.advance()).hints.filter(({ task }) => task.includes('merge'))).toEqual([]);
  },
);
