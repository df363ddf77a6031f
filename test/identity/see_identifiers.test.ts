import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { findByValue, listFirst, see } from '../../src/identity/identity.ts';
import type { Identity, Person } from '../../src/identity/identity.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const at = (day: number): Date => new Date(Date.UTC(2026, 0, day));
const seen = (value: string, first = 5, last = first, kind: Identity['kind'] = 'external') => ({
  kind,
  value,
  first_seen_at: at(first),
  last_seen_at: at(last),
});
const seeAll = (projectId: string, people: ReturnType<typeof seen>[]) =>
  inProject(database.deps, projectId, (scope) => see(scope, people));
const find = (projectId: string, value: string, kind: Identity['kind'] = 'external') =>
  inProject(database.deps, projectId, (scope) => findByValue(scope, kind, value));
const byValue = (people: readonly Person[]) =>
  new Map(people.map((person) => [`${person.kind}/${person.value}`, person]));

test('a new identifier makes an identity with a profile of its own', async () => {
  const projectId = newId();
  const [person] = await seeAll(projectId, [seen('ann', 1, 2)]);
  expect(person).toEqual({
    identity_id: expect.any(String),
    profile_id: expect.any(String),
    kind: 'external',
    value: 'ann',
    is_erasing: false,
    is_new: true,
  });
  expect(await find(projectId, 'ann')).toMatchObject({
    identity_id: person?.identity_id,
    first_seen_at: at(1),
    last_seen_at: at(2),
  });
  const { rows } = await database.owner.query(
    'select own_profile_id = profile_id as is_own from identity.identities where identity_id = $1',
    [person?.identity_id],
  );
  expect(rows).toEqual([{ is_own: true }]);
});

test('a known identifier answers with what it is, among new ones', async () => {
  const projectId = newId();
  const [ann] = await seeAll(projectId, [seen('ann')]);
  const people = byValue(await seeAll(projectId, [seen('bob'), seen('ann')]));
  expect(people.get('external/ann')).toEqual({ ...ann, is_new: false });
  expect(people.get('external/bob')).toMatchObject({ is_new: true });
  expect(people.size).toBe(2);
});

test('one value of two kinds is two identities, and case matters', async () => {
  const projectId = newId();
  const people = await seeAll(projectId, [
    seen('ann'),
    seen('ann', 5, 5, 'anonymous'),
    seen('Ann'),
    seen(' ann'),
  ]);
  expect(new Set(people.map(({ identity_id }) => identity_id)).size).toBe(4);
  expect(new Set(people.map(({ profile_id }) => profile_id)).size).toBe(4);
});

test('the times only widen, in whatever order events are processed', async () => {
  const orders = [
    [5, 3, 8],
    [8, 5, 3],
    [3, 8, 5],
  ];
  for (const days of orders) {
    const projectId = newId();
    for (const day of days) await seeAll(projectId, [seen('ann', day)]);
    expect(await find(projectId, 'ann')).toMatchObject({
      first_seen_at: at(3),
      last_seen_at: at(8),
    });
  }
});

test('whoever is only named has no times, until they are seen', async () => {
  const projectId = newId();
  const named = {
    kind: 'external' as const,
    value: 'ann',
    first_seen_at: null,
    last_seen_at: null,
  };
  await inProject(database.deps, projectId, (scope) => see(scope, [named]));
  expect(await find(projectId, 'ann')).toMatchObject({ first_seen_at: null, last_seen_at: null });
  await seeAll(projectId, [seen('ann', 3, 5)]);
  const times = { first_seen_at: at(3), last_seen_at: at(5) };
  expect(await find(projectId, 'ann')).toMatchObject(times);
  const [ann] = await inProject(database.deps, projectId, (scope) => see(scope, [named]));
  expect(ann).toMatchObject({ is_new: false });
  expect(await find(projectId, 'ann')).toMatchObject(times);
});

test('seeing somebody at a time already covered writes nothing', async () => {
  const projectId = newId();
  await seeAll(projectId, [seen('ann', 1, 9)]);
  const version = async () =>
    (
      await database.owner.query(
        'select xmin, ctid from identity.identities where project_id = $1',
        [projectId],
      )
    ).rows[0].ctid;
  const before = await version();
  await seeAll(projectId, [seen('ann', 1, 9)]);
  await seeAll(projectId, [seen('ann', 4, 5)]);
  expect(await version()).toEqual(before);
});

test('the same person in two projects is two people', async () => {
  const [one, other] = [newId(), newId()];
  const [ann] = await seeAll(one, [seen('ann')]);
  const [their] = await seeAll(other, [seen('ann')]);
  expect(their).toMatchObject({ is_new: true });
  expect(their?.profile_id).not.toBe(ann?.profile_id);
  const inOther = await inProject(database.deps, other, (scope) =>
    listFirst(scope, [ann?.profile_id ?? ''], 2),
  );
  expect(inOther).toEqual([]);
});

test('seeing nobody asks nothing', async () => {
  expect(await seeAll(newId(), [])).toEqual([]);
});

test('claims at once, in opposite orders, make each identity once and do not deadlock', async () => {
  const projectId = newId();
  const values = Array.from({ length: 100 }, (_, number) => `person-${number}`);
  const claims = await Promise.all(
    Array.from({ length: 6 }, (_, claim) =>
      seeAll(
        projectId,
        (claim % 2 === 0 ? values : values.toReversed()).map((value) => seen(value, claim + 1)),
      ),
    ),
  );
  expect(claims.flat().filter(({ is_new }) => is_new)).toHaveLength(100);
  const [first] = claims.map(byValue) as [Map<string, Person>];
  for (const people of claims)
    for (const { kind, value, profile_id } of people)
      expect(profile_id).toBe(first.get(`${kind}/${value}`)?.profile_id);
});

test('a claim waits for one that is making the same identity, and takes it over if that fails', async () => {
  for (const end of ['commit', 'rollback']) {
    const projectId = newId();
    const other = await connectTo(database, projectId);
    const theirs = newId();
    await other.query('begin');
    await other.query(
      `select from identity.see_identifiers($1, $2, $3, '{external}', '{ann}', $4, $4)`,
      [projectId, [theirs], [newId()], [at(5).toISOString()]],
    );
    const seeing = seeAll(projectId, [seen('ann')]);
    await untilWaiting(database);
    expect(await isSettled(seeing)).toBe(false);
    await other.query(end);
    const [person] = await seeing;
    expect(person?.is_new).toBe(end === 'rollback');
    expect(person?.identity_id === theirs).toBe(end === 'commit');
  }
});
