import { describe, expect, test } from 'vitest';
import { inProject, sql } from '../../src/base/db.ts';
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
    const list = Array.from({ length: 16_370 }, () => 1);
    expect(Buffer.byteLength(JSON.stringify({ list }))).toBeGreaterThan(TRAITS_BYTES_MAX - 20);
    expect(await tell(database, person, { traits: { list } })).toBe(true);
    expect(await tell(database, person, { traits: { other: 'as long as this' } })).toBe(false);
  });

  test('what is taken away from somebody who never had it makes no room', async () => {
    const person = await newPerson(database);
    await tell(database, person, { traits: whole('a', TRAITS_BYTES_MAX - 100) });
    const never = Object.fromEntries(Object.keys(numbered(10)).map((key) => [key, null]));
    const traits = { ...never, ...whole('b', TRAITS_BYTES_MAX - 1_000) };
    expect(await tell(database, person, { traits })).toBe(false);
  });

  test('a process that says no bounds is not refused: it would not read that it was', async () => {
    const person = await newPerson(database);
    const { projectId, identityId } = person;
    await tell(database, person, { traits: numbered(TRAIT_KEYS_MAX) });
    const is_full = await inProject(database.deps, projectId, ({ tx }) =>
      tx.oneFirst(sql.unsafe`
        select is_full from profiles.change_traits(
          project_id => ${projectId}, identity_id => ${identityId}, traits => '{"one_more": 1}'::jsonb, set_at => now(),
          authority => 'server', at => now()
        )
      `),
    );
    expect([is_full, await traitsOf(person)]).toEqual([false, TRAIT_KEYS_MAX + 1]);
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
