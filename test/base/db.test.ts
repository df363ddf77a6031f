import { expect, test } from 'vitest';
import { z } from 'zod';
import { inSnapshot } from '../../src/automations/snapshot.ts';
import {
  attempt,
  inInstallation,
  inProject,
  openDb,
  sql,
  unlessLocked,
} from '../../src/base/db.ts';
import { isDatabaseDown } from '../../src/base/database_errors.ts';
import type { Scope, Tx } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Refusal } from '../../src/base/refusal.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { testDatabase } from '../support/database.ts';
import { connectTo } from './connections.ts';

const database = testDatabase();

/** The error that something fails with. */
const errorOf = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('did not fail');
};

test('a project sees its own rows and no others, in any table', async () => {
  const [ours, theirs] = [newId(), newId()];
  const message = (projectId: string) => sql.unsafe`
    insert into ingest.message_ids (project_id, message_key, event_id, occurred_at)
    values (${projectId}, ${newId()}, ${newId()}, now())`;
  for (const projectId of [ours, theirs])
    await inProject(database.deps, projectId, ({ tx }) => tx.query(message(projectId)));
  const seen = await inProject(database.deps, ours, ({ tx }) =>
    tx.any(
      sql.type(
        z.object({ project_id: z.uuid() }),
      )`select project_id from ingest.message_ids /* trial */`,
    ),
  );
  expect(seen).toEqual([{ project_id: ours }]);
  const error = await errorOf(() =>
    inProject(database.deps, ours, ({ tx }) => tx.query(message(theirs))),
  );
  expect(String((error as Error).cause ?? error)).toMatch(/row-level security/);
});

test('outside a project there are no rows, also on a connection that was in one', async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys), 1);
  const projectId = newId();
  await inProject({ db, keys: database.deps.keys }, projectId, ({ tx }) =>
    tx.query(sql.unsafe`
      insert into ingest.message_ids (project_id, message_key, event_id, occurred_at)
      values (${projectId}, ${newId()}, ${newId()}, now())`),
  );
  expect((await db.query(sql.unsafe`select from ingest.message_ids /* trial */`)).rowCount).toBe(0);
  await db.end();
});

test('what fails inside a project leaves nothing behind', async () => {
  const projectId = newId();
  await errorOf(() =>
    inProject(database.deps, projectId, async ({ tx }) => {
      await tx.query(sql.unsafe`
        insert into ingest.message_ids (project_id, message_key, event_id, occurred_at)
        values (${projectId}, ${newId()}, ${newId()}, now())`);
      throw new Error('later');
    }),
  );
  const { rowCount } = await database.owner.query(
    'select from ingest.message_ids where project_id = $1',
    [projectId],
  );
  expect(rowCount).toBe(0);
});

const Session = z.object({ pid: z.int() });
const session = sql.type(Session)`select pg_backend_pid() as pid`;

test('who is refused gives the session back as it was; what fails otherwise ends it', async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys), 1);
  const deps = { ...database.deps, db };
  const refuse = (): Promise<never> => Promise.reject(new Refusal('not_found'));
  const known = sql.unsafe`do $$ begin raise exception 'not_found' using errcode = 'ZREFU'; end $$`;
  const refusals = [
    () => inProject(deps, newId(), refuse),
    () => inProject(deps, newId(), ({ tx }) => tx.query(known)),
    () => inProject(deps, newId(), (scope) => attempt(scope, refuse).then(refuse)),
    () => inInstallation(deps, refuse),
    () => inSnapshot(deps, newId(), refuse),
  ];
  const { pid } = await db.one(session);
  for (const refused of refusals) {
    expect(await errorOf(refused)).toBeInstanceOf(Refusal);
    expect(await db.one(session)).toEqual({ pid });
    const left = sql.unsafe`select where current_setting('trunkline.project_id', true) <> ''`;
    expect((await db.query(left)).rowCount).toBe(0);
  }
  await errorOf(() => inProject(deps, newId(), () => Promise.reject(new Error('a bug'))));
  expect(await db.one(session)).not.toEqual({ pid });
  await db.end();
});

test('a transaction that is over asks nothing, also where its session is in another', async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys), 1);
  const deps = { ...database.deps, db };
  const kept: Tx[] = [];
  const keep = async ({ tx }: Pick<Scope, 'tx'>, error?: Error) => {
    kept.push(tx);
    if (error) throw error;
  };
  await inProject(deps, newId(), keep);
  await errorOf(() => inProject(deps, newId(), (scope) => keep(scope, new Refusal('not_found'))));
  await inProject(deps, newId(), (scope) => attempt(scope, keep));
  await inProject(deps, newId(), async (scope) => {
    for (const old of kept) await expect(old.one(session)).rejects.toThrow('is over');
    await attempt(scope, async () => {
      for (const old of kept) await expect(old.one(session)).rejects.toThrow('is over');
    });
  });
  expect(kept).toHaveLength(3);
  await db.end();
});

test('work that waits too long for a lock is undone alone, and the transaction waits as before', async () => {
  const projectId = newId();
  const LockTimeout = z.strictObject({ lock_timeout: z.string() });
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);
  const insert = ({ tx }: Scope, email: string) =>
    tx.query(sql.unsafe`
      insert into suppression.addresses (project_id, address_key, email)
      values (${projectId}, sha256(${email}::bytea), ${email})`);
  await within((scope) => insert(scope, 'held@people.test'));
  const other = await connectTo(database, projectId);
  await other.query('begin');
  const ofProject = `from suppression.addresses where project_id = '${projectId}'`;
  await other.query(`select ${ofProject} for update`);
  const answers = await within(async (scope) => {
    const isDone = await unlessLocked(scope, 20, async (own) => {
      await insert(own, 'undone@people.test');
      await own.tx.query(sql.unsafe`
        select from suppression.addresses where project_id = ${projectId} for update`);
    });
    const isOtherDone = await unlessLocked(scope, 20, (own) => insert(own, 'done@people.test'));
    const { lock_timeout } = await scope.tx.one(sql.type(LockTimeout)`show lock_timeout`);
    return { isDone, isOtherDone, lock_timeout };
  });
  expect(answers).toEqual({ isDone: false, isOtherDone: true, lock_timeout: '0' });
  await other.query('rollback');
  const { rows } = await other.query(`select email ${ofProject} order by email`);
  expect(rows).toEqual([{ email: 'done@people.test' }, { email: 'held@people.test' }]);
  const refuse = () => Promise.reject(new Refusal('not_found'));
  await expect(within((scope) => unlessLocked(scope, 20, refuse))).rejects.toThrow('not_found');
});

test('a deadlock is not an error: whoever loses it runs again', async () => {
  const projectId = newId();
  const lock = (email: string) => sql.unsafe`
    insert into suppression.addresses (project_id, address_key, email)
    values (${projectId}, sha256(${email}::bytea), ${email})
    on conflict on constraint addresses_pkey do update set email = excluded.email`;
  let inside = 0;
  let openGate = () => {};
  const gate = new Promise<void>((resolve) => (openGate = resolve));
  let tries = 0;
  const take = (first: string, second: string) =>
    inProject(database.deps, projectId, async ({ tx }) => {
      tries += 1;
      await tx.query(lock(first));
      inside += 1;
      if (inside >= 2) openGate();
      await gate;
      await tx.query(lock(second));
      return `${first}${second}`;
    });
  expect(await Promise.all([take('a', 'b'), take('b', 'a')])).toEqual(['ab', 'ba']);
  expect(tries).toBeGreaterThanOrEqual(3);
});

test('SQL refuses by SQLSTATE ZREFU and a name of the catalogue', async () => {
  const known = sql.unsafe`do $$ begin raise exception 'not_found' using errcode = 'ZREFU'; end $$`;
  const refused = await errorOf(() => database.deps.db.query(known));
  expect(refused).toBeInstanceOf(Refusal);
  expect((refused as Refusal).reason).toBe('not_found');
  const none = sql.unsafe`do $$ begin raise exception 'toString' using errcode = 'ZREFU'; end $$`;
  expect(await errorOf(() => database.deps.db.query(none))).not.toBeInstanceOf(Refusal);
});

test('rows are checked, times are Dates and big integers are safe numbers or an error', async () => {
  const Row = z.strictObject({ n: z.int(), at: z.date() });
  const row = (n: string) => sql.type(Row)`
    select ${n}::bigint as n, '2026-01-31 12:00:00.123+05:30'::timestamptz as at`;
  expect(await database.deps.db.one(row('9007199254740991'))).toEqual({
    n: Number.MAX_SAFE_INTEGER,
    at: new Date('2026-01-31T06:30:00.123Z'),
  });
  await expect(database.deps.db.one(row('9007199254740992'))).rejects.toThrow();
  const Other = z.strictObject({ n: z.string() });
  await expect(database.deps.db.one(sql.type(Other)`select 1 as n`)).rejects.toThrow();
});

test('a lost connection is the database being down; a wrong statement is not', async () => {
  const { db } = database.deps;
  const terminated = await errorOf(() =>
    inProject(database.deps, newId(), async ({ tx }) => {
      const { pid } = await tx.one(
        sql.type(z.object({ pid: z.int() }))`select pg_backend_pid() as pid`,
      );
      await database.owner.query('select pg_terminate_backend($1)', [pid]);
      await tx.query(sql.unsafe`select 1`);
    }),
  );
  expect(isDatabaseDown(terminated)).toBe(true);

  const refused = await errorOf(() =>
    openDb('postgres://nobody@127.0.0.1:1/none').then((closed) =>
      closed.query(sql.unsafe`select 1`),
    ),
  );
  expect(isDatabaseDown(refused)).toBe(true);

  for (const wrong of [
    sql.unsafe`select 1 / 0`,
    sql.unsafe`select no_such_column`,
    sql.unsafe`select 'x'::uuid`,
    sql.unsafe`select jsonb '"\\u0000"' ->> 0`,
  ])
    expect(isDatabaseDown(await errorOf(() => db.query(wrong)))).toBe(false);
  expect(isDatabaseDown(new Error('nothing of the sort'))).toBe(false);
  expect(isDatabaseDown('Connection terminated')).toBe(false);
});

test('a chain of causes is followed, but not for ever', () => {
  const cause = Object.assign(new Error('inner'), { code: '57P01' });
  expect(isDatabaseDown(new Error('outer', { cause }))).toBe(true);
  const circle = new Error('circle');
  circle.cause = circle;
  expect(isDatabaseDown(circle)).toBe(false);
});

test('statements and idle transactions end in time, and say that the database is down', async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys));
  try {
    const told = await db.one(sql.unsafe`
      select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle
    `);
    expect(told).toEqual({ statement: '15s', idle: '1min' });
    const error = await errorOf(() =>
      db.transaction(async (tx) => {
        await tx.query(sql.unsafe`set local statement_timeout = 1`);
        await tx.query(sql.unsafe`select pg_sleep(15)`);
      }),
    );
    expect(isDatabaseDown(error)).toBe(true);
  } finally {
    await db.end();
  }
});
