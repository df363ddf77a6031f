import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLAIM_RUNS_MAX, RUN_FAILURES_MAX } from '../../src/automations/automations.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from '../ingest/some_events.ts';
import { journeysOf } from './journeys.ts';

const database = testDatabase();

const signUp = (email: string) =>
  newEvent({
    name: 'user_signed_up',
    external_id: email,
    properties: JSON.stringify({ email }),
  });

/** An address that no send can be planned to, as a bug of ours would have it. */
const BAD = 'bad@example.com';
beforeAll(() =>
  database.owner.query(
    `alter table delivery.sends add constraint a_bug check (recipient <> '${BAD}')`,
  ),
);
afterAll(() => database.owner.query('alter table delivery.sends drop constraint a_bug'));

const started = async (...emails: string[]) => {
  const journeys = journeysOf(database);
  await journeys.activate();
  await journeys.start(await journeys.flush(...emails.map(signUp)));
  return journeys;
};

test('a run that cannot be walked costs the others nothing', async () => {
  const { advance, select } = await started('ann@example.com', BAD, 'bob@example.com');
  await advance();
  const sends = await select('recipient', 'delivery.sends');
  const recipients: string[] = sends.map(({ recipient }) => recipient);
  expect(recipients.toSorted()).toEqual(['ann@example.com', 'bob@example.com']);
  const runs = await select('status, failure_count', 'automations.runs');
  expect(runs.filter(({ status }) => status === 'ended')).toHaveLength(2);
  expect(runs.filter(({ status }) => status === 'active')).toEqual([
    { status: 'active', failure_count: 1 },
  ]);
});

test('among a full claim it fails alone, and the others are walked in parts of the claim', async () => {
  const people = Array.from({ length: CLAIM_RUNS_MAX - 1 }, (_, at) => `person-${at}@example.com`);
  const { advance, select } = await started(...people.slice(0, 30), BAD, ...people.slice(30));
  await advance();
  expect(await select('recipient', 'delivery.sends')).toHaveLength(people.length);
  const runs = await select('status, failure_count', 'automations.runs');
  expect(runs).toHaveLength(CLAIM_RUNS_MAX);
  expect(runs.filter(({ status }) => status !== 'ended')).toEqual([
    { status: 'active', failure_count: 1 },
  ]);
});

test('it is tried again after twice as long each time, and given up after ten failures', async () => {
  const { projectId, advance, select, decisions } = await started(BAD);
  const waits: number[] = [];
  for (let time = 1; time < RUN_FAILURES_MAX; time += 1) {
    await advance();
    const { rows } = await database.owner.query<{ waits: number }>(
      'select extract(epoch from wake_at - now())::float8 as waits from automations.runs where project_id = $1',
      [projectId],
    );
    waits.push(rows[0]?.waits ?? NaN);
    await database.owner.query(
      "update automations.runs set wake_at = now() - interval '1 ms' where project_id = $1",
      [projectId],
    );
  }
  for (const [time, wait] of waits.entries()) {
    expect(wait).toBeLessThanOrEqual(2 ** time);
    expect(wait).toBeGreaterThan(2 ** time - 5);
  }
  expect(await select('status', 'automations.runs')).toEqual([{ status: 'active' }]);
  expect(await decisions()).toEqual([]);
  await advance();
  expect(await select('status, failure_count', 'automations.runs')).toEqual([
    { status: 'failed', failure_count: RUN_FAILURES_MAX },
  ]);
  expect(await decisions()).toMatchObject([{ decision: 'run_failed' }]);
  expect(RUN_FAILURES_MAX).toBe(10);
});

test('a failed run is not taken up again', async () => {
  const { projectId, advance, select } = await started(BAD);
  await database.owner.query(
    'update automations.runs set failure_count = $1 where project_id = $2',
    [RUN_FAILURES_MAX - 1, projectId],
  );
  for (let time = 0; time < 3; time += 1) await advance();
  expect(await select('status, failure_count', 'automations.runs')).toEqual([
    { status: 'failed', failure_count: RUN_FAILURES_MAX },
  ]);
});
