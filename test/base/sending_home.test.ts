import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const homeOf = async (countsTimeline: boolean): Promise<string[]> => {
  const { rows } = await database.owner.query<{ home: string }>(
    'select base.sending_home($1) as home',
    [countsTimeline],
  );
  return rows[0]!.home.split('/');
};

test('a home is a server, a database of it, this table and, where it counts, a timeline', async () => {
  const { rows } = await database.owner.query(`
    select system_identifier::text as server,
      (select oid::text from pg_database where datname = current_database()) as database,
      'base.sending'::regclass::oid::text as place
    from pg_control_system()
  `);
  const { server, database: oid, place } = rows[0] as Record<string, string>;
  expect(await homeOf(false)).toEqual([server, oid, place]);
  expect(await homeOf(true)).toEqual([server, oid, place, expect.stringMatching(/^[0-9A-F]{8}$/)]);
});

test('it stays the same while the log goes on', async () => {
  const before = await homeOf(true);
  await database.owner.query(`select pg_logical_emit_message(false, 'test', 'goes on')`);
  await database.owner.query('select pg_switch_wal()');
  expect(await homeOf(true)).toEqual(before);
});
