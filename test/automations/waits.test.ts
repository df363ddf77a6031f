// No event is missed between the look of a run and its wait, and each wakes it once.
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import * as automations from '../../src/automations/automations.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { copy, journeysOf, mail } from './journeys.ts';

const database = testDatabase();

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
const signUp = (given: object = {}) =>
  newEvent({
    properties: JSON.stringify({ email: 'ann@example.com' }),
    occurred_at: secondsAgo(60),
    ...given,
  });
const paid = (total = 10, given: object = {}) =>
  newEvent({ name: 'paid', properties: JSON.stringify({ total }), ...given });

const waiting = (more: object = {}) => ({
  settings: { re_entry: 'every_time' as const },
  entry: 'address',
  steps: {
    address: copy({ email: 'email' }, 'wait'),
    wait: {
      kind: 'wait_for_event' as const,
      event: 'paid',
      where: [{ property: 'total', test: { is: 'at_least' as const, value: 10 } }],
      timeout: 'P3D',
      next: 'thanks',
      on_timeout: 'nudge',
    },
    thanks: mail(),
    nudge: mail(),
  },
  ...more,
});

const begun = async (more: object = {}) => {
  const journeys = journeysOf(database);
  await journeys.activate(waiting(more));
  await journeys.tell(signUp());
  const stepsSent = async () =>
    (await journeys.select('step_id', 'delivery.sends')).map(({ step_id }) => step_id);
  return { ...journeys, stepsSent };
};

describe('a run that waits for an event', () => {
  test('waits as a row, and goes on when the event is processed', async () => {
    const { tell, select, stepsSent, names } = await begun();
    expect(await select('step_id, status', 'automations.runs')).toEqual([
      { step_id: 'wait', status: 'active' },
    ]);
    expect(await select('event_name, for_what', 'automations.waits')).toEqual([
      { event_name: 'paid', for_what: 'step' },
    ]);
    expect(await stepsSent()).toEqual([]);
    expect(await tell(paid())).toBe(1);
    expect(await stepsSent()).toEqual(['thanks']);
    expect(await names()).toEqual([
      'profile_updated',
      'waits_for_event',
      'event_came',
      'send_queued',
    ]);
    expect(await select('event_name', 'automations.waits')).toEqual([]);
  });

  test('is not moved by an event that its filters leave out', async () => {
    const { tell, pass, settle, stepsSent } = await begun();
    await tell(paid(9));
    expect(await stepsSent()).toEqual([]);
    await pass('3 days');
    await settle();
    expect(await stepsSent()).toEqual(['nudge']);
  });

  test('counts what occurred between the trigger and the wait', async () => {
    const journeys = journeysOf(database);
    await journeys.activate(waiting());
    await journeys.tell(signUp(), paid(10, { occurred_at: secondsAgo(30) }));
    expect(await journeys.select('step_id', 'delivery.sends')).toEqual([{ step_id: 'thanks' }]);
  });

  test('does not count what occurred before its trigger, although it came later', async () => {
    const { tell, stepsSent } = await begun();
    await tell(paid(10, { occurred_at: secondsAgo(90) }));
    expect(await stepsSent()).toEqual([]);
  });

  test('is woken by what the person does under another of their identifiers', async () => {
    const { link, tell, stepsSent } = await begun();
    await tell(newEvent({ name: 'seen', external_id: null, anonymous_id: 'device' }));
    await link('device');
    await tell(paid(10, { external_id: null, anonymous_id: 'device' }));
    expect(await stepsSent()).toEqual(['thanks']);
  });

  test('is not woken by anybody else', async () => {
    const { tell, stepsSent } = await begun();
    expect(await tell(paid(10, { external_id: 'bob' }))).toBe(0);
    expect(await stepsSent()).toEqual([]);
  });
});

test('an event that is stored and processed while the wait begins is seen by the next look', async () => {
  const journeys = journeysOf(database);
  const { projectId } = journeys;
  await journeys.activate(waiting());
  // Of a time in which the person was seen already: whoever processes it then waits for nobody.
  const event = paid(10, { occurred_at: secondsAgo(30) });
  await journeys.start(await journeys.flush(signUp(), newEvent({ name: 'seen' })));
  const looked = Promise.withResolvers<void>();
  const processed = looked.promise
    .then(() => journeys.flush(event))
    .then((flushId) => journeys.start(flushId));
  await inProject(database.deps, projectId, async (scope) => {
    await automations.advance(scope);
    // The run has looked and waits, but nobody can see that yet: it is not woken.
    looked.resolve();
    expect(await processed).toBe(0);
  });
  expect(await journeys.names()).not.toContain('event_came');
  await journeys.settle();
  expect(await journeys.names()).toContain('event_came');
  expect(await journeys.select('step_id', 'delivery.sends')).toEqual([{ step_id: 'thanks' }]);
});

test('a run is walked again at once when its wait is new, and then waits until its time', async () => {
  const journeys = journeysOf(database);
  await journeys.activate(waiting());
  await journeys.start(await journeys.flush(signUp()));
  expect(await journeys.advance()).toMatchObject({ isMore: true });
  expect(await journeys.advance()).toMatchObject({ isMore: false });
  const [run] = await journeys.select('wake_at = waits_until as is_due', 'automations.runs');
  expect(run).toEqual({ is_due: true });
});

describe('a goal', () => {
  const goal = { event: 'paid', where: [] };
  const delayed = {
    settings: { re_entry: 'every_time' as const, goal },
    steps: {
      address: copy({ email: 'email' }, 'wait'),
      wait: { kind: 'delay' as const, duration: 'P7D', next: 'nudge' },
      nudge: mail(),
    },
  };

  test('ends the run wherever it waits, and is counted as converted', async () => {
    const { tell, select, stepsSent, names } = await begun(delayed);
    await tell(paid());
    expect(await select('status, outcome', 'automations.runs')).toEqual([
      { status: 'ended', outcome: 'converted' },
    ]);
    expect(await names()).toEqual(['profile_updated', 'delayed', 'goal_reached']);
    expect(await stepsSent()).toEqual([]);
    expect(await select('event_name', 'automations.waits')).toEqual([]);
  });

  test('that was reached before nothing was sent keeps the mail from going', async () => {
    const { flush, start, pass, settle, stepsSent } = await begun(delayed);
    // Accepted, but not processed before the run is due.
    const flushId = await flush(paid());
    await pass('7 days');
    await settle();
    expect(await stepsSent()).toEqual([]);
    expect(await start(flushId)).toBe(0);
  });
});

test('whoever processes somebody’s events and whoever walks their run do not lock each other out', async () => {
  const { flush, start, advance, pass, settle, stepsSent, names } = await begun();
  await pass('3 days');
  // Both want the person and the run at once, again and again; a deadlock would cost a second and an error.
  const { rows: before } = await database.owner.query<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  const flushes = await Promise.all(
    Array.from({ length: 8 }, (_, at) => flush(paid(1, { occurred_at: secondsAgo(-at) }))),
  );
  await Promise.all(flushes.flatMap((flushId) => [start(flushId), advance()]));
  await settle();
  const { rows: after } = await database.owner.query<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  expect(after).toEqual(before);
  expect(await stepsSent()).toEqual(['nudge']);
  expect((await names()).filter((name) => name === 'wait_timed_out')).toHaveLength(1);
});

describe('a clock that is ahead', () => {
  const ahead = (seconds: number) => secondsAgo(-seconds);

  test('of whoever sends the event does not keep a run from going on with it', async () => {
    const { tell, stepsSent } = await begun();
    await tell(paid(10, { occurred_at: ahead(3_600) }));
    expect(await stepsSent()).toEqual(['thanks']);
  });

  test('of whoever sends the trigger does not hide what the person does next', async () => {
    const journeys = journeysOf(database);
    await journeys.activate(waiting());
    await journeys.tell(signUp({ occurred_at: ahead(3_600) }));
    await journeys.tell(paid());
    expect(await journeys.select('step_id', 'delivery.sends')).toEqual([{ step_id: 'thanks' }]);
  });

  test('does not make the trigger event itself what is waited for', async () => {
    const journeys = journeysOf(database);
    const wait = { ...waiting().steps.wait, event: 'user_signed_up', where: [] };
    await journeys.activate(waiting({ steps: { ...waiting().steps, wait } }));
    await journeys.tell(signUp({ occurred_at: ahead(3_600) }));
    expect(await journeys.names()).toEqual(['profile_updated', 'waits_for_event']);
  });
});
