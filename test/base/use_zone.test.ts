import { expect, test } from 'vitest';
import { firstZone } from '../../src/automations/clock.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const use = async (...zones: (string | null)[]): Promise<string> => {
  const { rows } = await database.owner.query<{ used: string }>(
    'select base.use_zone($1::text[]) as used',
    [zones],
  );
  return rows[0]?.used ?? '';
};

test.each([
  ['Europe/Berlin'],
  ['europe/berlin'],
  ['America/Argentina/Ushuaia'],
  ['Etc/GMT+5'],
  ['EST5EDT'],
  ['CET'],
  ['GMT'],
  ['Mars/Olympus'],
  ['+02:00'],
  ['-05'],
  ['5'],
  ['FOO3'],
  ['FOO+3BAR'],
  ['<FOO>+3'],
  [''],
  [' Europe/Berlin'],
  ['["Europe/Berlin"]'],
  ["interval '5'"],
  ['ACT'],
  ['PST'],
  ['SystemV/PST8'],
  ['posix/Europe/Berlin'],
  ['right/Europe/Berlin'],
  ['Right/UTC'],
])('takes %j for a time zone where automations do, and else the next', async (zone) => {
  const used = await use(zone, 'Asia/Tokyo');
  expect(used.toLowerCase()).toBe(firstZone(zone, 'Asia/Tokyo').toLowerCase());
});

test('a person without a zone has the next, and UTC where there is none', async () => {
  expect(await use(null, 'Asia/Tokyo')).toBe('Asia/Tokyo');
  expect(await use(null, 'Mars/Olympus')).toBe('UTC');
  expect(await use()).toBe('UTC');
});

test('the zone is used until the transaction ends', async () => {
  const shown = async () => (await database.owner.query('show timezone')).rows[0].TimeZone;
  const before = await shown();
  await database.owner.query('begin');
  await use('Asia/Tokyo');
  expect(await shown()).toBe('Asia/Tokyo');
  await database.owner.query('commit');
  expect(await shown()).toBe(before);
});
