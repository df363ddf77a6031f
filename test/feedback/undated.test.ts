// A feedback event without id and time is the same event for a short time only: a second complaint
// after a lift counts.
import { expect, test } from 'vitest';
import { UNDATED_MINUTES } from '../../src/feedback/keep.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { someone, webhooksOf } from './webhooks_of.ts';

const database = testDatabase();
const clock = virtualClock(database);
const api = testApi(database);
const hooks = webhooksOf(database, api);

const WINDOW_MS = UNDATED_MINUTES * 60_000;
/**
 * Some hours ago, in the middle of a window and at its bounds: where time is cut must not matter.
 */
const MIDDLE = (Math.floor(Date.now() / WINDOW_MS) - 12) * WINDOW_MS + WINDOW_MS / 2;
const BEGINNINGS = [MIDDLE, MIDDLE - WINDOW_MS / 2, MIDDLE + WINDOW_MS / 2 - 1];

const post = async (event: object) => {
  const { status, body } = await hooks.post('smtp', event, { key: api.project.hook_token });
  expect(status).toBe(200);
  return { accepted: body.accepted, duplicates: body.duplicates };
};
const at = (begin: number, afterMs: number) => clock.set(new Date(begin + afterMs));
const lift = (email: string) =>
  api.call('POST', `/v1/suppressions/${email}/lift`, {
    key: api.project.server_key,
    body: { reason: 'a mistake', lift_complaint: true },
  });

const NEW = { accepted: 1, duplicates: 0 };
const AGAIN = { accepted: 0, duplicates: 1 };

test.each(BEGINNINGS)(
  'one second inside of the window it is the same, at its bound another: %i',
  async (begin) => {
    const complaint = { event: 'complaint', recipient: someone() };
    await at(begin, 0);
    expect(await post(complaint)).toEqual(NEW);
    expect(await post(complaint)).toEqual(AGAIN);
    await at(begin, WINDOW_MS - 1_000);
    expect(await post(complaint)).toEqual(AGAIN);
    await at(begin, WINDOW_MS);
    expect(await post(complaint)).toEqual(NEW);
    expect(await post(complaint)).toEqual(AGAIN);
  },
);

test('a second complaint after a lift suppresses again; a redelivery within the window does not', async () => {
  const email = someone();
  const complaint = { event: 'complaint', recipient: email };
  await at(MIDDLE, 0);
  expect(await post(complaint)).toEqual(NEW);
  expect(await hooks.reasonOf(email)).toBe('complaint');
  expect((await lift(email)).status).toBe(200);
  await at(MIDDLE, WINDOW_MS - 1_000);
  expect(await post(complaint)).toEqual(AGAIN);
  expect(await hooks.reasonOf(email)).toBeNull();
  await at(MIDDLE, WINDOW_MS);
  expect(await post(complaint)).toEqual(NEW);
  expect(await hooks.reasonOf(email)).toBe('complaint');
});

test('with an id or a time it is the same event however long ago', async () => {
  const dated = [
    { event: 'complaint', recipient: someone(), event_id: 'e-1' },
    { event: 'complaint', recipient: someone(), occurred_at: new Date(MIDDLE).toISOString() },
  ];
  for (const complaint of dated) {
    await at(MIDDLE, 0);
    expect(await post(complaint)).toEqual(NEW);
    await at(MIDDLE, 10 * WINDOW_MS);
    expect(await post(complaint)).toEqual(AGAIN);
  }
});

test('another kind, another address or another email is another event within the window', async () => {
  const email = someone();
  await at(MIDDLE, 0);
  for (const event of [
    { event: 'complaint', recipient: email },
    { event: 'hard_bounce', recipient: email },
    { event: 'complaint', recipient: someone() },
    { event: 'complaint', recipient: email, message_id: '<a@b>' },
  ])
    expect(await post(event)).toEqual(NEW);
});

test('the same event ten times at once is one event, on both sides of where time is cut', async () => {
  for (const begin of BEGINNINGS) {
    const complaint = { event: 'complaint', recipient: someone() };
    await at(begin, 0);
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(complaint)));
    expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(1);
  }
});
