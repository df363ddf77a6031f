import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject, openPooledDb, sql } from '../../src/base/db.ts';
import type { Db } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { PREPARED_AFTER } from '../../src/base/prepare_often.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { EXAMPLE_EVENT } from '../../src/runtime/example.ts';
import { addressOf, testWorld } from '../support/world.ts';
import { until } from '../support/until.ts';
import { hasPgbouncer, NO_PGBOUNCER, Pgbouncer, SERVER_SESSIONS } from './pgbouncer.ts';

const isHere = hasPgbouncer();
const PEOPLE = 30;

describe('behind PgBouncer, which gives each transaction another session', () => {
  const world = testWorld();
  let pooler: Pgbouncer;
  let db: Db;
  beforeAll(async () => {
    if (!isHere) return;
    pooler = await Pgbouncer.start(world.url);
    db = await openPooledDb(runtimeUrl(pooler.url, world.deps.keys));
  });
  afterAll(async () => {
    if (!isHere) return;
    await db.end();
    await pooler.stop();
  });
  beforeEach(({ skip }) => skip(!isHere, NO_PGBOUNCER));

  test('events become mail, with two of each process', async () => {
    const env = { DATABASE_POOL_URL: pooler.url };
    const apis = await Promise.all([world.start('api', env), world.start('api', env)]);
    await Promise.all([world.start('worker', env), world.start('worker', env)]);
    const people = Array.from({ length: PEOPLE }, (_, n) => `person${n}`);
    const post = (port: number, person: string) =>
      fetch(`http://127.0.0.1:${port}/v1/events`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${world.project.server_key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          event: EXAMPLE_EVENT,
          external_id: person,
          message_id: person,
          properties: { email: addressOf(person), first_name: person },
        }),
      });
    // Each twice, at both: the second is a repetition, whichever of them comes second.
    const answers = await Promise.all(
      apis.flatMap(({ port }) => people.map((person) => post(port, person))),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    await until('everybody is mailed', () => world.sink.mails.length >= PEOPLE);
    await until('every send is accepted', async () => {
      const { rows } = await world.owner.query(
        `select count(*)::int as sends, count(*) filter (where status = 'accepted')::int as accepted
        from delivery.sends`,
      );
      return rows[0].sends === PEOPLE && rows[0].accepted === PEOPLE;
    });
    const mailed = world.sink.mails.flatMap(({ to }) => to);
    expect(mailed.toSorted()).toEqual(people.map(addressOf).toSorted());
  });

  test('a project is seen in its own transactions, whoever had the session before', async () => {
    const ids = Array.from({ length: 3 * SERVER_SESSIONS }, newId);
    const deps = { ...world.deps, db };
    const seen = await Promise.all(
      ids.map((id) =>
        inProject(deps, id, ({ tx }) =>
          tx.oneFirst(sql.unsafe`select current_setting('trunkline.project_id')`),
        ),
      ),
    );
    expect(seen).toEqual(ids);
    const left = await db.anyFirst(
      sql.unsafe`select nullif(current_setting('trunkline.project_id', true), '')`,
    );
    expect(left).toEqual([null]);
  });

  test('what is asked often is asked without a name', async () => {
    const asked = Array.from({ length: 10 * PREPARED_AFTER * SERVER_SESSIONS }, (_, n) =>
      db.oneFirst(sql.unsafe`select ${n}::int + 1`),
    );
    expect(await Promise.all(asked)).toEqual(asked.map((_, n) => n + 1));
  });

  test.each(['statement_timeout', 'idle_in_transaction_session_timeout'])(
    'the role has a %s of its own, where a session cannot be asked for one',
    async (timeout) => {
      expect(await db.oneFirst(sql.unsafe`select current_setting(${timeout})`)).toBe('1min');
    },
  );
});
