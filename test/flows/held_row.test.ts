// A row that somebody holds stops those of its project who need it, for as long as a statement may take. The
// others of the project are refused soon, and its neighbours know nothing of it.
import { afterEach, beforeAll, expect, test } from 'vitest';
import {
  sessionTurnsOf,
  SessionTurns,
  TURNS_OF_PROJECT_MAX,
  WAITING_OF_PROJECT_MAX,
} from '../../src/base/session_turns.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const api = testApi(database);
/** The same, where whoever waits does so for longer than any test. */
const patient = {} as TestDatabase;
const patientTurns = new SessionTurns(600_000);
beforeAll(() => {
  const deps = { ...database.deps, turns: patientTurns };
  Object.assign(patient, database, { deps });
});
const patientApi = testApi(patient);

const EMAIL = 'held@example.com';
const MANY = 30;

const suppress = (at = api, key = at.project.server_key): Promise<Answer> =>
  at.call('POST', '/v1/suppressions', { key, body: { email: EMAIL } });

/** Holds the address of the project in a session of nobody's. */
const holdAddress = async (at = api): Promise<void> => {
  expect((await suppress(at)).status).toBeLessThan(300);
  await database.owner.query('begin');
  await database.owner.query('select from suppression.addresses where project_id = $1 for update', [
    at.project.project_id,
  ]);
};

const turns = () => sessionTurnsOf(database.deps);
const allAreBack = () =>
  until('all sessions are back', () => {
    const { heldCount, waitingCount } = turns();
    const { acquiredConnections, waitingClients } = database.deps.db.state();
    return heldCount + waitingCount + acquiredConnections + waitingClients === 0;
  });

afterEach(async () => {
  await database.owner.query('rollback');
  await allAreBack();
});

test('a neighbour of a project whose requests all wait for one row is answered, and they are refused', async () => {
  const neighbour = await createProject(database.deps, 'neighbour');
  await holdAddress();
  const refused: Answer[] = [];
  const done: Answer[] = [];
  const asked = Array.from({ length: MANY }, async () => {
    const answer = await suppress();
    (answer.status === 503 ? refused : done).push(answer);
  });
  await until('the project has its part', () => turns().heldCount === TURNS_OF_PROJECT_MAX);

  const key = neighbour.server_key;
  expect((await api.call('GET', '/v1/suppressions', { key })).status).toBe(200);
  expect((await suppress(api, key)).status).toBeLessThan(300);
  const event = { event: 'made', external_id: 'ann' };
  for (const one of [key, api.project.server_key])
    expect((await api.call('POST', '/v1/events', { key: one, body: event })).status).toBe(202);
  expect(done).toEqual([]);

  // Those who hold a session wait for their statement; nobody else waits as long.
  const others = MANY - TURNS_OF_PROJECT_MAX;
  await until('the others are refused', () => refused.length === others);
  for (const answer of refused) {
    expectRefusal(answer, 'overloaded');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  expect(done).toEqual([]);
  await database.owner.query('rollback');
  await Promise.all(asked);
  expect(done).toHaveLength(TURNS_OF_PROJECT_MAX);
});

test('one request more than may wait is refused before any of those who wait', async () => {
  const own = patientTurns;
  await holdAddress(patientApi);
  const held = Array.from({ length: TURNS_OF_PROJECT_MAX }, () => suppress(patientApi));
  await until('the project has its part', () => own.heldCount === TURNS_OF_PROJECT_MAX);
  const ended: (string | undefined)[] = [];
  const waiting = Array.from({ length: WAITING_OF_PROJECT_MAX }, async () => {
    const had = () => Promise.resolve('had its turn');
    ended.push(await own.have(patientApi.project.project_id, had));
  });
  expectRefusal(await suppress(patientApi), 'overloaded');
  expect(ended).toEqual([]);
  await database.owner.query('rollback');
  await Promise.all(waiting);
  expect(ended).toEqual(waiting.map(() => 'had its turn'));
  for (const { status } of await Promise.all(held)) expect(status).toBeLessThan(300);
  expect(own.heldCount).toBe(0);
});
