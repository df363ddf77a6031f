import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { connectTo, isSettled, permutationsOf, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, profileOf, tell } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 31, 12, 0, second));
type Told = {
  value: string | number | boolean | null;
  second: number;
  authority: 'server' | 'publishable';
};

const keep = async (person: Someone, { value, second, authority }: Told) =>
  tell(database, person, { traits: { plan: value }, setAt: at(second), authority });
const kept = async ({ identityId }: Someone) =>
  (
    await database.owner.query(
      'select key, value, set_at, authority from profiles.traits where identity_id = $1 order by key',
      [identityId],
    )
  ).rows;

test('each trait is kept with when it was true and who said it', async () => {
  const person = await newPerson(database);
  await tell(database, person, {
    traits: { plan: 'pro', seats: 3, nested: { a: [1, null] } },
    setAt: at(1),
    authority: 'publishable',
  });
  const said = { set_at: at(1), authority: 'publishable' };
  expect(await kept(person)).toEqual([
    { key: 'nested', value: { a: [1, null] }, ...said },
    { key: 'plan', value: 'pro', ...said },
    { key: 'seats', value: 3, ...said },
  ]);
});

describe('of two values the one that is kept, in either order, is', () => {
  const server = (second: number, value: Told['value']): Told => ({
    value,
    second,
    authority: 'server',
  });
  const publishable = (second: number, value: Told['value']): Told => ({
    value,
    second,
    authority: 'publishable',
  });

  test.each<[string, Told, Told]>([
    ['the server’s, however old', server(1, 'kept'), publishable(9, 'lost')],
    ['the later of two servers', server(9, 'kept'), server(1, 'lost')],
    ['the later of two publishables', publishable(9, 'kept'), publishable(1, 'lost')],
    ['at one time, the greater as text', server(5, 'b'), server(5, 'a')],
    ['at one time, the greater as text, also of two kinds', server(5, true), server(5, 7)],
    ['the later, also when it removes', server(9, null), server(1, 'x')],
    ['the later, also after it was removed', server(9, 'x'), server(1, null)],
  ])('%s', async (_which, winner, loser) => {
    for (const order of [
      [winner, loser],
      [loser, winner],
    ]) {
      const person = await newPerson(database);
      for (const told of order) await keep(person, told);
      expect(await kept(person)).toMatchObject([
        { value: winner.value, set_at: at(winner.second), authority: winner.authority },
      ]);
    }
  });
});

test('telling the same again writes nothing', async () => {
  const person = await newPerson(database);
  const told: Told = { value: 'x', second: 5, authority: 'server' };
  await keep(person, told);
  const version = async () =>
    (
      await database.owner.query('select ctid from profiles.traits where identity_id = $1', [
        person.identityId,
      ])
    ).rows;
  const before = await version();
  await keep(person, told);
  expect(await version()).toEqual(before);
});

test('a trait is one person’s: others with the same name are not touched', async () => {
  const [one, other] = [await newPerson(database), await newPerson(database)];
  await keep(one, { value: 'one', second: 1, authority: 'server' });
  await keep(other, { value: 'other', second: 2, authority: 'server' });
  expect(await kept(one)).toMatchObject([{ value: 'one' }]);
});

test('null as a value, and names that databases stumble over, are kept as they are', async () => {
  const person = await newPerson(database);
  const traits = { '': 'empty', 'a"b': 1, "a'b": 2, __proto: 3, 'ключ 👋': 'ü', null: null };
  await tell(database, person, { traits });
  const { rows } = await database.owner.query(
    'select jsonb_object_agg(key, value) as traits from profiles.traits where identity_id = $1',
    [person.identityId],
  );
  expect(rows).toEqual([{ traits }]);
});

const Change = fc.record({
  value: fc.oneof(
    fc.constantFrom('a', 'b', 'A', 'ä', ''),
    fc.integer({ min: -3, max: 12 }),
    fc.constant(null),
    fc.boolean(),
  ),
  second: fc.integer({ min: 1, max: 3 }),
  authority: fc.constantFrom('server', 'publishable'),
});

test('any changes, in any order and with any duplicates, end in the same trait and profile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(Change, { minLength: 1, maxLength: 5 }),
      fc.infiniteStream(fc.nat()),
      async (changes, numbers) => {
        const ends: unknown[] = [];
        for (let order = 0; order < 2; order += 1) {
          const person = await newPerson(database);
          const shuffled = [...changes, ...changes.slice(order)]
            .map((change) => [numbers.next().value ?? 0, change] as const)
            .toSorted(([a], [b]) => a - b);
          for (const [, change] of shuffled) await keep(person, change);
          const { email, traits } = await profileOf(database, person);
          ends.push([await kept(person), email, JSON.stringify(traits)]);
        }
        expect(ends[1]).toEqual(ends[0]);
      },
    ),
    { numRuns: 25 },
  );
});

test('every order of four changes ends in the same profile', async () => {
  const changes: Told[] = [
    { value: 'old', second: 1, authority: 'server' },
    { value: null, second: 2, authority: 'server' },
    { value: 'new', second: 2, authority: 'server' },
    { value: 'browser', second: 3, authority: 'publishable' },
  ];
  for (const order of permutationsOf(changes)) {
    const person = await newPerson(database);
    for (const change of order) await keep(person, change);
    expect((await profileOf(database, person)).traits).toEqual({});
    expect(await kept(person)).toMatchObject([{ value: null, authority: 'server' }]);
  }
});

test('two writers of one trait at once: the second waits, and the right one is kept', async () => {
  const person = await newPerson(database);
  const other = await connectTo(database, person.projectId);
  await other.query('begin');
  await other.query("select profiles.set_traits($1, $2, $3, $4, 'server')", [
    person.projectId,
    person.identityId,
    { plan: 'earlier' },
    at(1).toISOString(),
  ]);
  const writing = keep(person, { value: 'later', second: 2, authority: 'server' });
  await untilWaiting(database);
  expect(await isSettled(writing)).toBe(false);
  await other.query('commit');
  await writing;
  expect(await kept(person)).toMatchObject([{ value: 'later' }]);
});

test('writers of many traits at once, in opposite orders, do not deadlock', async () => {
  const person = await newPerson(database);
  const names = Array.from({ length: 40 }, (_, number) => `trait_${number}`);
  const traits = (order: string[], value: number) =>
    Object.fromEntries(order.map((name) => [name, value]));
  await Promise.all(
    [1, 2, 3, 4].map((second) =>
      tell(database, person, {
        traits: traits(second % 2 === 0 ? names : names.toReversed(), second),
        setAt: at(second),
      }),
    ),
  );
  expect((await profileOf(database, person)).traits).toEqual(traits(names, 4));
});
