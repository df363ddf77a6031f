import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import { testDatabase } from '../support/database.ts';
import { sendsOf, unresolved } from './one_send.ts';

const database = testDatabase();

const isOut = async (projectId: string, sendId: string, status: string): Promise<boolean> =>
  (
    await database.owner.query('select delivery.may_be_out($1, $2, $3) as is_out', [
      projectId,
      sendId,
      status,
    ])
  ).rows[0].is_out;

test.each(SEND_STATUSES)('%s says whether somebody may have got it', async (status) => {
  const projectId = newId();
  const { sendId } = await sendsOf(database, projectId).handingOff();
  const isSo = ['handing_off', 'accepted', 'unknown'].includes(status);
  expect(await isOut(projectId, sendId, status)).toBe(isSo);
});

test('one that waits to be sent again may be out, until somebody has found that it is not', async () => {
  const { projectId, send } = await unresolved(database);
  expect(await isOut(projectId, send.sendId, 'queued')).toBe(true);
  await database.owner.query(
    "update delivery.attempts set reason = 'resolved' where send_id = $1",
    [send.sendId],
  );
  expect(await isOut(projectId, send.sendId, 'queued')).toBe(false);
});
