// Who came is asked about together: a simulation of many people costs a few statements more than one of a few.
import { expect, test } from 'vitest';
import { getAutomation } from '../../src/automations/queries.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { simulate } from '../../src/automations/simulate.ts';
import { inProject } from '../../src/base/db.ts';
import type { Db } from '../../src/base/db.ts';
import { FAMILIES_AHEAD_MAX } from '../../src/automations/ahead.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, make, work } = automationsThroughApi(database);

const EVENT = 'trial_started';
const BATCH_EVENTS = 50;
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `person_${at}`);

/** Each of so many people tries it, one of ten pays before every second creates a project. */
const happen = async (count: number): Promise<void> => {
  const events = namesOf(count).flatMap((external_id, at) => [
    { event: EVENT, external_id, occurred_at: daysAgo(10) },
    ...(at % 2 === 0 ? [{ event: 'project_created', external_id, occurred_at: daysAgo(9) }] : []),
    ...(at % 10 === 0 ? [{ event: 'paid', external_id, occurred_at: daysAgo(9.5) }] : []),
  ]);
  for (let from = 0; from < events.length; from += BATCH_EVENTS) {
    const body = { events: events.slice(from, from + BATCH_EVENTS) };
    expect((await ask('POST', '/v1/events/batch', body)).status).toBe(202);
  }
  await work();
  await database.owner.query(
    `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
     select project_id, identity_id, 'email', to_jsonb(value || '@example.com'), now() - interval '30 days', 'server'
     from identity.identities where project_id = $1 and value like 'person%' on conflict do nothing`,
    [api.project.project_id],
  );
};

const series: NewDefinition = {
  trigger: { kind: 'event', event: EVENT },
  settings: {
    late_events: 'accept',
    goal: { event: 'paid' },
    frequency_cap: { sends: 5, per: 'P7D', over: 'skip' },
  },
  entry: 'welcome',
  steps: {
    welcome: mailShown('wait'),
    wait: {
      kind: 'wait_for_event',
      event: 'project_created',
      timeout: 'P3D',
      next: 'tips',
      on_timeout: 'nudge',
    },
    tips: mailShown(),
    nudge: mailShown(),
  },
};

/** A pool whose connections tell of each statement. */
const counting = (db: Db, onStatement: () => void): Db =>
  new Proxy(db, {
    get: (pool, name) =>
      name === 'connect'
        ? (work: (connection: object) => Promise<unknown>) =>
            pool.connect((connection) =>
              work(
                new Proxy(connection, {
                  get: (target, method) => {
                    if (['any', 'one', 'maybeOne', 'query'].includes(String(method))) onStatement();
                    return Reflect.get(target, method) as unknown;
                  },
                }),
              ),
            )
        : (Reflect.get(pool, name) as unknown),
  });

const simulated = async (id: string) => {
  let statements = 0;
  const deps = { ...database.deps, db: counting(database.deps.db, () => (statements += 1)) };
  const { project_id: projectId } = api.project;
  const kept = await inProject(database.deps, projectId, (scope) => getAutomation(scope, id));
  const told = await simulate(deps, projectId, kept, { days: 30, version: 1 });
  return { statements, told };
};

test('three hundred people cost a few statements more than three, and come out the same', async () => {
  const id = await make(series);
  await happen(3);
  const few = await simulated(id);
  expect(few.told).toMatchObject({ entered: 3, sent: { welcome: 3, tips: 1, nudge: 1 } });
  const count = 3 * FAMILIES_AHEAD_MAX;
  await happen(count);
  const many = await simulated(id);
  expect(many.told).toMatchObject({
    entered: count,
    is_partial: false,
    outcomes: { converted: count / 10, completed: (9 * count) / 10 },
    sent: { welcome: count, tips: (4 * count) / 10, nudge: count / 2 },
  });
  expect(many.statements - few.statements).toBeLessThan(20);
});
