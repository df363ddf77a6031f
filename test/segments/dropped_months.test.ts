// Months of the timeline go when they are old. What was counted of them stays, for as long as it is asked for.
import { expect, test } from 'vitest';
import dropPartitions from '../../tasks/ingest/drop_partitions.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { identify } from '../../src/profiles/identify.ts';
import { createProject } from '../../src/projects/projects.ts';
import { explain } from '../../src/segments/explain.ts';
import { Definition } from '../../src/segments/schema.ts';
import type { Condition } from '../../src/segments/schema.ts';
import { todayAt } from '../../src/segments/segments.ts';
import { connectAs } from '../base/connections.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { DEFAULTS } from '../support/defaults.ts';
import { asWorker, workOn } from '../support/work_on.ts';
import { create, listKept, refreshOn } from './recount.ts';

const { retentionMonths } = DEFAULTS;
const database = testDatabase();

test('members stay when the months go that made them so; who asks anew finds what is there', async () => {
  const { project_id: projectId } = await createProject(database.deps, 'test');
  const { owner, deps } = database;
  await owner.query(`select ingest.keep_partitions(${retentionMonths + 2}, 3)`);
  const now = new Date();
  const old = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - retentionMonths - 1, 5));
  const order = (at: Date, total: number) =>
    newEvent({
      name: 'order_completed',
      occurred_at: at.toISOString(),
      properties: JSON.stringify({ total }),
    });
  await acceptEvents(deps.db, projectId, newId(), [order(old, 5), order(now, 7)]);
  await workOn(database, projectId);
  const twice = (...where: object[]): Condition =>
    Definition.parse({
      where: {
        kind: 'event',
        event: 'order_completed',
        where,
        count: { is: 'at_least', value: 2 },
      },
    }).where;
  const early = Definition.parse({
    where: {
      kind: 'event_time',
      event: 'order_completed',
      occurrence: 'first',
      test: { is: 'before', value: new Date(old.getTime() + 1).toISOString() },
    },
  }).where;
  const make = async (where: Condition) => {
    const { segment_id } = await create(database, projectId, where);
    await refreshOn(database, projectId);
    return segment_id;
  };
  const before = [await make(twice()), await make(early)];
  for (const id of before) expect(await listKept(database, id)).toHaveLength(1);

  const jobs = await connectAs(database, 'trunkline_queue');
  await dropPartitions({ ...asWorker(database), jobs })({}, undefined as never);
  const { rows } = await owner.query('select from ingest.events where project_id = $1', [
    projectId,
  ]);
  expect(rows).toHaveLength(1);
  await identify(
    deps,
    { projectId, kind: 'server' },
    { external_id: 'ann', traits: { plan: 'pro' } },
  );
  await refreshOn(database, projectId);
  for (const id of before) expect(await listKept(database, id)).toHaveLength(1);

  // The same is asked already, so it is known of as far back; of what nobody asked, nothing is left.
  expect(await listKept(database, await make({ kind: 'all', of: [twice()] }))).toHaveLength(1);
  const priced = twice({ property: 'total', test: { is: 'greater', value: 1 } });
  expect(await listKept(database, await make(priced))).toHaveLength(0);

  const [profileId = ''] = await listKept(database, before[0] ?? '');
  const today = todayAt(now);
  const explained = await inProject(deps, projectId, (scope) =>
    explain(scope, Definition.parse({ where: twice() }), { profileId, today }),
  );
  expect(explained).toMatchObject({ is_member: true, where: { holds: true, value: 2 } });
  expect(explained?.where.events).toHaveLength(1);
});
