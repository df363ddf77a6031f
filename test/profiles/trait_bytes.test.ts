import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const measure = async (key: string, value: unknown): Promise<number> => {
  const { rows } = await database.owner.query<{ bytes: number }>(
    'select profiles.trait_bytes($1, $2::jsonb) as bytes',
    [key, JSON.stringify(value)],
  );
  return rows[0]?.bytes ?? NaN;
};

/** Between the braces of an object, with the comma behind it. */
const takenBy = (member: string): number => Buffer.byteLength(`${member},`);

test.each([
  ['plan', 'pro'],
  ['a "quoted" name', { nested: [1, null, 'ü'] }],
  ['größe', null],
])('%j: %j takes what it takes in the text of a request', async (key, value) => {
  const member = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
  expect(await measure(key, value)).toBe(takenBy(member));
});

test('a blank after a comma or a colon is not counted, in a string neither', async () => {
  expect(await measure('note', 'this, that: these')).toBe(takenBy('"note":"this,that:these"'));
});

test('a number counts written out, as it is kept', async () => {
  expect(await measure('least', -1.5e-10)).toBe(takenBy('"least":-0.00000000015'));
});
