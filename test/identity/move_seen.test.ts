import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { findByValue, see } from '../../src/identity/identity.ts';
import { connectTo, isSettled, rowsRead, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

type Seen = { value: string; first: number; last: number | null; observed?: number };
/** Days of January 2026; more of them are of later months. */
const at = (day: number): Date => new Date(Date.UTC(2026, 0, day));
const seen = (value: string, first = 5, last = first): Seen => ({ value, first, last });
const observed = (value: string, day: number): Seen => ({
  value,
  first: day,
  last: null,
  observed: day,
});

const know = (projectId: string, ...people: Seen[]) =>
  inProject(database.deps, projectId, (scope) =>
    see(
      scope,
      people.map(({ value, first, last }) => ({
        kind: 'external' as const,
        value,
        first_seen_at: at(first),
        last_seen_at: at(last ?? first),
      })),
    ),
  );
const MOVE = `select value, first_seen_at, last_seen_at, is_known from identity.move_seen(project_id => $1, kinds => $2,
  identifiers => $3, first_seen_ats => $4, last_seen_ats => $5, observed_ats => $6)`;
const toValues = (projectId: string, people: readonly Seen[]) => [
  projectId,
  people.map(() => 'external'),
  people.map(({ value }) => value),
  people.map(({ first }) => at(first)),
  people.map(({ last }) => last && at(last)),
  people.map(({ observed: day }) => (day === undefined ? null : at(day))),
];
const move = async (projectId: string, ...people: Seen[]) => {
  const client = await connectTo(database, projectId);
  return (await client.query(MOVE, toValues(projectId, people))).rows;
};
const timesOf = (projectId: string, value: string) =>
  inProject(database.deps, projectId, async (scope) => {
    const found = await findByValue(scope, 'external', value);
    return [found?.first_seen_at, found?.last_seen_at];
  });

test('known identifiers move outwards only, and nobody else’s', async () => {
  const [projectId, other] = [newId(), newId()];
  for (const project of [projectId, other]) await know(project, seen('ann'), seen('bob'));
  expect(await move(projectId, seen('ann', 3, 8), seen('bob', 5))).toEqual([]);
  expect(await move(projectId, seen('ann', 4, 7))).toEqual([]);
  expect(await timesOf(projectId, 'ann')).toEqual([at(3), at(8)]);
  expect(await timesOf(projectId, 'bob')).toEqual([at(5), at(5)]);
  expect(await timesOf(other, 'ann')).toEqual([at(5), at(5)]);
});

test('it leaves the first identifier without an identity and all after it, neither made nor moved', async () => {
  const projectId = newId();
  await know(projectId, seen('abe'), seen('bob'));
  const people = [seen('abe', 6), seen('ann', 1, 2), seen('bob', 6), seen('cid', 3)];
  expect(await move(projectId, ...people)).toEqual([
    { value: 'ann', first_seen_at: at(1), last_seen_at: at(2), is_known: false },
    { value: 'bob', first_seen_at: at(6), last_seen_at: at(6), is_known: true },
    { value: 'cid', first_seen_at: at(3), last_seen_at: at(3), is_known: false },
  ]);
  expect(await timesOf(projectId, 'abe')).toEqual([at(5), at(6)]);
  expect(await timesOf(projectId, 'ann')).toEqual([undefined, undefined]);
  expect(await timesOf(projectId, 'bob')).toEqual([at(5), at(5)]);
});

test('whoever was only named before is seen for the first time, and is not unknown', async () => {
  const projectId = newId();
  await inProject(database.deps, projectId, (scope) =>
    see(scope, [{ kind: 'external', value: 'ann', first_seen_at: null, last_seen_at: null }]),
  );
  expect(await move(projectId, seen('ann', 3, 8))).toEqual([]);
  expect(await timesOf(projectId, 'ann')).toEqual([at(3), at(8)]);
});

const observedAt = async (projectId: string, value: string): Promise<Date | null> =>
  (
    await database.owner.query(
      'select observed_at from identity.identities where project_id = $1 and value = $2',
      [projectId, value],
    )
  ).rows[0].observed_at;

test('what is observed of somebody is no sign of them: kept for the first of each month without one', async () => {
  const projectId = newId();
  await know(projectId, seen('ann', 5, 9));
  const steps: [Seen, number, number | null][] = [
    [observed('ann', 20), 9, null],
    [observed('ann', 31), 9, null],
    [observed('ann', 32), 9, 32],
    [observed('ann', 40), 9, 32],
    [seen('ann', 45), 45, 32],
    [observed('ann', 58), 45, 32],
    [observed('ann', 61), 45, 61],
    [observed('ann', 30), 45, 61],
    [{ value: 'ann', first: 95, last: 95, observed: 96 }, 95, 61],
  ];
  for (const [given, last, kept] of steps) {
    expect(await move(projectId, given)).toEqual([]);
    expect(await timesOf(projectId, 'ann')).toEqual([at(5), at(last)]);
    expect(await observedAt(projectId, 'ann')).toEqual(kept && at(kept));
  }
});

test('what is observed before somebody was seen says that they were there; of nobody, what there is', async () => {
  const projectId = newId();
  await know(projectId, seen('ann'));
  await inProject(database.deps, projectId, (scope) =>
    see(scope, [{ kind: 'external', value: 'bob', first_seen_at: null, last_seen_at: null }]),
  );
  expect(await move(projectId, observed('ann', 3), observed('bob', 7), observed('cid', 8))).toEqual(
    [{ value: 'cid', first_seen_at: at(8), last_seen_at: at(8), is_known: false }],
  );
  expect(await timesOf(projectId, 'ann')).toEqual([at(3), at(5)]);
  expect(await timesOf(projectId, 'bob')).toEqual([at(7), at(7)]);
});

test('nobody seen is nobody moved', async () => {
  expect(await move(newId())).toEqual([]);
});

test('whoever was not moved is not written: the row stays the very same', async () => {
  const projectId = newId();
  await know(projectId, seen('ann', 1, 9));
  const version = async () =>
    (
      await database.owner.query(
        'select xmin, ctid from identity.identities where project_id = $1',
        [projectId],
      )
    ).rows;
  const before = await version();
  await move(projectId, seen('ann', 2, 8));
  await move(projectId, observed('ann', 30));
  expect(await version()).toEqual(before);
});

test('two claims that see the same people one after the other keep the outermost times', async () => {
  const projectId = newId();
  await know(projectId, seen('ann'), seen('bob'));
  const [first, second] = [
    await connectTo(database, projectId),
    await connectTo(database, projectId),
  ];
  await first.query('begin');
  await first.query(MOVE, toValues(projectId, [seen('ann', 2, 9), seen('bob', 2, 9)]));
  const waiting = second.query(MOVE, toValues(projectId, [seen('ann', 3, 11), seen('bob', 1, 8)]));
  await untilWaiting(database);
  expect(await isSettled(waiting)).toBe(false);
  await first.query('commit');
  await waiting;
  expect(await timesOf(projectId, 'ann')).toEqual([at(2), at(11)]);
  expect(await timesOf(projectId, 'bob')).toEqual([at(1), at(9)]);
});

test('an identity that is deleted while the call waits is new then', async () => {
  const projectId = newId();
  await know(projectId, seen('ann'), seen('bob'));
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  onTestFinished(() => owner.end());
  await owner.query('begin');
  await owner.query(`delete from identity.identities where project_id = $1 and value = 'ann'`, [
    projectId,
  ]);
  const moving = move(projectId, seen('ann', 6), seen('bob', 6));
  await untilWaiting(database);
  await owner.query('commit');
  expect(await moving).toEqual([
    { value: 'ann', first_seen_at: at(6), last_seen_at: at(6), is_known: false },
    { value: 'bob', first_seen_at: at(6), last_seen_at: at(6), is_known: true },
  ]);
  expect(await timesOf(projectId, 'bob')).toEqual([at(5), at(5)]);
});

test('the work grows with who was seen, however little the planner knows of the table', async () => {
  const projectId = newId();
  await know(projectId, ...Array.from({ length: 3_000 }, (_, n) => seen(`p${n}`)));
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query('set local plan_cache_mode = force_generic_plan');
  await client.query(MOVE, toValues(projectId, [seen('p1', 6), seen('p2', 6), seen('p3', 6)]));
  expect(await rowsRead(client, 'identity.identities')).toBeLessThanOrEqual(12);
});
