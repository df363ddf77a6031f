import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aspectOf } from '../../src/profiles/profiles.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const KINDS = ['trait', 'tag', 'counter', 'list'] as const;

const numbersOf = async (kind: string, names: readonly string[]): Promise<number[]> => {
  const { rows } = await database.owner.query<{ number: number }>(
    `select profiles.aspect(kind => $1, name => name) as number
     from unnest($2::text[]) with ordinality as told (name, place) order by place`,
    [kind, names],
  );
  return rows.map(({ number }) => number);
};

test('the number of an aspect is the same in both languages, whatever the name', async () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((one) => !one.includes('\0'));
  const property = fc.asyncProperty(
    fc.constantFrom(...KINDS),
    fc.array(texts, { minLength: 1, maxLength: 20 }),
    async (kind, names) => {
      expect(await numbersOf(kind, names)).toEqual(names.map((name) => aspectOf(kind, name)));
    },
  );
  await fc.assert(property, { seed: 7, numRuns: 100 });
});

test('neither the name nor the kind is left out', async () => {
  const numbers = new Set<number>();
  for (const kind of KINDS)
    for (const number of await numbersOf(kind, ['plan', 'seats'])) numbers.add(number);
  expect(numbers.size).toBe(KINDS.length * 2);
});
