// A run keeps the trace of the event that started it; what fails of its calls is logged with that.
import { expect, test } from 'vitest';
import { callEndpoint } from '../../src/automations/automations.ts';
import { Resources } from '../../src/base/resources.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { loggedOf } from '../support/logged.ts';
import { until } from '../support/until.ts';
import { workOn } from '../support/work_on.ts';
import { vault, withEndpoint } from './with_endpoint.ts';

const database = testDatabase();
const logged = loggedOf(database);
const sink = httpsSink({ usually: () => ({ status: 204 }) });

const traceparentOf = (digit: string): string => `00-${digit.repeat(32)}-${'b'.repeat(16)}-01`;

test('each run has the trace of its own event, of whichever flush that is', async () => {
  const world = await withEndpoint(database, sink);
  await world.live();
  const started = (external_id: string, digit: string | null) => {
    const traceparent = digit && traceparentOf(digit);
    return newEvent({ name: 'trial_started', external_id, traceparent });
  };
  await world.flush(started('ann', '1'), started('ben', null), started('cid', '3'));
  await world.flush(started('dan', '4'), started('ann', null));
  await world.flush(started('eve', null));
  await workOn(database, world.projectId);
  const { rows } = await database.owner.query(
    `select value as who, traceparent from automations.runs join identity.identities using (project_id, identity_id)
     where project_id = $1 order by value, traceparent`,
    [world.projectId],
  );
  expect(rows).toEqual([
    { who: 'ann', traceparent: traceparentOf('1') },
    { who: 'ann', traceparent: null },
    { who: 'ben', traceparent: null },
    { who: 'cid', traceparent: traceparentOf('3') },
    { who: 'dan', traceparent: traceparentOf('4') },
    { who: 'eve', traceparent: null },
  ]);
});

test.each([
  [traceparentOf('a'), 'a'.repeat(32)],
  [null, undefined],
])('the trace of %s is %s in the log', async (traceparent, traceId) => {
  logged.splice(0);
  const deps = { ...database.deps, resources: new Resources() };
  const world = await withEndpoint(database, sink);
  await world.live();
  await world.flush(newEvent({ name: 'trial_started', traceparent }));
  await workOn(database, world.projectId);
  await database.owner.query(
    `alter table automations.calls add constraint nobody_is_told check (status <> 'delivered') not valid`,
  );
  callEndpoint(deps, vault, world);
  const line = await until('the failure is logged', () => {
    return logged.find((one) => one.includes('a call failed on our side')) ?? null;
  });
  await database.owner.query('alter table automations.calls drop constraint nobody_is_told');
  await deps.resources.close();
  expect(JSON.parse(line)).toMatchObject({ project_id: world.projectId });
  expect(JSON.parse(line).trace_id).toBe(traceId);
});
