import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();

const countsOf = async (projectId: string) =>
  (
    await database.owner.query(
      `select provider_id, sent, bounced, complained, hour = date_trunc('hour', now(), 'UTC') as is_now
      from delivery.hourly_counts where project_id = $1 order by provider_id`,
      [projectId],
    )
  ).rows;

test('counts accepted sends for their providers, and neither tests nor others', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const [first, second] = [newId(), newId()];
  const planned = async (providerId: string, status: string, isTest = false) => {
    const send = newSend({ providerId, isTest });
    await sends.plan(send);
    await sends.update(send.sendId, `status = '${status}'`);
    return send.sendId;
  };
  const ids = [
    await planned(first, 'accepted'),
    await planned(first, 'accepted'),
    await planned(first, 'rejected'),
    await planned(first, 'accepted', true),
    await planned(second, 'accepted'),
  ];
  const count = () => database.owner.query('select delivery.count_sent($1, $2)', [projectId, ids]);
  await count();
  const none = { bounced: 0, complained: 0, is_now: true };
  expect(await countsOf(projectId)).toEqual([
    { provider_id: first, sent: 2, ...none },
    { provider_id: second, sent: 1, ...none },
  ]);
  await count();
  expect(await countsOf(projectId)).toMatchObject([{ sent: 4 }, { sent: 2 }]);
});

test('counts nothing of another project', async () => {
  const sends = sendsOf(database, newId());
  const send = newSend();
  await sends.plan(send);
  await sends.update(send.sendId, `status = 'accepted'`);
  const other = newId();
  await database.owner.query('select delivery.count_sent($1, $2)', [other, [send.sendId]]);
  expect(await countsOf(other)).toEqual([]);
});
