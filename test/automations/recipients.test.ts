// Workers that plan email to the same new mailboxes in opposite order wait for each other and never deadlock.
import { beforeAll, expect, test } from 'vitest';
import { identify } from '../../src/profiles/identify.ts';
import { mailboxKey } from '../../src/suppression/address_key.ts';
import { connectTo, untilWaiting } from '../base/connections.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { definition, journeysOf, mail } from './journeys.ts';

const database = testDatabase();

/** Postgres would end a deadlock after a second, and the work would be repeated. So a deadlock ends the test. */
beforeAll(async () => {
  const { rows } = await database.owner.query<{ name: string }>(
    'select current_database() as name',
  );
  await database.owner.query(`alter database "${rows[0]?.name}" set deadlock_timeout = '1h'`);
});

test.each([
  ['that trigger events name', definition(), false],
  ['that the people have', definition({ entry: 'mail', steps: { mail: mail() } }), true],
])('attack: pages sign up mailboxes in opposite order, by addresses %s', async (_, given, has) => {
  const world = journeysOf(database);
  const { projectId } = world;
  await world.activate(given);
  const signUp = async (emails: readonly string[]) => {
    for (const email of emails) {
      const caller = { projectId, kind: 'server' as const };
      if (has) await identify(database.deps, caller, { external_id: email, traits: { email } });
      const properties = JSON.stringify({ email });
      await world.start(await world.flush(newEvent({ external_id: email, properties })));
    }
  };
  const blocker = await connectTo(database, projectId);
  await blocker.query('begin');
  await blocker.query(
    'insert into suppression.addresses (project_id, address_key) values ($1, $2)',
    [projectId, mailboxKey({ keys: database.deps.keys, projectId }, 'x@example.com')],
  );
  await signUp(['a+1@example.com', 'x+1@example.com', 'b+1@example.com']);
  const first = world.advance();
  await untilWaiting(database, 1);
  await signUp(['b+2@example.com', 'x+2@example.com', 'a+2@example.com']);
  const second = world.advance();
  await untilWaiting(database, 2);
  await blocker.query('rollback');
  await Promise.all([first, second]);
  expect(await world.select('status', 'delivery.sends')).toHaveLength(6);
});

test('an address gets no row before a delay ahead of its email, and none without an email', async () => {
  const world = journeysOf(database);
  const wait = { kind: 'delay' as const, duration: 'P1D', next: 'mail' };
  const told = { kind: 'update_profile' as const, traits_from_event: { email: 'email' } };
  const steps = { address: { ...told, next: 'wait' }, wait, mail: mail() };
  await world.activate(definition({ steps }));
  await world.activate(definition({ steps: { address: { ...told, next: null } } }), 'keeps');
  const emails = ['ann+1@example.com', 'ben+1@example.com'];
  for (const email of emails)
    await world.start(
      await world.flush(newEvent({ external_id: email, properties: JSON.stringify({ email }) })),
    );
  await world.settle();
  expect(await world.select('1', 'suppression.addresses')).toHaveLength(0);
  await world.pass('2 days');
  await world.settle();
  expect(await world.select('1', 'suppression.addresses')).toHaveLength(2 * emails.length);
});
