import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { foldProfile } from '../../src/profiles/trait_queries.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, profileOf, tell, withSecondIdentity } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 31, 12, 0, second));
/** One profile of two identities. */
const newPair = async (): Promise<[Someone, Someone]> => {
  const first = await newPerson(database);
  return [first, await withSecondIdentity(database, first)];
};
const traitsOf = async (person: Someone) => (await profileOf(database, person)).traits;

test('a profile is what all its identities were told', async () => {
  const [one, other] = await newPair();
  await tell(database, one, { traits: { plan: 'pro' } });
  await tell(database, other, { traits: { city: 'Ulm', seats: 3 } });
  expect(await traitsOf(one)).toEqual({ plan: 'pro', city: 'Ulm', seats: 3 });
});

test('per trait the server wins, then the later, then the greater text, over all identities', async () => {
  const [one, other] = await newPair();
  await tell(database, one, { traits: { a: 'server' }, setAt: at(1), authority: 'server' });
  await tell(database, other, { traits: { a: 'browser' }, setAt: at(9), authority: 'publishable' });
  await tell(database, one, { traits: { b: 'later' }, setAt: at(9) });
  await tell(database, other, { traits: { b: 'earlier' }, setAt: at(1) });
  await tell(database, one, { traits: { c: 'a' }, setAt: at(5) });
  await tell(database, other, { traits: { c: 'b' }, setAt: at(5) });
  expect(await traitsOf(one)).toEqual({ a: 'server', b: 'later', c: 'b' });
});

test('null removes a trait, whichever identity had it; a later value brings it back', async () => {
  const [one, other] = await newPair();
  await tell(database, one, { traits: { plan: 'pro', city: 'Ulm' }, setAt: at(1) });
  await tell(database, other, { traits: { plan: null }, setAt: at(2) });
  expect(await traitsOf(one)).toEqual({ city: 'Ulm' });
  await tell(database, one, { traits: { plan: 'free' }, setAt: at(3) });
  expect(await traitsOf(one)).toEqual({ city: 'Ulm', plan: 'free' });
});

test('a null inside a trait removes nothing', async () => {
  const person = await newPerson(database);
  await tell(database, person, { traits: { list: [null], nested: { a: null }, text: 'null' } });
  expect(await traitsOf(person)).toEqual({ list: [null], nested: { a: null }, text: 'null' });
});

test('the address follows the trait, trimmed; without one there is none', async () => {
  const person = await newPerson(database);
  const emailAfter = async (email: string | null, second: number) => {
    await tell(database, person, { traits: { email }, setAt: at(second) });
    return (await profileOf(database, person)).email;
  };
  expect(await emailAfter('ann@example.com', 1)).toBe('ann@example.com');
  expect(await emailAfter('  bob@example.com ', 2)).toBe('bob@example.com');
  expect(await emailAfter('   ', 3)).toBeNull();
  expect(await emailAfter('ann@example.com', 4)).toBe('ann@example.com');
  expect(await emailAfter(null, 5)).toBeNull();
});

test('an address that a server said is not replaced by a browser', async () => {
  const person = await newPerson(database);
  await tell(database, person, { traits: { email: 'real@example.com' }, setAt: at(1) });
  await tell(database, person, {
    traits: { email: 'attacker@example.com' },
    setAt: at(9),
    authority: 'publishable',
  });
  expect((await profileOf(database, person)).email).toBe('real@example.com');
});

test('a fold that changes nothing writes nothing', async () => {
  const person = await newPerson(database);
  await tell(database, person, { traits: { plan: 'pro' } });
  const before = await profileOf(database, person);
  await inProject(database.deps, person.projectId, (scope) => foldProfile(scope, person.profileId));
  await tell(database, person, { traits: { plan: 'old' }, setAt: at(-60) });
  expect(await profileOf(database, person)).toEqual(before);
});

const namesOf = async ({ profileId }: Someone): Promise<string[] | null> => {
  const { rows } = await database.owner.query<{ browser_names: string[] | null }>(
    'select browser_names from profiles.profiles where profile_id = $1',
    [profileId],
  );
  return rows[0]?.browser_names ?? null;
};

test('it keeps the names of traits that only browsers asserted, of all its identities', async () => {
  const [one, other] = await newPair();
  expect(await namesOf(one)).toEqual([]);
  await tell(database, one, { traits: { size: 'M', pet: 'cat' }, authority: 'publishable' });
  await tell(database, other, { traits: { color: 'red', plan: 'pro' }, authority: 'publishable' });
  await tell(database, other, { traits: { plan: 'free' } });
  await tell(database, one, { traits: { pet: null }, setAt: at(9), authority: 'publishable' });
  expect(await namesOf(one)).toEqual(['color', 'size']);
});

test('a server that says what a browser asserted takes its name, which changes nothing else', async () => {
  const person = await newPerson(database);
  const { projectId } = person;
  await tell(database, person, { traits: { size: 'M' }, authority: 'publishable' });
  const before = await profileOf(database, person);
  const changes = () =>
    database.owner.query('select from profiles.changes where project_id = $1', [projectId]);
  const { rowCount } = await changes();
  await tell(database, person, { traits: { size: 'M' } });
  expect(await namesOf(person)).toEqual([]);
  expect(await profileOf(database, person)).toEqual(before);
  expect((await changes()).rowCount).toBe(rowCount);
});

test('a profile that is not there, or another project’s, is left so', async () => {
  const person = await newPerson(database);
  await tell(database, person, { traits: { plan: 'pro' } });
  await inProject(database.deps, newId(), (scope) => foldProfile(scope, person.profileId));
  await inProject(database.deps, person.projectId, (scope) => foldProfile(scope, newId()));
  expect(await traitsOf(person)).toEqual({ plan: 'pro' });
});

const Change = fc.record({
  who: fc.constantFrom(0, 1),
  name: fc.constantFrom('email', 'plan'),
  value: fc.constantFrom<(string | null)[]>(
    'a@example.com',
    'b@example.com',
    'A@example.com',
    null,
  ),
  second: fc.integer({ min: 1, max: 3 }),
  authority: fc.constantFrom('server', 'publishable'),
});

test('any changes of two identities, in any order and with duplicates, give the same profile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(Change, { minLength: 2, maxLength: 6 }),
      fc.infiniteStream(fc.nat()),
      async (changes, numbers) => {
        const ends: unknown[] = [];
        for (const more of [changes, []]) {
          const pair = await newPair();
          const shuffled = [...changes, ...more]
            .map((change) => [numbers.next().value ?? 0, change] as const)
            .toSorted(([a], [b]) => a - b);
          for (const [, { who, name, value, second, authority }] of shuffled)
            await tell(database, pair[who] ?? pair[0], {
              traits: { [name]: value },
              setAt: at(second),
              authority,
            });
          const { traits, email } = await profileOf(database, pair[0]);
          ends.push(JSON.stringify([traits, email, await namesOf(pair[0])]));
        }
        expect(ends[1]).toBe(ends[0]);
      },
    ),
    { numRuns: 20 },
  );
});

test('two identities told at once: the second fold waits and sees both', async () => {
  const [one, other] = await newPair();
  const client = await connectTo(database, one.projectId);
  await client.query('begin');
  await client.query("select profiles.set_traits($1, $2, $3, now(), 'server')", [
    one.projectId,
    one.identityId,
    { a: 1 },
  ]);
  await client.query('select profiles.fold_profile($1, $2, now())', [one.projectId, one.profileId]);
  const telling = tell(database, other, { traits: { b: 2 } });
  await untilWaiting(database);
  expect(await isSettled(telling)).toBe(false);
  await client.query('commit');
  await telling;
  expect(await traitsOf(one)).toEqual({ a: 1, b: 2 });
});

test('many changes of one profile at once lose none', async () => {
  const [one, other] = await newPair();
  await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      tell(database, number % 2 === 0 ? one : other, { traits: { [`trait_${number}`]: number } }),
    ),
  );
  expect(Object.keys(await traitsOf(one))).toHaveLength(20);
});
