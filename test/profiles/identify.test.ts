// What an identify writes: nothing when it says nothing new, and nothing more when it comes again.
import { beforeEach, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { keyIn } from '../ingest/some_events.ts';

const database = testDatabase();
const api = testApi(database);

let project: NewProject;
beforeEach(async () => {
  project = await createProject(database.deps, 'quiet');
});

const AT = new Date(Date.now() - 60_000).toISOString();
const LATER = new Date(Date.now() - 30_000).toISOString();

const identify = async (body: object, headers: Record<string, string> = {}) => {
  const key = project.publishable_key;
  const answer = await api.call('POST', '/v1/identify', { key, body, headers });
  expect([answer.status, answer.body]).toEqual([202, { accepted: 1 }]);
};

/** Where a person can leave a trace, and in which version each row stands there. */
const TABLES = [
  'identity.identities',
  'identity.links',
  'profiles.profiles',
  'profiles.traits',
  'ingest.message_ids',
  'ingest.events',
  'ingest.pending',
];
const versions = async (tables = TABLES): Promise<unknown[]> => {
  const { rows } = await database.owner.query(
    tables
      .map(
        (table) =>
          `select '${table}' as table, ctid::text, xmin::text from ${table} where project_id = '${project.project_id}'`,
      )
      .join(' union all ') + ' order by 1, 2',
  );
  return rows;
};

const said = {
  external_id: 'ann',
  anonymous_id: 'device-1',
  traits: { email: 'ann@example.com', plan: 'pro', nested: { a: [1, null] } },
  occurred_at: AT,
};

test('an identify that changes nothing writes nothing', async () => {
  await identify(said);
  const before = await versions();
  expect(before.length).toBeGreaterThan(5);
  for (let time = 0; time < 3; time += 1) await identify(said);
  await identify({ external_id: 'ann', occurred_at: AT });
  await identify({ external_id: 'ann', traits: {}, occurred_at: AT });
  await identify({ ...said, traits: { plan: 'pro' } });
  expect(await versions()).toEqual(before);
});

test('a link that is refused again is not logged again, and writes nothing', async () => {
  await identify(said);
  const bob = { ...said, external_id: 'bob', traits: {} };
  await identify(bob);
  const before = await versions();
  await identify(bob);
  expect(await versions()).toEqual(before);
});

test('the same traits said later are only kept as said later: the profile is not written', async () => {
  await identify(said);
  const tables = ['profiles.profiles', 'identity.links'];
  const before = await versions(tables);
  await identify({ ...said, occurred_at: LATER });
  expect(await versions(tables)).toEqual(before);
});

test('a repeated message id writes nothing, whatever it says', async () => {
  await identify({ ...said, message_id: 'm-1' });
  const before = await versions();
  await identify({ ...said, message_id: 'm-1', traits: { plan: 'free' }, occurred_at: LATER });
  await identify({ external_id: 'eve', message_id: 'm-1' });
  expect(await versions()).toEqual(before);
});

/** As a crash leaves it between the effect and the kept answer, once the dead process's claim ran out. */
const crash = () =>
  database.owner.query(
    'update http.idempotency_keys set answer = null, claimed_until = null where project_id = $1',
    [project.project_id],
  );

test('run again after a crash, an identify with an Idempotency-Key says nothing more', async () => {
  const { occurred_at: _, ...undated } = said;
  const key = { 'idempotency-key': 'said-once' };
  await identify(undated, key);
  await identify({ external_id: 'ann', traits: { plan: 'changed since' } });
  const before = await versions();
  await crash();
  await identify(undated, key);
  expect(await versions()).toEqual(before);
});

test('its own message id counts more than the Idempotency-Key', async () => {
  await identify({ ...said, message_id: 'own' }, { 'idempotency-key': 'a' });
  const { rows } = await database.owner.query(
    'select message_key from ingest.message_ids where project_id = $1',
    [project.project_id],
  );
  expect(rows).toEqual([{ message_key: keyIn({ keyKind: 'publishable', of: 'identify' }, 'own') }]);
});

test('without a message id and an Idempotency-Key no message id is taken', async () => {
  await identify(said);
  expect(await versions(['ingest.message_ids'])).toEqual([]);
});
