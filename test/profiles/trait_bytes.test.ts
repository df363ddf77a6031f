import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

test.each([
  ['plan', 'pro'],
  ['a "quoted" name', { nested: [1, null, 'ü'] }],
  ['größe', null],
])('%j: %j takes what it takes between the braces of an object', async (key, value) => {
  const { rows } = await database.owner.query(
    `select profiles.trait_bytes($1, $2::jsonb) as bytes,
      $3::integer as alone`,
    [key, JSON.stringify(value), Buffer.byteLength(JSON.stringify({ [key]: value }))],
  );
  const [{ bytes, alone }] = rows;
  // The braces go, and a comma comes.
  expect(bytes).toBe(alone - '{}'.length + ','.length);
});
