// What a stranger without any key can do to the servers of a project: by the calls that need no session.
import pg from 'pg';
import { expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { consoleAt } from '../support/console_at.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const at = consoleAt(database, {});

const CALLS = 200;
const TIMEOUT_MS = 60_000;
const IS_WAITING = `wait_event_type = 'Lock' and query ~ 'consume_rate_limits'`;

const countWaiting = async (): Promise<number> => {
  const { rowCount } = await database.owner.query(
    `select from pg_stat_activity where datname = current_database() and ${IS_WAITING}`,
  );
  return rowCount ?? 0;
};

/** While this is held, no attempt is counted: each statement of the flood keeps its session. */
const holdCounters = async (): Promise<pg.Client> => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('begin; lock table base.rate_limit_counters in access exclusive mode');
  return holder;
};

test.each([
  ['session.signIn', { password: 'not the password' }],
  ['access.request', { name: 'Ann', purpose: 'a flood' }],
])(
  'attack: 200 parallel calls of %s keep one session; a server key is answered meanwhile',
  { timeout: TIMEOUT_MS },
  async (procedure, input) => {
    const { server_key: key } = await createProject(database.deps, 'shop');
    const origin = `http://127.0.0.1:${at.port}`;
    const holder = await holdCounters();
    try {
      const flood = Array.from({ length: CALLS }, (_, n) =>
        at.call(
          procedure,
          { ...input, email: `ann-${n}@people.test` },
          { host: new URL(origin).host },
        ),
      );
      // All but those that wait for the one session are refused at once.
      expect((await Promise.race(flood)).status).toBe(503);
      await until('an attempt has a session', async () => (await countWaiting()) > 0);
      const read = await fetch(`${origin}/v1/profiles?external_id=ann`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect([read.status, await countWaiting()]).toEqual([200, 1]);
      await holder.query('commit');
      await Promise.all(flood);
    } finally {
      await holder.end();
    }
  },
);
