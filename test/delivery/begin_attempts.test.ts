import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();

test('each hand-off has its attempt, with its Message-ID and when it began', async () => {
  const { projectId, sends, unconfirmed, readBudget } = budgeted(database);
  const send = await unconfirmed();
  await sends.begin(send);
  const { rows } = await database.owner.query(
    `select tried.attempt, tried.message_id, tried.started_at = send.handed_off_at as is_then
     from delivery.attempts as tried join delivery.sends as send using (project_id, send_id)
     where project_id = $1`,
    [projectId],
  );
  const messageId = `<${send.sendId}.1@example.com>`;
  expect(rows).toEqual([{ attempt: 1, message_id: messageId, is_then: true }]);
  expect((await readBudget())?.used).toBe(1);
});
