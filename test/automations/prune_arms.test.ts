// A person keeps their arm of a split after the logs and runs that say it have gone.
import { describe, expect, test } from 'vitest';
import { pruneRunLogs } from '../../src/automations/prune.ts';
import { pruneRuns } from '../../src/automations/prune_runs.ts';
import { FIRST_ID } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { DELAY, withMerges } from './with_merges.ts';

const database = testDatabase();
/** As if everything had been long ago. */
const later = () => new Date(Date.now() + 86_400_000);

const opened = async () => {
  const world = withMerges(database);
  const automationId = await world.activate({
    settings: { re_entry: 'every_time' },
    entry: 'first',
    steps: {
      first: { ...DELAY, next: 'split' },
      split: {
        kind: 'split',
        ways: [
          { name: 'control', weight: 1, next: null, is_holdout: true },
          { name: 'other', weight: 7, next: null },
        ],
      },
    },
  });
  const pass = async (who: string) => {
    await world.passFor(who);
    await world.advance();
  };
  /** Enrolls devices until chance holds one out. */
  const holdOut = async (): Promise<string> => {
    for (let device = 1; ; device += 1) {
      const who = `Phone ${device}`;
      await world.know(who);
      await world.enroll(who);
      await pass(who);
      if ((await world.decided(who)).includes('held_out')) return who;
    }
  };
  const pruneLogs = () => world.within((scope) => pruneRunLogs(scope, later(), FIRST_ID));
  const prune = () => world.within((scope) => pruneRuns(scope, later(), FIRST_ID));
  const kept = () => world.select('identity_id, step_id', 'automations.arms');
  return { ...world, automationId, pass, holdOut, pruneLogs, prune, kept };
};

describe('a person whose device was held out', () => {
  test.each(['log', 'run'])('is held out after its %s has gone', async (what) => {
    // Chance holds out every eighth person anyway.
    for (let round = 0; round < 3; round += 1) {
      const world = await opened();
      await world.know('ann');
      await world.enroll('ann');
      const device = await world.holdOut();
      await world.pruneLogs();
      if (what === 'run') expect((await world.prune()).pruned).toBeGreaterThan(0);
      await world.link(device);
      await world.settle();
      await world.pass('ann');
      expect((await world.decided('ann')).at(-1)).toBe('held_out');
    }
  });
});

test('the arm of the first run is kept, once for each identity', async () => {
  const { know, enroll, pass, pruneLogs, kept, projectId, select } = await opened();
  await know('ann');
  for (const _ of [1, 2]) {
    await enroll('ann');
    await pass('ann');
  }
  const [first] = await select('run_id', 'automations.runs');
  await pruneLogs();
  expect(await kept()).toHaveLength(1);
  const { rows } = await database.owner.query(
    'select run_id from automations.arms where project_id = $1',
    [projectId],
  );
  const runs = (await select('run_id', 'automations.runs')).map(({ run_id }) => String(run_id));
  expect(first).toBeDefined();
  expect(rows).toEqual([{ run_id: runs.toSorted((a, b) => a.localeCompare(b))[0] }]);
});

test.each([
  ['a test', 'update automations.runs set is_test = true where project_id = $1'],
  [
    'an automation that is deleted',
    `update automations.automations set status = 'deleting' where project_id = $1`,
  ],
  [
    'a person who is being erased',
    'update identity.identities set erasure_id = project_id where project_id = $1',
  ],
])('of %s nothing is kept, and the log goes', async (_what, change) => {
  const { know, enroll, pass, pruneLogs, kept, projectId } = await opened();
  await know('ann');
  await enroll('ann');
  await pass('ann');
  await database.owner.query(change, [projectId]);
  expect((await pruneLogs()).pruned).toBeGreaterThan(0);
  expect(await kept()).toEqual([]);
});
