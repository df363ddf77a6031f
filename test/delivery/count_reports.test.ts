import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { recordFacts, recordRefused } from '../../src/delivery/delivery.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();
const AT = new Date('2026-01-31T12:00:00Z');

const countsOf = async (projectId: string) =>
  (
    await database.owner.query<{ sent: number; bounced: number; complained: number }>(
      'select sent, bounced, complained from delivery.hourly_counts where project_id = $1',
      [projectId],
    )
  ).rows;

const withSend = async (status: string, isTest = false) => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const send = newSend({ isTest });
  await sends.plan(send);
  await sends.update(send.sendId, `status = '${status}'`);
  const tell = (...facts: Parameters<typeof recordFacts>[1][number]['fact'][]) =>
    sends.within((scope) =>
      recordFacts(
        scope,
        facts.map((fact) => ({ sendId: send.sendId, fact, occurredAt: AT })),
      ),
    );
  return { projectId, sends, send, tell };
};

test('counts the first bounce and the first complaint of a send, however often they are reported', async () => {
  const { projectId, tell } = await withSend('accepted');
  await tell('bounced', 'complained', 'delivered');
  await tell('bounced', 'complained');
  expect(await countsOf(projectId)).toEqual([{ sent: 0, bounced: 1, complained: 1 }]);
});

test('counts a bounce for good that follows a soft one, and no soft bounce', async () => {
  const { projectId, tell } = await withSend('accepted');
  await tell('soft_bounced');
  expect(await countsOf(projectId)).toEqual([]);
  await tell('bounced');
  expect(await countsOf(projectId)).toEqual([{ sent: 0, bounced: 1, complained: 0 }]);
});

test('counts a bounce at the hand-off as sent and bounced', async () => {
  const { projectId, sends, send } = await withSend('rejected');
  const refused = [{ sendId: send.sendId, occurredAt: AT }];
  await sends.within((scope) => recordRefused(scope, refused));
  expect(await countsOf(projectId)).toEqual([{ sent: 1, bounced: 1, complained: 0 }]);
});

test('counts nothing of tests', async () => {
  const { projectId, tell } = await withSend('accepted', true);
  await tell('bounced', 'complained');
  expect(await countsOf(projectId)).toEqual([]);
});

test('two transactions that count for one provider at once count both', async () => {
  const { projectId, tell } = await withSend('accepted');
  await Promise.all([tell('bounced'), tell('complained')]);
  expect(await countsOf(projectId)).toEqual([{ sent: 0, bounced: 1, complained: 1 }]);
});
