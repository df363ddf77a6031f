// Streams of a process that stops, of a process that has as many as it may, and of work that is on its way.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { STREAMS_MAX, Streams, streamsOf } from '../../src/admin/streams.ts';
import { getNamed } from '../../src/automations/named.ts';
import { simulateLive } from '../../src/automations/simulate_live.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { metricsOf } from '../../src/base/metrics.ts';
import { openApi } from '../../src/http/api.ts';
import { endFill, moveFill, startFill } from '../../src/segments/fill_queries.ts';
import { automationsThroughApi, mailShown } from '../automations/through_api.ts';
import { testDatabase } from '../support/database.ts';
import { openStream, tells } from '../support/event_stream.ts';
import { makePerson } from '../support/people.ts';
import { refusalOf } from '../support/refusal_of.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const { api, ask, make } = automationsThroughApi(database);

/** When a process that stops cuts off what is still open. */
const CUT_OFF_MS = 10_000;
/** Looks on as a member of the project that the API's key is of. */
const look = async (procedure: string, input: object = {}, url = api.url) => {
  const { project_id: projectId } = api.project;
  const { cookie } = await makePerson(database, { projectId, role: 'viewer' });
  return openStream(url, procedure, { input: { projectId, ...input }, cookie });
};

test('a process that stops ends its streams at once, without saying that they are over', async () => {
  const other = await openApi(database.deps, { isDraining: false }, true);
  const stream = await look('events.latest', {}, `http://127.0.0.1:${other.port}`);
  await tells(stream, 1);
  const startedAt = Date.now();
  await other.close();
  expect(Date.now() - startedAt).toBeLessThan(CUT_OFF_MS);
  await stream.ended;
  // A browser that is not told "return" comes again, and reaches a process that is there.
  expect(stream.told.map(({ event }) => event)).toEqual(['connected', 'message']);
  expect(streamsOf(database.deps).count).toBe(0);
});

test('429 too_many_streams: a process has so many streams, and not one more', async () => {
  const streams = new Streams(database.deps);
  const answers = Array.from({ length: STREAMS_MAX + 1 }, () => {
    const answer = new ServerResponse(new IncomingMessage(new Socket()));
    const session = Buffer.from(newId());
    return { answer, session, personId: newId(), projectId: newId() };
  });
  const last = answers.pop();
  const signals = answers.map((asked) => streams.open(asked));
  expect(streams.count).toBe(STREAMS_MAX);
  const refused = await refusalOf((async () => last && streams.open(last))());
  expect(refused.reason).toBe('too_many_streams');
  expect(refused.extras.detail).toContain(`${STREAMS_MAX} streams`);
  answers[0]?.answer.emit('close');
  if (last) streams.open(last);
  expect(streams.count).toBe(STREAMS_MAX);
  const told = metricsOf(database.deps).read();
  expect((await told).text).toContain(`\ntrunkline_streams ${STREAMS_MAX}\n`);
  streams.close();
  expect((await metricsOf(database.deps).read()).text).toContain('\ntrunkline_streams 0\n');
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

test('it tells how far segments have come, until none is being filled', async () => {
  const { body } = await ask('POST', '/v1/segments', {
    name: 'Everybody with a plan',
    definition: { version: 1, where: { kind: 'trait', trait: 'plan', test: { is: 'exists' } } },
  });
  const stream = await look('segments.progress');
  await tells(stream, 1);
  const [first] = stream.messages() as { items: object[] }[];
  expect(first?.items).toEqual([
    {
      id: body.id,
      version: 1,
      status: 'counting',
      progress: { counted_until: null, examined: 0 },
    },
  ]);
  const within = (work: (scope: Scope) => Promise<unknown>) =>
    inProject(database.deps, api.project.project_id, work);
  await within((scope) => startFill(scope, body.id));
  await within((scope) => moveFill(scope, body.id, { filledTo: newId(), examined: 7 }));
  await until('it is told', () => JSON.stringify(stream.messages()).includes('"examined":7'));
  await within((scope) => endFill(scope, body.id, 8));
  await until('it is told', () => JSON.stringify(stream.messages().at(-1)) === '{"items":[]}');
  stream.close();
});

const welcome = {
  trigger: { kind: 'event' as const, event: 'trial_started' },
  settings: { late_events: 'accept' as const },
  entry: 'welcome',
  steps: { welcome: mailShown() },
};
/** People who come by, enough that they are read in several pieces. */
const comeBy = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at += 50) {
    const events = Array.from({ length: 50 }, (_, person) => ({
      event: 'trial_started',
      external_id: `person-${at + person}`,
    }));
    await ask('POST', '/v1/events/batch', { events });
  }
  await api.processEvents();
};

test('a simulation tells how far it is, and at last what came of it', async () => {
  const automationId = await make(welcome);
  await comeBy(150);
  const stream = await look('automations.simulation', { automationId, days: 30 });
  await until('it is done', () => stream.told.some(({ event }) => event === 'return'));
  await stream.ended;
  const told = stream.messages() as { kind: string; followed?: number; of?: number }[];
  expect(told[0]).toEqual({ kind: 'progress', followed: 0, of: 150 });
  const last = told.at(-1) as { kind: string; simulation?: { entered: number } };
  expect(last).toMatchObject({ kind: 'done', simulation: { entered: 150 } });
});

test('a simulation of what there is not says so, and ends', async () => {
  const stream = await look('automations.simulation', { automationId: newId(), days: 30 });
  await stream.ended;
  expect(stream.told.at(-1)).toMatchObject({
    event: 'serialized-error',
    data: { message: 'not_found' },
  });
});

test('a simulation that nobody waits for any more is given up', async () => {
  const automationId = await make(welcome);
  await comeBy(150);
  const { project_id: projectId } = api.project;
  const kept = await inProject(database.deps, projectId, (scope) => getNamed(scope, automationId));
  const leaving = new AbortController();
  const told = simulateLive(database.deps, projectId, kept, {
    days: 30,
    version: 1,
    over: leaving.signal,
  });
  expect((await told.next()).value).toMatchObject({ followed: 0 });
  leaving.abort();
  const rest = async () => {
    for await (const one of told) expect(one.kind).toBe('progress');
  };
  await expect(rest()).rejects.toThrow('aborted');
});
