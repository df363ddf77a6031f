// What a send shows is the strongest fact that is true of it, in whatever order its provider
// reports.
import { describe, expect, test } from 'vitest';
import { readSend } from '../../src/delivery/delivery.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { testDatabase } from '../support/database.ts';
import { at, delivery, newNotice, projectTold, softBounce } from './project_told.ts';

const database = testDatabase();

const hard = (minute: number) =>
  newNotice({
    kind: 'bounced',
    bounceType: 'hard',
    suppresses: 'hard_bounce',
    occurredAt: at(minute),
  });
const of = (kind: Notice['kind'], minute: number, given: Partial<Notice> = {}) =>
  newNotice({ kind, occurredAt: at(minute), ...given });

/** Every order of some events. */
const orders = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((one, nth) =>
        orders(items.filter((_, other) => other !== nth)).map((rest) => [one, ...rest]),
      );

const shownAfter = async (notices: readonly Notice[]): Promise<string> => {
  const { sends, accepted, tell } = projectTold(database);
  const sendId = await accepted();
  for (const notice of notices) await tell({ ...notice, sendId });
  const send = await sends.within((scope) => readSend(scope, sendId));
  return String(send?.status);
};

describe.each<[string, Notice[], string]>([
  ['a soft bounce, then a delivery', [softBounce(1), delivery(2)], 'delivered'],
  ['a delivery, then a soft bounce', [delivery(1), softBounce(2)], 'bounced'],
  [
    'a soft bounce, a delivery, a soft bounce',
    [softBounce(1), delivery(2), softBounce(3)],
    'bounced',
  ],
  ['two soft bounces, then a delivery', [softBounce(1), softBounce(2), delivery(3)], 'delivered'],
  ['a delivery, then a hard bounce', [delivery(1), hard(2)], 'bounced'],
  ['a hard bounce, then a delivery', [hard(1), delivery(2)], 'bounced'],
  ['a hard and a soft bounce, then a delivery', [hard(1), softBounce(2), delivery(3)], 'bounced'],
  ['a delivery and an out-of-office reply', [delivery(1), of('auto_reply', 2)], 'delivered'],
  ['a delivery and a delay', [of('deferred', 1, { bounceType: 'soft' }), delivery(2)], 'delivered'],
  ['a delivery, then a complaint', [delivery(1), of('complained', 2)], 'complained'],
  ['a complaint and a hard bounce', [of('complained', 1), hard(2)], 'complained'],
  [
    'a block, then a delivery',
    [of('bounced', 1, { bounceType: 'block', suppresses: null }), delivery(2)],
    'bounced',
  ],
  ['an out-of-office reply alone', [of('auto_reply', 1)], 'accepted'],
])('%s', (_what, notices, expected) => {
  test.each(orders(notices).map((order) => [order.map(({ kind }) => kind).join(', '), order]))(
    `shows "${expected}" when told as: %s`,
    async (_order, order) => {
      expect(await shownAfter(order as Notice[])).toBe(expected);
    },
  );
});

test('a bounce from before soft bounces were told apart stays, whatever follows', async () => {
  const { sends, accepted, tell } = projectTold(database);
  const sendId = await accepted();
  await sends.update(sendId, `bounced_at = '${at(1).toISOString()}'`);
  await tell({ ...softBounce(2), sendId });
  await tell({ ...delivery(3), sendId });
  expect(await sends.read(sendId)).toMatchObject({ bounced_at: at(1), delivered_at: at(3) });
});

test('a soft bounce proves an unknown outcome, and stays its earliest sign after a delivery', async () => {
  const { sends, keyOf, tell } = projectTold(database);
  const send = await sends.handingOff({
    recipient: 'ann@example.com',
    addressKey: await keyOf('ann@example.com'),
  });
  const { sendId } = send;
  await sends.end(sendId, 'unknown', { reason: 'outcome_unknown' });
  for (const notice of [softBounce(3), delivery(4), softBounce(1)])
    await tell({ ...notice, sendId });
  expect(await sends.read(sendId)).toMatchObject({
    status: 'accepted',
    accepted_at: at(1),
    bounced_at: null,
    delivered_at: at(4),
  });
});
