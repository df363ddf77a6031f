// Why people were not enrolled goes with the events that it is about.
import { expect, test } from 'vitest';
import {
  FIRST_REFUSAL,
  PRUNED_REFUSALS_MAX,
  pruneRefusals,
} from '../../src/automations/prune_refusals.ts';
import { newId } from '../../src/base/ids.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { copy, journeysOf } from './journeys.ts';

const database = testDatabase();
const HOUR_MS = 3_600_000;
const hoursAhead = (hours: number) => new Date(Date.now() + hours * HOUR_MS);

const opened = async () => {
  const journeys = journeysOf(database);
  const automationId = await journeys.activate({ entry: 'a', steps: { a: copy({ x: 'x' }) } });
  const ask = (text: string, ...values: unknown[]) =>
    database.owner.query(text, [journeys.projectId, ...values]);
  const listed = async () => (await journeys.select('identity_id', 'automations.refusals')).length;
  const prune = (before: Date, after = FIRST_REFUSAL) =>
    journeys.within((scope) => pruneRefusals(scope, before, after));
  return { ...journeys, automationId, ask, listed, prune };
};

test('refusals from before a moment go, younger ones stay', async () => {
  const { tell, ask, listed, prune } = await opened();
  const bob = { external_id: 'bob' };
  await tell(newEvent(), newEvent(bob));
  await tell(newEvent(), newEvent(bob));
  expect(await listed()).toBe(2);
  await ask(
    `update automations.refusals set refused_at = now() + interval '2 hours' where project_id = $1 and identity_id = (
      select identity_id from identity.identities where project_id = $1 and value = 'bob')`,
  );
  expect(await prune(hoursAhead(-1))).toEqual({ pruned: 0, after: null });
  expect(await prune(hoursAhead(1))).toEqual({ pruned: 1, after: null });
  expect(await listed()).toBe(1);
  // The next one is noted again.
  await tell(newEvent());
  expect(await listed()).toBe(2);
});

test('one batch takes a bounded number, and goes on behind it; a locked one is left', async () => {
  const { automationId, ask, listed, prune } = await opened();
  await ask(
    `insert into automations.refusals (project_id, automation_id, identity_id, reason, event_id, event_at, refused_at)
    select $1, $2, gen_random_uuid(), 'late', $3, now(), now() from generate_series(1, $4)`,
    automationId,
    newId(),
    PRUNED_REFUSALS_MAX + 2,
  );
  await database.owner.query('begin');
  await ask(
    `select from automations.refusals where project_id = $1 and identity_id = (
      select identity_id from automations.refusals where project_id = $1 order by identity_id limit 1) for update`,
  );
  const first = await prune(hoursAhead(1));
  expect(first.pruned).toBe(PRUNED_REFUSALS_MAX - 1);
  expect(await prune(hoursAhead(1), first.after ?? '')).toEqual({ pruned: 2, after: null });
  await database.owner.query('rollback');
  expect(await listed()).toBe(1);
  expect(await prune(hoursAhead(1))).toEqual({ pruned: 1, after: null });
});
