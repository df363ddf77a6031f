import { describe, expect, test } from 'vitest';
import { TRAIT_KEYS_MAX, TRAITS_BYTES_MAX } from '../../src/profiles/traits.ts';
import { permutationsOf } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, profileOf, tell } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 31, 12, 0, second));
const keptOf = async ({ identityId }: Someone): Promise<string[]> =>
  (
    await database.owner.query<{ key: string }>(
      'select key from profiles.traits where identity_id = $1 order by key',
      [identityId],
    )
  ).rows.map(({ key }) => key);

describe('of what pages tell one identity', () => {
  const page = (person: Someone, second: number, traits: Record<string, unknown>) =>
    tell(database, person, {
      traits: traits as Record<string, string>,
      setAt: at(second),
      authority: 'publishable',
    });
  const many = (second: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`at_${second}_${n}`, n]));

  test(`the ${TRAIT_KEYS_MAX} that were told last stay`, async () => {
    const person = await newPerson(database);
    await page(person, 1, { first: 1 });
    await page(person, 2, many(2, TRAIT_KEYS_MAX - 1));
    expect(await keptOf(person)).toContain('first');
    expect(await page(person, 3, { last: 1 })).toBe(true);
    const kept = await keptOf(person);
    expect(kept).toHaveLength(TRAIT_KEYS_MAX);
    expect(kept).toContain('last');
    expect(kept).not.toContain('first');
  });

  test(`${TRAITS_BYTES_MAX} bytes stay, and a request that is as large is kept whole, in either order`, async () => {
    const person = await newPerson(database);
    const half = 'x'.repeat(TRAITS_BYTES_MAX / 2);
    await page(person, 1, { a: half });
    await page(person, 2, { b: half });
    expect(await keptOf(person)).toEqual(['b']);
    const list = Array.from({ length: 15_000 }, () => 1);
    await page(person, 3, { list });
    expect(await keptOf(person)).toEqual(['list']);
    await page(person, 2, { b: half });
    expect(await keptOf(person)).toEqual(['list']);
  });

  test('an address is forgotten last', async () => {
    const person = await newPerson(database);
    await page(person, 1, { email: 'ann@example.com' });
    await page(person, 2, many(2, TRAIT_KEYS_MAX));
    expect(await profileOf(database, person)).toMatchObject({ email: 'ann@example.com' });
    expect(await keptOf(person)).toHaveLength(TRAIT_KEYS_MAX);
  });

  test('nothing that a server told is forgotten for it', async () => {
    const person = await newPerson(database);
    await tell(database, person, { traits: { plan: 'pro' }, setAt: at(1) });
    await page(person, 2, many(2, TRAIT_KEYS_MAX));
    await page(person, 3, many(3, TRAIT_KEYS_MAX));
    const kept = await keptOf(person);
    expect(kept).toHaveLength(TRAIT_KEYS_MAX + 1);
    expect(kept).toContain('plan');
  });

  test('in any order the same are forgotten', async () => {
    const words = [0, 1, 2].map((second) => [second, many(second, 120)] as const);
    const kept = new Set<string>();
    for (const order of permutationsOf(words)) {
      const person = await newPerson(database);
      for (const [second, traits] of order) await page(person, second, traits);
      kept.add((await keptOf(person)).join());
    }
    expect(kept.size).toBe(1);
    const [only = ''] = kept;
    expect(only.split(',')).toHaveLength(TRAIT_KEYS_MAX);
  });
});

test(`of what servers took away, the last ${TRAIT_KEYS_MAX} are remembered`, async () => {
  const person = await newPerson(database);
  const gone = (from: number) =>
    Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`gone_${from + n}`, null]));
  await tell(database, person, { traits: { stays: 1 } });
  await tell(database, person, { traits: gone(0), setAt: at(1) });
  await tell(database, person, { traits: gone(200), setAt: at(2) });
  const kept = await keptOf(person);
  expect(kept).toHaveLength(TRAIT_KEYS_MAX + 1);
  expect(kept).toContain('stays');
  expect(kept.filter((key) => Number(key.split('_')[1]) >= 200)).toHaveLength(200);
});
