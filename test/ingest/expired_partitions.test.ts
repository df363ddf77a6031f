import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const list = async (before: string, zone = 'UTC') => {
  await database.owner.query("select set_config('TimeZone', $1, false)", [zone]);
  const { rows } = await database.owner.query(
    'select name, ends_at from ingest.expired_partitions(before => $1)',
    [before],
  );
  return rows;
};
const monthStart = (monthsAgo: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1));
};
const nameOf = (month: Date): string =>
  `events_${month.toISOString().slice(0, 7).replace('-', '')}`;

test('a month has expired when it ends at the moment or before it, in whatever time zone', async () => {
  const oldest = { name: nameOf(monthStart(24)), ends_at: monthStart(23) };
  for (const zone of ['UTC', 'Pacific/Kiritimati', 'Etc/GMT+12', 'Africa/Cairo']) {
    expect(await list(monthStart(23).toISOString(), zone)).toEqual([oldest]);
    expect(await list(new Date(monthStart(23).getTime() - 1).toISOString(), zone)).toEqual([]);
  }
});

test('the oldest comes first, and tables that are no months are none', async () => {
  await database.owner.query(
    `create table ingest.events_old partition of ingest.events for values from ('1990-01-01') to ('1990-02-01')`,
  );
  const rows = await list(monthStart(20).toISOString());
  expect(rows.map(({ name }) => name)).toEqual([24, 23, 22, 21].map(monthStart).map(nameOf));
});
