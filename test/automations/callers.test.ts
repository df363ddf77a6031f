// Endpoints that hang hold a few places each, and nobody else's calls.
import { describe, expect, test } from 'vitest';
import { callEndpoint } from '../../src/automations/automations.ts';
import { ENDPOINT_CALLS_MAX } from '../../src/automations/call_limits.ts';
import { Callers, Places } from '../../src/automations/callers.ts';
import { newId } from '../../src/base/ids.ts';
import { Resources } from '../../src/base/resources.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { until } from '../support/until.ts';
import { vault, withEndpoint } from './with_endpoint.ts';

const database = testDatabase();
const hanging = httpsSink({ usually: () => ({ status: 204 }) });
const sink = httpsSink({ usually: () => ({ status: 204 }) });

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('places', () => {
  test('go to the project with the fewest calls under way, not to whoever asked most', async () => {
    const places = new Places(2);
    const order: string[] = [];
    const take = (projectId: string) =>
      void places.take(projectId).then(() => order.push(projectId));
    for (let at = 0; at < 5; at += 1) take('greedy');
    take('quiet');
    await turn();
    expect(order).toEqual(['greedy', 'greedy']);
    places.giveBack('greedy');
    await turn();
    expect(order).toEqual(['greedy', 'greedy', 'quiet']);
    places.giveBack('quiet');
    places.giveBack('greedy');
    await turn();
    expect(order).toEqual(['greedy', 'greedy', 'quiet', 'greedy', 'greedy']);
  });
});

test('an endpoint that hangs holds its own few places, no job, and nobody else’s runs', async () => {
  const deps = { ...database.deps, resources: new Resources() };
  const hung = await withEndpoint(database, hanging, '/hangs');
  const well = await withEndpoint(database, sink);
  hanging.play('/hangs', 'hang');
  const people = Array.from({ length: 3 * ENDPOINT_CALLS_MAX }, (_, at) => `p${at}`);
  for (const world of [hung, well]) {
    await world.live();
    for (const who of people) await world.happen('trial_started', who);
  }
  // As many hints as there may be: each answers at once.
  for (let at = 0; at < people.length; at += 1) callEndpoint(deps, vault, hung);
  await until('all its places are held', () => hanging.requests.length >= ENDPOINT_CALLS_MAX);
  callEndpoint(deps, vault, well);
  // A call whose answer comes late may be made again, with the same id.
  const idsAt = ({ requests }: typeof sink) =>
    new Set(requests.map(({ headers }) => headers['webhook-id']));
  await until('everyone of the other is called', () => idsAt(sink).size === people.length);
  expect(idsAt(hanging).size).toBe(ENDPOINT_CALLS_MAX);

  // Whoever stops ends what hangs: those calls were not answered, and are made again.
  await deps.resources.close();
  const states = (await hung.calls()).map(({ status }) => status);
  expect(states.filter((status) => status === 'waiting')).toHaveLength(ENDPOINT_CALLS_MAX);
  expect(states.filter((status) => status === 'queued')).toHaveLength(
    people.length - ENDPOINT_CALLS_MAX,
  );
  callEndpoint(deps, vault, hung);
});

test('past so many calls, under way or waiting, no more are begun: their runs look again', async () => {
  const deps = { ...database.deps, resources: new Resources() };
  const callers = new Callers({ deps, vault }, { lanesMax: 2 });
  for (let at = 0; at < 3; at += 1) callers.feed({ projectId: newId(), endpointId: newId() });
  expect(callers.laneCount).toBe(2);
  await callers.close();
  expect(callers.laneCount).toBe(0);
  await deps.resources.close();
});
