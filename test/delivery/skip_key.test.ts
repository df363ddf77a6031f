import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const [PROJECT, PERSON, AUTOMATION] = [newId(), newId(), newId()];
const NOON = '2026-01-31T12:00:00Z';

const keyOf = async (
  at: string,
  [project, person, automation]: readonly string[] = [PROJECT, PERSON, AUTOMATION],
): Promise<string> => {
  const { rows } = await database.owner.query<{ skip_key: string }>(
    'select delivery.skip_key($1, $2, $3, $4)',
    [project, person, automation, at],
  );
  return rows[0]?.skip_key ?? '';
};

test('one day of UTC has one key, whatever the zone of the session', async () => {
  const key = await keyOf(NOON);
  expect(key).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  await database.owner.query(`set timezone to 'Pacific/Kiritimati'`);
  expect(await keyOf('2026-01-31T00:00:00Z')).toBe(key);
  expect(await keyOf('2026-01-31T23:59:59.999Z')).toBe(key);
  await database.owner.query('reset timezone');
  expect(await keyOf('2026-02-01T00:00:00Z')).not.toBe(key);
  expect(await keyOf('2026-01-30T23:59:59.999Z')).not.toBe(key);
});

test('each project, person and automation has keys of its own', async () => {
  const keys = [
    await keyOf(NOON),
    await keyOf(NOON, [newId(), PERSON, AUTOMATION]),
    await keyOf(NOON, [PROJECT, newId(), AUTOMATION]),
    await keyOf(NOON, [PROJECT, PERSON, newId()]),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
