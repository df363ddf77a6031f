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
      octet_length(jsonb_build_object($1::text, $2::jsonb)::text) as alone`,
    [key, JSON.stringify(value)],
  );
  const [{ bytes, alone }] = rows;
  expect(bytes).toBe(alone - '{}'.length);
});
