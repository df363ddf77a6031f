// A suppression of any spelling of a mailbox stops browser-triggered email to it. Email of a server checks its own
// address alone.
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { stepHandOffs } from '../../src/delivery/hand_off_queries.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { addressIn } from '../suppression/said.ts';
import { testDatabase } from '../support/database.ts';
import { BROWSER_TRIGGERED, budgeted } from './budgeted.ts';
import { addressKeyOf, beginOver, newSend } from './one_send.ts';

const database = testDatabase();
const [PLAIN, SHOP] = ['v@example.com', 'v+shop@example.com'];
const MAILBOX = addressKeyOf(PLAIN);

/** A project that emailed both spellings of a mailbox. */
const emailed = async () => {
  const opened = budgeted(database);
  const { projectId, sends, handedOver, person } = opened;
  await opened.decide(200, 50);
  for (const recipient of [PLAIN, SHOP])
    await handedOver(await person(), '2 days', {
      recipient,
      mailboxKey: recipient === PLAIN ? null : MAILBOX,
    });
  const addressOf = (email: string) =>
    addressIn(database, projectId, Buffer.from(addressKeyOf(email)));
  const newTo = (recipient: string, given: Partial<NewSend> = {}): NewSend =>
    newSend({ recipient, mailboxKey: MAILBOX, limits: BROWSER_TRIGGERED, ...given });
  const stands = async ({ sendId }: NewSend) => {
    const { status, status_reason } = await sends.read(sendId);
    return status_reason === null ? status : `${status}/${status_reason}`;
  };
  const planned = async (send: NewSend) => {
    await sends.plan(send);
    return stands(send);
  };
  /** Planned and leased, as it is before its hand-off. */
  const leased = async (send: NewSend): Promise<NewSend> => {
    await sends.plan(send);
    await sends.claim(send.providerId);
    return send;
  };
  return { ...opened, addressOf, newTo, planned, leased, stands };
};

const DIRECTIONS = [
  ['the plain address', PLAIN, 'v+a@example.com'],
  ['another spelling', SHOP, PLAIN],
  ['another spelling', SHOP, 'v+a@example.com'],
] as const;

describe.each(DIRECTIONS)('attack: %s is %s, and a page asserts %s', (_, said, asserted) => {
  test('while it is suppressed or unsubscribed no email is planned to go', async () => {
    const { addressOf, newTo, planned } = await emailed();
    const address = addressOf(said);
    expect(await planned(newTo(asserted))).toBe('queued');
    await address.subscribe('unsubscribed');
    expect(await planned(newTo(asserted))).toBe('suppressed/unsubscribed');
    expect(await planned(newTo(asserted, { category: 'transactional' }))).toBe('queued');
    await address.suppress('manual');
    expect(await planned(newTo(asserted, { category: 'transactional' }))).toBe(
      'suppressed/suppressed',
    );
    await address.lift();
    await address.subscribe('resubscribed');
    expect(await planned(newTo(asserted))).toBe('queued');
  });

  test('what is said after the plan stops the hand-off', async () => {
    const { addressOf, newTo, leased, sends, stands } = await emailed();
    const [marketing, receipt, late] = [
      await leased(newTo(asserted)),
      await leased(newTo(asserted, { category: 'transactional' })),
      await leased(newTo(asserted, { category: 'transactional' })),
    ];
    await addressOf(said).subscribe('unsubscribed');
    expect(await sends.begin(marketing)).toBe('suppressed');
    expect(await stands(marketing)).toBe('suppressed/unsubscribed');
    expect(await sends.begin(receipt)).toBe('handing_off');
    await addressOf(said).suppress('complaint');
    expect(await sends.begin(late)).toBe('suppressed');
    expect(await stands(late)).toBe('suppressed/suppressed');
  });

  test('email that a server caused still goes', async () => {
    const { addressOf, newTo, leased, sends } = await emailed();
    await addressOf(said).suppress('manual');
    await addressOf(said).subscribe('unsubscribed');
    const capped = {
      frequency_cap: { sends: 5, per: 'P1D', of: 'project', over: 'skip' },
    } as const;
    for (const limits of [null, { ...capped, zone: 'UTC' }]) {
      const send = await leased(newTo(asserted, { limits }));
      expect(await sends.begin(send)).toBe('handing_off');
    }
  });
});

test('attack: days of emails that are stopped bring none through', async () => {
  const { addressOf, newTo, planned } = await emailed();
  await addressOf(SHOP).subscribe('unsubscribed');
  const sends = Array.from({ length: 120 }, (_, at) => newTo(`v+${at}@example.com`));
  const statuses = new Set<string>();
  for (const send of sends) statuses.add(await planned(send));
  expect(statuses).toEqual(new Set(['suppressed/unsubscribed']));
});

test('an unsubscribe of another spelling is waited for, and waits for a hand-off', async () => {
  const { projectId, newTo, leased, sends } = await emailed();
  const [first, second] = [await leased(newTo(PLAIN)), await leased(newTo(PLAIN))];
  const [handingOff, leaving] = [
    await connectTo(database, projectId),
    await connectTo(database, projectId),
  ];
  const unsubscribe = () =>
    leaving.query(
      "select suppression.change_subscription($1, $2, null, $3, 'unsubscribed', 'link', null)",
      [projectId, addressKeyOf(SHOP), newId()],
    );
  await handingOff.query('begin');
  expect(await beginOver(handingOff, projectId, first)).toBe('handing_off');
  const unsubscribed = unsubscribe();
  await untilWaiting(database);
  expect(await isSettled(unsubscribed)).toBe(false);
  await handingOff.query('rollback');
  await unsubscribed;
  await addressIn(database, projectId, Buffer.from(addressKeyOf(SHOP))).subscribe('resubscribed');

  await leaving.query('begin');
  await unsubscribe();
  const beginning = sends.begin(second);
  await untilWaiting(database);
  expect(await isSettled(beginning)).toBe(false);
  await leaving.query('commit');
  expect(await beginning).toBe('suppressed');
});

test('attack: two workers hand over to spellings of the same mailboxes in opposite order', async () => {
  const { projectId, newTo, leased, beginOf } = await emailed();
  const steps: NewSend[][] = [[], []];
  for (let at = 0; at < 12; at += 1)
    for (const [which, step] of steps.entries()) {
      const mailboxKey = addressKeyOf(at % 2 === which ? PLAIN : 'w@example.com');
      step.push(await leased(newTo(`v+${which}.${at}@example.com`, { mailboxKey })));
    }
  const decisions = await Promise.all(
    steps.map((step) =>
      stepHandOffs(
        database.deps.db,
        projectId,
        [],
        step.map((send) => beginOf(send)),
      ),
    ),
  );
  for (const decided of decisions)
    expect([...decided.values()]).toEqual(Array(12).fill('handing_off'));
});
