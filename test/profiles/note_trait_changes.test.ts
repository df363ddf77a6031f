import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, tell } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();

const watch = ({ projectId }: Someone, ...traits: string[]) =>
  inProject(database.deps, projectId, (scope) => profiles.watchTraits(scope, traits));
const take = async ({ projectId }: Someone, changesMax = 100): Promise<string[]> => {
  const taken = await inProject(database.deps, projectId, (scope) =>
    profiles.takeTraitChanges(scope, changesMax),
  );
  return taken.map(({ profile_id }) => profile_id);
};
const newWatched = async (...traits: string[]): Promise<Someone> => {
  const person = await newPerson(database);
  await watch(person, ...traits);
  return person;
};

describe('a change of a watched trait is noted', () => {
  test.each([
    ['a first value', { ends: '2027-01-31' }],
    ['another value', { ends: '2027-02-28' }],
    ['its removal', { ends: null }],
  ])('%s', async (_what, traits) => {
    const person = await newWatched('ends', 'timezone');
    if (Object.values(traits)[0] !== '2027-01-31')
      await tell(database, person, { traits: { ends: '2027-01-31' }, setAt: new Date(0) });
    await take(person);
    await tell(database, person, { traits });
    expect(await take(person)).toEqual([person.profileId]);
  });

  test('once for each change, whatever else changes with it', async () => {
    const person = await newWatched('ends', 'timezone');
    await tell(database, person, { traits: { ends: 'a', timezone: 'UTC', plan: 'pro' } });
    await tell(database, person, { traits: { ends: 'b' } });
    expect(await take(person)).toEqual([person.profileId, person.profileId]);
  });
});

describe('nothing is noted', () => {
  test('of another trait, of the same value, and in a project that watches none', async () => {
    const watched = await newWatched('ends');
    await tell(database, watched, { traits: { plan: 'pro' } });
    await tell(database, watched, { traits: { ends: 'a' } });
    await take(watched);
    await tell(database, watched, { traits: { ends: 'a' } });
    const other = await newPerson(database);
    await tell(database, other, { traits: { ends: 'b' } });
    expect([await take(watched), await take(other)]).toEqual([[], []]);
  });

  test('of a value with less weight, which changes no profile', async () => {
    const person = await newWatched('ends');
    await tell(database, person, { traits: { ends: 'a' }, authority: 'server' });
    await take(person);
    await tell(database, person, { traits: { ends: 'b' }, authority: 'publishable' });
    expect(await take(person)).toEqual([]);
  });
});

test('notes are taken once, the oldest first, as many as are asked for', async () => {
  const person = await newWatched('ends');
  for (const ends of ['a', 'b', 'c']) await tell(database, person, { traits: { ends } });
  expect(await take(person, 2)).toHaveLength(2);
  expect(await take(person, 2)).toHaveLength(1);
  expect(await take(person, 2)).toEqual([]);
});

test('to watch a trait again changes nothing', async () => {
  const person = await newWatched('ends');
  await watch(person, 'ends', 'timezone');
  await watch(person);
  await tell(database, person, { traits: { timezone: 'UTC' } });
  expect(await take(person)).toHaveLength(1);
});
