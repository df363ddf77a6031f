// Who is linked while a run of theirs waits is one person from then on: what the other did since the run began counts.
import { beforeEach, describe, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { newEvent } from '../ingest/some_events.ts';
import { create, refreshOn } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { copy, journeysOf, mail } from './journeys.ts';
import { note, onPlan } from './with_segments.ts';

const database = testDatabase();
const api = testApi(database);
let journeys: ReturnType<typeof journeysOf>;
beforeEach(async () => {
  api.project = await createProject(database.deps, 'test');
  journeys = journeysOf(database, api.project.project_id);
});

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
const signUp = (given: object = {}) =>
  newEvent({
    properties: JSON.stringify({ email: 'ann@example.com' }),
    occurred_at: secondsAgo(60),
    ...given,
  });
const byPhone = { external_id: null, anonymous_id: 'phone' };
const paid = (given: object = {}) => newEvent({ name: 'paid', ...byPhone, ...given });

const waiting = {
  settings: { re_entry: 'every_time' as const },
  entry: 'address',
  steps: {
    address: copy({ email: 'email' }, 'wait'),
    wait: {
      kind: 'wait_for_event' as const,
      event: 'paid',
      where: [],
      timeout: 'P3D',
      next: 'thanks',
      on_timeout: 'nudge',
    },
    thanks: mail(),
    nudge: mail(),
  },
};
const post = async (path: string, body: object = {}) => {
  const answer = await api.call('POST', path, { key: api.project.server_key, body });
  expect(answer.status).toBeLessThan(300);
  return answer.body;
};
const link = () => post('/v1/identify/alias', { anonymous_id: 'phone', external_id: 'ann' });
const sent = async () =>
  (await journeys.select('step_id', 'delivery.sends')).map(({ step_id }) => step_id as string);
const isHinted = async () =>
  (
    await database.owner.query(
      "select from graphile_worker.jobs where task_identifier = 'automations/advance_runs' and strpos(key, $1) > 0",
      [journeys.projectId],
    )
  ).rows.length > 0;

describe('a run that waits for an event', () => {
  test('goes on when a device is linked on which it happened since the run began', async () => {
    await journeys.activate(waiting);
    await journeys.tell(signUp());
    await journeys.tell(paid({ occurred_at: secondsAgo(30) }));
    expect(await sent()).toEqual([]);
    await link();
    expect(await isHinted()).toBe(true);
    await journeys.settle();
    expect(await sent()).toEqual(['thanks']);
  });

  test('goes on as well when a page links the device by who signs in there', async () => {
    await journeys.activate(waiting);
    await journeys.tell(signUp());
    await journeys.tell(paid({ occurred_at: secondsAgo(30) }));
    await post('/v1/identify', { external_id: 'ann', anonymous_id: 'phone' });
    await journeys.settle();
    expect(await sent()).toEqual(['thanks']);
  });

  test('waits on when it happened there before the run began, and looks no sooner again', async () => {
    await journeys.activate(waiting);
    await journeys.tell(paid({ occurred_at: secondsAgo(90) }));
    await journeys.tell(signUp());
    await link();
    await journeys.settle();
    expect(await sent()).toEqual([]);
    const runs = await journeys.select('wake_at = waits_until as is_due', 'automations.runs');
    expect(runs).toEqual([{ is_due: true }]);
    await journeys.tell(paid());
    expect(await sent()).toEqual(['thanks']);
  });

  test('of the device goes on by what the person did', async () => {
    await journeys.activate(waiting);
    await journeys.tell(signUp(byPhone));
    await journeys.tell(
      paid({ external_id: 'ann', anonymous_id: null, occurred_at: secondsAgo(30) }),
    );
    await link();
    await journeys.settle();
    expect(await sent()).toEqual(['thanks']);
  });

  test('is not moved by a device whose link was undone, and stays where the link had brought it', async () => {
    await journeys.activate(waiting);
    await journeys.tell(signUp());
    const { link: made } = await link();
    await post(`/v1/identity-links/${made.id}/undo`);
    await journeys.tell(paid());
    await journeys.settle();
    expect(await sent()).toEqual([]);
    await journeys.pass('3 days');
    await journeys.settle();
    expect(await sent()).toEqual(['nudge']);
  });

  test('that went on by a link stays so when the link is undone', async () => {
    await journeys.activate(waiting);
    await journeys.tell(signUp());
    await journeys.tell(paid({ occurred_at: secondsAgo(30) }));
    const { link: made } = await link();
    await journeys.settle();
    await post(`/v1/identity-links/${made.id}/undo`);
    await journeys.settle();
    expect(await sent()).toEqual(['thanks']);
  });
});

describe('a goal', () => {
  const delayed = (goal: object) => ({
    settings: { re_entry: 'every_time' as const, goal: goal as never },
    entry: 'delay',
    steps: { delay: { kind: 'delay' as const, duration: 'P7D', next: 'note' }, note: note() },
  });

  test('that was reached on a device is reached when the device is linked', async () => {
    await journeys.activate(delayed({ event: 'paid', where: [] }));
    await journeys.tell(signUp());
    await journeys.tell(paid({ occurred_at: secondsAgo(30) }));
    await link();
    await journeys.settle();
    expect(await journeys.names()).toEqual(['delayed', 'goal_reached']);
  });

  test('that is a segment is reached when the device is linked to whoever came into it since', async () => {
    const { projectId } = journeys;
    const { segment_id } = await create(database, projectId, onPlan('pro'));
    await refreshOn(database, projectId);
    await journeys.activate(delayed({ segment_id }));
    await journeys.tell(signUp(byPhone));
    await post('/v1/identify', { external_id: 'ann', traits: { plan: 'pro' } });
    await refreshOn(database, projectId);
    await journeys.settle();
    expect(await journeys.names()).toEqual(['delayed']);
    await link();
    await journeys.settle();
    expect(await journeys.names()).toEqual(['delayed', 'goal_reached']);
  });
});
