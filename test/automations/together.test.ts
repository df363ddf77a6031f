// Runs that are walked together ask together, and still see what those before them did.
import { expect, test } from 'vitest';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { journeysOf } from './journeys.ts';

const database = testDatabase();
const WAIT = { kind: 'delay' as const, duration: 'P1D' };

test('a run sees what another told of the same person in the same transaction', async () => {
  const { projectId, activate, tell, advance, pass, select } = journeysOf(database);
  const settings = { re_entry: 'every_time' as const };
  const told = { kind: 'update_profile' as const, traits: { stage: 'done' }, next: null };
  await activate({
    settings,
    entry: 'wait',
    steps: { wait: { ...WAIT, next: 'tell' }, tell: told },
  });
  const look = {
    kind: 'branch' as const,
    branches: [
      {
        when: [
          {
            on: 'profile' as const,
            filters: [{ property: 'stage', is: 'equals' as const, value: 'done' }],
          },
        ],
        next: 'yes',
      },
    ],
    otherwise: null,
  };
  const yes = { kind: 'exit' as const };
  await activate(
    { settings, entry: 'wait', steps: { wait: { ...WAIT, next: 'look' }, look, yes } },
    'looks',
  );
  await tell(newEvent({ external_id: 'ann' }));
  await pass('1 day');
  await database.owner.query(
    `update automations.runs as run set wake_at = wake_at - interval '1 hour'
    from automations.automations as automation
    where automation.project_id = $1 and automation.automation_id = run.automation_id and automation.name <> 'looks'`,
    [projectId],
  );
  await advance();
  const outcomes = await select('outcome', 'automations.runs');
  expect(outcomes.map(({ outcome }) => outcome as string).toSorted()).toEqual([
    'completed',
    'exited',
  ]);
});
