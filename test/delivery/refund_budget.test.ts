import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();

test.each(['rejected', 'deferred', 'not_started'] as const)(
  'an email that is definitely not taken (%s) gives its place back, once',
  async (outcome) => {
    const { sends, decide, unconfirmed, readBudget } = budgeted(database);
    await decide(1);
    const first = await unconfirmed();
    await sends.begin(first);
    const second = await unconfirmed();
    expect(await sends.begin(second)).toBe('queued');
    await sends.end(first.sendId, outcome, { retryAfterSeconds: 3_600 });
    expect((await readBudget())?.used).toBe(0);
    await sends.end(first.sendId, outcome, { retryAfterSeconds: 3_600 });
    expect((await readBudget())?.used).toBe(0);
    await sends.update(second.sendId, 'due_at = queued_at, status_reason = null');
    await sends.claim(second.providerId);
    expect(await sends.begin(second)).toBe('handing_off');
  },
);

test.each(['accepted', 'unknown'] as const)(
  'an email that is %s gives nothing back',
  async (outcome) => {
    const { sends, unconfirmed, readBudget } = budgeted(database);
    const send = await unconfirmed();
    await sends.begin(send);
    await sends.end(send.sendId, outcome);
    expect((await readBudget())?.used).toBe(1);
  },
);

test('what a former hour paid for is not given back to this one', async () => {
  const { sends, unconfirmed, readBudget, setBudget } = budgeted(database);
  const send = await unconfirmed();
  await sends.begin(send);
  await setBudget("window_at = window_at + interval '1 hour', used = 4");
  await sends.end(send.sendId, 'rejected');
  expect((await readBudget())?.used).toBe(4);
});
