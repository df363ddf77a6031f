import { describe, expect, test } from 'vitest';
import { TRAIT_KEYS_MAX, TRAITS_BYTES_MAX } from '../../src/profiles/traits.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, profileOf, tell } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();

const numbered = (count: number, from = 0): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`trait_${from + n}`, n]));
const at = (second: number): Date => new Date(Date.UTC(2026, 0, 31, 12, 0, second));
const traitsOf = async (person: Someone) =>
  Object.keys((await profileOf(database, person)).traits).length;

/** Words that fill one person to the last byte: `"a":"xx…x"`, with what stands around them. */
const whole = (name: string, bytes: number) => ({
  [name]: 'x'.repeat(bytes - `"${name}": "",`.length + 1),
});

describe('of what servers tell one identity', () => {
  test(`${TRAIT_KEYS_MAX} traits are kept, and not one more: nothing of such a word is`, async () => {
    const person = await newPerson(database);
    expect(await tell(database, person, { traits: numbered(TRAIT_KEYS_MAX - 1) })).toBe(true);
    expect(await tell(database, person, { traits: { last: 1 } })).toBe(true);
    expect(await tell(database, person, { traits: { one_more: 1, trait_0: 'new' } })).toBe(false);
    const { traits } = await profileOf(database, person);
    expect(Object.keys(traits)).toHaveLength(TRAIT_KEYS_MAX);
    expect(traits).toMatchObject({ trait_0: 0, last: 1 });
  });

  test(`${TRAITS_BYTES_MAX} bytes of JSON are kept, and not one more`, async () => {
    const person = await newPerson(database);
    const half = TRAITS_BYTES_MAX / 2;
    expect(await tell(database, person, { traits: whole('a', half) })).toBe(true);
    expect(await tell(database, person, { traits: whole('b', half + 1) })).toBe(false);
    expect(await tell(database, person, { traits: whole('b', half) })).toBe(true);
    expect(await tell(database, person, { traits: { c: 1 } })).toBe(false);
  });

  test('what a request may hold is kept, though it takes more as it is stored', async () => {
    const person = await newPerson(database);
    const list = Array.from({ length: 15_000 }, () => 1);
    expect(Buffer.byteLength(JSON.stringify({ list }))).toBeLessThan(TRAITS_BYTES_MAX);
    expect(await tell(database, person, { traits: { list } })).toBe(true);
    expect(await tell(database, person, { traits: { list: [...list, 1] }, setAt: at(1) })).toBe(
      true,
    );
    expect(await tell(database, person, { traits: { other: 1 } })).toBe(false);
  });

  test('a full one may be changed, and is told more once something was taken away', async () => {
    const person = await newPerson(database);
    await tell(database, person, { traits: numbered(TRAIT_KEYS_MAX) });
    expect(await tell(database, person, { traits: { trait_1: 'new' }, setAt: at(1) })).toBe(true);
    expect(await tell(database, person, { traits: { trait_0: null }, setAt: at(1) })).toBe(true);
    expect(await tell(database, person, { traits: { one_more: 1 } })).toBe(true);
    expect(await tell(database, person, { traits: { two_more: 1 } })).toBe(false);
    expect(await traitsOf(person)).toBe(TRAIT_KEYS_MAX);
  });

  test('one word may take away and tell in its place', async () => {
    const person = await newPerson(database);
    await tell(database, person, { traits: numbered(TRAIT_KEYS_MAX) });
    const traits = { trait_0: null, in_its_place: 1 };
    expect(await tell(database, person, { traits, setAt: at(1) })).toBe(true);
    expect((await profileOf(database, person)).traits).toHaveProperty('in_its_place', 1);
  });

  test('what a page told takes no room, and a server’s word over it does', async () => {
    const person = await newPerson(database);
    await tell(database, person, { traits: numbered(TRAIT_KEYS_MAX), authority: 'publishable' });
    expect(await tell(database, person, { traits: numbered(TRAIT_KEYS_MAX) })).toBe(true);
    const more = numbered(1, TRAIT_KEYS_MAX);
    expect(await tell(database, person, { traits: more })).toBe(false);
    expect(await tell(database, person, { traits: more, authority: 'publishable' })).toBe(true);
  });

  test('many at once do not overfill it together', async () => {
    const person = await newPerson(database);
    await tell(database, person, { traits: numbered(TRAIT_KEYS_MAX - 3) });
    const told = await Promise.all(
      Array.from({ length: 8 }, (_, n) => tell(database, person, { traits: { [`more_${n}`]: n } })),
    );
    expect(told.filter((isKept) => isKept)).toHaveLength(3);
    expect(await traitsOf(person)).toBe(TRAIT_KEYS_MAX);
  });
});
