// Links and undos of the past: a simulation has the same runs end and continue, and the same emails left out, as the
// automation does that is live.
import { expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { testDatabase } from '../support/database.ts';
import { mail } from './journeys.ts';
import { ago, event, pastsIn } from './past_script.ts';
import type { Happening } from './past_world.ts';

const database = testDatabase();
const begin = pastsIn(database);

const WAIT = { kind: 'wait_for_event' as const, event: 'paid', where: [], on_timeout: null };
const SERIES: Partial<NewDefinition> = {
  trigger: { kind: 'event', event: 'go' },
  settings: { re_entry: 'once' },
  entry: 'wait',
  steps: {
    wait: { ...WAIT, timeout: 'P20D', next: 'first' },
    first: mail('rest'),
    rest: { kind: 'delay', duration: 'P3D', next: 'second' },
    second: mail(),
  },
};
const link = (days: number, device = 'd0', who = 'p0'): Happening => ({
  kind: 'link',
  at: ago(days),
  who,
  device,
});
const unlink = (days: number, device = 'd0', who = 'p0'): Happening => ({
  kind: 'unlink',
  at: ago(days),
  who,
  device,
});

/** What was decided live and in a simulation, of each run the same, the oldest first. */
const decide = async (script: readonly Happening[]) => {
  const world = await begin();
  const automationId = await world.activate('Live', SERIES as NewDefinition);
  await world.live(...script);
  const { rows } = await database.owner.query<{
    run_id: string;
    stand: string;
    said: string | null;
  }>(
    `select run.run_id, coalesce(run.outcome, 'inside') as stand,
      string_agg(concat_ws(' ', log.decision, log.detail ->> 'reason'), ', ' order by log.entry) as said
    from automations.runs as run
    left join automations.run_log as log on log.project_id = $1 and log.run_id = run.run_id
    where run.project_id = $1 and run.automation_id = $2 group by run.run_id, stand order by run.run_id`,
    [world.projectId, automationId],
  );
  const simulated = await world.simulated(SERIES);
  const bare = (said: string) => said.replaceAll(/ [a-z_]+/g, '').replaceAll(',', ', ');
  expect(
    simulated.sample
      .toSorted((a, b) => (a.entered_at < b.entered_at ? -1 : 1))
      .map(({ outcome, decisions }) => [
        outcome,
        decisions.map(({ decision }) => decision).join(', '),
      ]),
  ).toEqual(rows.map(({ stand, said }) => [stand, bare((said ?? '').replaceAll(', ', ','))]));
  return rows.map(({ stand, said }) => `${stand}: ${said}`);
};

test('the younger run ends with the link, and continues with the undo', async () => {
  const script = [event('go', 'd0', 10), event('go', 'p0', 9), link(8), unlink(6)];
  expect(await decide(script.slice(0, 3))).toEqual([
    'inside: waits_for_event',
    'merged: waits_for_event, merged',
  ]);
  expect(await decide(script)).toEqual([
    'inside: waits_for_event',
    'inside: waits_for_event, merged, restored',
  ]);
});

test('an email that the other run sent is left out, and the undo says so', async () => {
  expect(
    await decide([
      event('go', 'd0', 10),
      event('go', 'p0', 9),
      event('paid', 'p0', 8),
      link(7),
      unlink(6),
    ]),
  ).toEqual([
    'completed: waits_for_event, event_came, sent_by_other_run, delayed, ' +
      'not_restored email_left_out, delay_over, no_address',
    'completed: waits_for_event, event_came, send_queued, delayed, merged, restored, delay_over, send_queued',
  ]);
});

test('an email that went to the address of a restored run is not sent again', async () => {
  expect(
    await decide([
      event('go', 'd0', 10),
      event('go', 'p0', 9),
      link(8),
      // The run of the device sends it to the address of the person.
      event('paid', 'd0', 7),
      unlink(6),
      event('paid', 'p0', 5),
    ]),
  ).toEqual([
    'completed: waits_for_event, event_came, send_queued, delayed, delay_over, no_address',
    'completed: waits_for_event, merged, restored, not_restored email_sent, event_came, ' +
      'sent_by_other_run, delayed, delay_over, send_queued',
  ]);
});

test('after a merge a person is not enrolled again under another identity', async () => {
  expect(await decide([event('go', 'd0', 10), link(8), event('go', 'p0', 7)])).toEqual([
    'inside: waits_for_event',
  ]);
});
