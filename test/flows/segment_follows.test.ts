// A worker in a process of its own keeps members up to date, whoever wakes it or nobody.
import { expect, test } from 'vitest';
import { accept } from '../../src/ingest/ingest.ts';
import { identify } from '../../src/profiles/identify.ts';
import { create, listKept, ordered } from '../segments/recount.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const world = testWorld();

test('people enter and leave within seconds of what happens to them', async () => {
  const { project_id: projectId } = world.project;
  const caller = { projectId, kind: 'server' as const };
  await world.start('worker');
  const { segment_id } = await create(world, projectId, {
    kind: 'all',
    of: [ordered(30), { kind: 'trait', trait: 'plan', test: { is: 'not_equals', value: 'free' } }],
  });
  const untilMembers = (what: string, count: number) =>
    until(what, async () => (await listKept(world, segment_id)).length === count, 15_000);

  await accept(world.deps, caller, {
    events: [{ event: 'order_completed', external_id: 'ann' }],
  });
  await untilMembers('Ann is in for what she did', 1);
  // Nobody wakes a worker for this: the sweeper finds that she changed.
  await identify(world.deps, caller, { external_id: 'ann', traits: { plan: 'free' } });
  await untilMembers('Ann is out for what she is', 0);
  const { rows } = await world.owner.query(
    'select change, cause from segments.history where segment_id = $1 order by entry',
    [segment_id],
  );
  expect(rows.at(-1)).toEqual({ change: 'left', cause: 'change' });
}, 60_000);
