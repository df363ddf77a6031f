import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, rowsRead } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

test('a claim reads no more than it takes, whatever the statistics say, and half of it at least is new', async () => {
  const projectId = newId();
  await database.owner.query('analyze delivery.ended');
  await database.owner.query(
    `insert into delivery.ended (project_id, step_id, send_ids, ended_at, failure_count, retry_at)
    select $1, gen_random_uuid(), '{}', now(), at % 3,
      case at % 3 when 1 then now() + interval '1 hour' when 2 then now() end
    from generate_series(1, 6000) as at`,
    [projectId],
  );
  const client = await connectTo(database, projectId);
  await client.query('begin');
  const { rows } = await client.query<{ step_id: string }>(
    'select step_id from delivery.claim_ended(project_id => $1, notes_max => 10)',
    [projectId],
  );
  expect(await rowsRead(client, 'delivery.ended')).toBeLessThanOrEqual(40);
  const { rows: claimed } = await client.query(
    `select count(*) filter (where retry_at is null)::integer as new, count(*)::integer as all from delivery.ended
    where project_id = $1 and step_id = any ($2)`,
    [projectId, rows.map(({ step_id }) => step_id)],
  );
  expect(claimed).toEqual([{ new: 5, all: 10 }]);
});
