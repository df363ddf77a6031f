// A database whose clock shows what a test says: a month goes by in a moment, daylight saving time comes and goes.
import { afterEach, beforeAll } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import type { TestDatabase } from './database.ts';

const CLOCKS = ['now', 'statement_timestamp', 'clock_timestamp', 'transaction_timestamp'];

/**
 * Puts functions of the clock's names before Postgres's own, for everybody but the owner's connection; also inside of
 * our functions, which look for nothing but Postgres's otherwise.
 */
export const virtualClock = (database: TestDatabase) => {
  const reset = () => database.owner.query('update virtual.clock set at = null');

  beforeAll(async () => {
    const { owner, deps } = database;
    const { rows } = await owner.query<{ name: string }>('select current_database() as name');
    await owner.query(`
      create schema virtual;
      create table virtual.clock (at timestamptz(3));
      insert into virtual.clock values (null);
      grant usage on schema virtual to public;
      grant select on virtual.clock to public;
      ${CLOCKS.map(
        (name) => `create function virtual.${name}() returns timestamptz language sql volatile
          set search_path = pg_catalog
          as $$ select coalesce((select at from virtual.clock), pg_catalog.${name}()) $$;`,
      ).join('\n')}
      do $$
      declare v_function regprocedure;
      begin
        for v_function in
          select oid::regprocedure from pg_proc where proconfig @> array['search_path=""']
        loop
          execute format('alter function %s set search_path = virtual, pg_catalog', v_function);
        end loop;
      end $$;
      alter database ${rows[0]?.name} set search_path = virtual, pg_catalog`);
    await deps.db.end();
    const db = await openDb(runtimeUrl(deps.config.databaseUrl, deps.keys));
    Object.assign(database.deps, { db });
  });
  afterEach(reset);

  /** From now on it is this moment, until it is another. */
  const set = (at: Date) =>
    database.owner.query('update virtual.clock set at = $1', [at.toISOString()]);
  return { set, reset };
};
