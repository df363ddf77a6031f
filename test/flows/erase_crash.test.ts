import { describe, expect, test } from 'vitest';
import { accept } from '../../src/ingest/ingest.ts';
import { inProject } from '../../src/base/db.ts';
import { listProfiles } from '../../src/profiles/profiles.ts';
import { askToErase } from '../support/erase.ts';
import { findRemains } from '../support/remains.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;

describe.concurrent.each(['after_erase_step', 'before_erase_done'])(
  'a worker killed %s',
  (failpoint) => {
    const world = testWorld();

    test('leaves an erase that another worker ends', { timeout: TEST_TIMEOUT_MS }, async () => {
      const { project_id: projectId } = world.project;
      const doomed = await world.start('worker', { TEST_FAILPOINT: failpoint });
      await world.signUp('ann', 'bob');
      await until('both are mailed', async () => {
        const sends = [...(await world.sendsTo('ann')), ...(await world.sendsTo('bob'))];
        return sends.filter(({ status }) => status === 'accepted').length === 2;
      });
      const [ann] = await inProject(world.deps, projectId, (scope) =>
        listProfiles(scope, { by: 'external', value: 'ann' }),
      );
      await accept(
        world.deps,
        { projectId, kind: 'server' },
        {
          events: Array.from({ length: 20 }, () => ({ event: 'seen', external_id: 'ann' })),
        },
      );

      // Nobody is hinted at: the sweeper finds what is pending.
      const erasureId = await askToErase(world, projectId, ann?.id ?? '');
      await until('the worker is killed', () => doomed.child.signalCode === 'SIGKILL');
      const statusOf = async () => {
        const { rows } = await world.owner.query<{ status: string }>(
          'select status from profiles.erasures where erasure_id = $1',
          [erasureId],
        );
        return rows[0]?.status;
      };
      expect(await statusOf()).toBe('pending');

      await world.start('worker');
      await until('the erase is done', async () => (await statusOf()) === 'done');
      // The one worker that lives ended it once: the one that was killed had left it pending.
      const { rows: ended } = await world.owner.query(
        'select erased from profiles.erase_counts where project_id = $1',
        [projectId],
      );
      expect(ended).toEqual([{ erased: 1 }]);
      expect(await findRemains(world.owner, [addressOf('ann')])).toEqual([]);
      const { rows } = await world.owner.query<{ events: number }>(
        `select count(*)::int as events from ingest.events where external_id = 'ann'`,
      );
      expect(rows).toEqual([{ events: 0 }]);
      expect(await world.sendsTo('bob')).toMatchObject([{ status: 'accepted' }]);
    });
  },
);
