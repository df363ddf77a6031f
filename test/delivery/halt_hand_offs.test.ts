// An automation that is paused or archived: nothing of it is handed over.
import { expect, test } from 'vitest';
import { cancelHalted, cancelQueued, goOnSending, haltSends } from '../../src/delivery/halts.ts';
import { releasePaused } from '../../src/delivery/halt_queries.ts';
import type { Halt } from '../../src/delivery/halt_queries.ts';
import { putOffSends } from '../../src/delivery/claim_queries.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { insertBareProvider } from '../support/bare_provider.ts';
import { testDatabase } from '../support/database.ts';
import { cap, limitedSends, QUIET_NOW } from './limited.ts';
import { OWNER } from './one_send.ts';

const database = testDatabase();
const HOUR = 3_600;

const opened = () => {
  const world = limitedSends(database);
  const { sends } = world;
  const halt = ({ automationId }: NewSend, stop: Halt) =>
    sends.within((scope) => haltSends(scope, automationId, stop));
  const release = async ({ automationId, providerId }: NewSend, sendsMax = 100) => {
    await insertBareProvider(database, world.projectId, providerId);
    return sends.within((scope) => releasePaused(scope, automationId, sendsMax));
  };
  const goOn = async (send: NewSend) => {
    await sends.within((scope) => goOnSending(scope, send.automationId));
    await release(send);
  };
  const putOff = async (...asked: NewSend[]) => [
    ...(await sends.within((scope) =>
      putOffSends(
        scope,
        asked.map(({ sendId }) => sendId),
        OWNER,
      ),
    )),
  ];
  const claimed = async ({ providerId }: NewSend) =>
    (await sends.claim(providerId)).map(({ may_be_limited }) => may_be_limited);
  return { ...world, halt, goOn, release, putOff, claimed };
};
const PAUSED = { status: 'queued', status_reason: 'automation_paused', lease_owner: null };

test('what is claimed of a paused one waits an hour at a time; others, and tests, are handed over', async () => {
  const { sends, person, plan, halt, putOff, claimed, waitsFor } = opened();
  const paused = await plan(await person(), { limits: QUIET_NOW });
  const { automationId } = paused;
  const tried = await plan(await person(), { automationId, isTest: true });
  const free = await plan(await person());
  await halt(paused, 'automation_paused');
  for (const [send, may] of [
    [paused, true],
    [tried, false],
    [free, false],
  ] as const)
    expect(await claimed(send)).toEqual([may]);
  expect(await putOff(tried, paused, free)).toEqual([paused.sendId]);
  expect(await sends.read(paused.sendId)).toMatchObject({ ...PAUSED, attempt_count: 0 });
  expect(await waitsFor(paused.sendId)).toBeGreaterThan(0.9 * HOUR);
  expect(await waitsFor(paused.sendId)).toBeLessThanOrEqual(HOUR);
  for (const send of [tried, free]) expect(await sends.begin(send)).toBe('handing_off');
});

test('one that is paused after the claim is not begun, whatever else keeps it', async () => {
  const { sends, person, leased, halt, waitsFor } = opened();
  const [bare, limited] = [
    await leased(await person()),
    await leased(await person(), { limits: cap() }),
  ];
  for (const send of [bare, limited]) {
    await halt(send, 'automation_paused');
    expect(await sends.begin(send)).toBe('queued');
    expect(await sends.read(send.sendId)).toMatchObject({ ...PAUSED, attempt_count: 0 });
    expect(await waitsFor(send.sendId)).toBeGreaterThan(0.9 * HOUR);
  }
  const both = await leased(await person());
  await halt(both, 'automation_paused');
  await sends.update(both.sendId, "expires_at = now() - interval '1 ms'");
  expect(await sends.begin(both)).toBe('expired');
});

test.each([
  ['archived', 'automation_archived'],
  ['deleted', 'automation_deleted'],
] as const)(
  'of an automation that is %s nothing is begun: it is cancelled, and says why',
  async (_, stop) => {
    const { sends, person, leased, halt, putOff } = opened();
    const [begun, claimed, tried] = [
      await leased(await person()),
      await leased(await person()),
      await leased(await person(), { isTest: true }),
    ];
    for (const send of [begun, claimed, tried]) await halt(send, stop);
    expect(await sends.begin(begun)).toBe('cancelled');
    expect(await putOff(claimed, tried)).toEqual([]);
    const ids = [claimed, tried].map(({ sendId }) => sendId);
    expect(await sends.within((scope) => cancelHalted(scope, ids))).toEqual(
      new Set([claimed.sendId]),
    );
    for (const { sendId } of [begun, claimed])
      expect(await sends.read(sendId)).toMatchObject({
        status: 'cancelled',
        status_reason: stop,
      });
    expect(await sends.begin(tried)).toBe('handing_off');
  },
);

test('what waited goes on when its automation does, in the order in which it was planned', async () => {
  const { sends, person, plan, halt, goOn, release, putOff, claimed } = opened();
  const first = await plan(await person());
  const { automationId, providerId } = first;
  const others = [
    await plan(await person(), { automationId, providerId }),
    await plan(await person(), { automationId, providerId }),
  ];
  const elsewhere = await plan(await person());
  const all = [first, ...others];
  for (const send of [first, elsewhere]) {
    await halt(send, 'automation_paused');
    await claimed(send);
  }
  await putOff(...all, elsewhere);
  expect(await release(first, 2)).toBe(2);
  const reasons = async () => {
    const { rows } = await database.owner.query<{ status_reason: string | null }>(
      'select status_reason from delivery.sends where automation_id = $1 order by send_id',
      [first.automationId],
    );
    return rows.map(({ status_reason }) => status_reason);
  };
  expect(await reasons()).toEqual([null, null, 'automation_paused']);
  await goOn(first);
  expect(await reasons()).toEqual([null, null, null]);
  expect(await claimed(first)).toEqual([false, false, false]);
  expect(await sends.read(elsewhere.sendId)).toMatchObject(PAUSED);
});

test('whoever lets it go on waits for who is putting off, and misses nothing', async () => {
  const { projectId, sends, person, leased, halt, goOn, claimed } = opened();
  const send = await leased(await person());
  await halt(send, 'automation_paused');
  const putting = await connectTo(database, projectId);
  await putting.query('begin');
  const { rowCount } = await putting.query('select delivery.put_off_sends($1, $2, $3)', [
    projectId,
    [send.sendId],
    OWNER,
  ]);
  expect(rowCount).toBe(1);
  const going = goOn(send);
  await untilWaiting(database);
  expect(await isSettled(going)).toBe(false);
  await putting.query('commit');
  await going;
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued', status_reason: null });
  expect(await claimed(send)).toEqual([false]);
});

test('a halt that is just being lifted is waited for by nobody', async () => {
  const { projectId, sends, person, leased, halt, putOff } = opened();
  const [claimed, begun] = [await leased(await person()), await leased(await person())];
  for (const send of [claimed, begun]) await halt(send, 'automation_paused');
  const lifting = await connectTo(database, projectId);
  await lifting.query('begin');
  await lifting.query('delete from delivery.halts where project_id = $1', [projectId]);
  expect(await putOff(claimed)).toEqual([]);
  expect(await sends.begin(begun)).toBe('handing_off');
  await lifting.query('commit');
});

test('queued email of an archived automation is cancelled in pieces, that of others and of tests is not', async () => {
  const { projectId, sends, person, plan, halt } = opened();
  const first = await plan(await person());
  const { automationId, providerId } = first;
  const second = await plan(await person(), { automationId, providerId });
  const other = await plan(await person(), { providerId });
  const tried = await plan(await person(), { automationId, providerId, isTest: true });
  await insertBareProvider(database, projectId, providerId);
  await halt(first, 'automation_archived');
  const cancel = () =>
    sends.within((scope) =>
      cancelQueued(scope, automationId, { stop: 'automation_archived', sendsMax: 1 }),
    );
  expect([await cancel(), await cancel(), await cancel()]).toEqual([1, 1, 0]);
  for (const { sendId } of [first, second])
    expect(await sends.read(sendId)).toMatchObject({
      status: 'cancelled',
      status_reason: 'automation_archived',
    });
  for (const { sendId } of [other, tried])
    expect(await sends.read(sendId)).toMatchObject({ status: 'queued' });
});
