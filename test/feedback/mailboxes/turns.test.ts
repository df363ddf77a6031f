// How a mailbox is read turn by turn: how far, how often, and what happens after a failure.
import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import {
  FAILED_SECONDS_MAX,
  LOOK_BACK_DAYS,
  MESSAGES_PER_TURN_MAX,
  READ_EVERY_SECONDS,
  SEARCH_UIDS_MAX,
  SEARCHES_PER_TURN_MAX,
  STUCK_TURNS_MAX,
  waitAfterFailures,
} from '../../../src/providers/bounce_mailbox/turn.ts';
import { LEASE_SECONDS } from '../../../src/providers/bounce_mailbox/read_mailbox.ts';
import { readMailbox } from '../../../src/providers/providers.ts';
import { providersOf } from '../../providers/counterparts.ts';
import { EMAIL } from '../project_told.ts';
import { mailboxWorld } from './mailbox_world.ts';
import { dsn } from './reports.ts';

const world = mailboxWorld();
const { connect, sendToAnn, read, makeDue, imap, database } = world;
const DAY_MS = 86_400_000;

type State = {
  status: string;
  wait_seconds: number;
  read_uid: number;
  uid_validity: number | null;
  failure: string | null;
  failure_count: number;
  stuck_uid: number | null;
  stuck_count: number;
};
const stateOf = async (providerId: string): Promise<State> => {
  const { rows } = await database.owner.query<State>(
    `select status, extract(epoch from next_read_at - now())::float as wait_seconds, read_uid::int,
      uid_validity::int, failure, failure_count, stuck_uid::int, stuck_count
    from providers.bounce_mailboxes where provider_id = $1`,
    [providerId],
  );
  const [state] = rows;
  if (!state) throw new Error('no such mailbox');
  return state;
};

const filler = (nth: number): string => `From: a@b.test\r\nSubject: ${nth}\r\n\r\nHi`;
const of = (providerId: string) => ({ projectId: world.api.project.project_id, providerId });

describe('a turn', () => {
  test('is due at once for a new mailbox, and a minute after a success', async () => {
    const providerId = await connect();
    expect(await read(providerId)).toMatchObject({ result: { kind: 'read' } });
    const { wait_seconds } = await stateOf(providerId);
    expect(wait_seconds).toBeGreaterThan(READ_EVERY_SECONDS - 30);
    expect(wait_seconds).toBeLessThanOrEqual(READ_EVERY_SECONDS);
    expect(await read(providerId)).toBe(null);
  });

  test(`reads ${MESSAGES_PER_TURN_MAX} messages; the others are due at once`, async () => {
    const providerId = await connect();
    for (let nth = 0; nth <= MESSAGES_PER_TURN_MAX; nth += 1) imap.deliver(filler(nth));
    expect(await read(providerId)).toMatchObject({ readCount: MESSAGES_PER_TURN_MAX });
    expect((await stateOf(providerId)).wait_seconds).toBeLessThanOrEqual(0);
    expect(await read(providerId)).toMatchObject({ readCount: 1 });
    expect((await stateOf(providerId)).wait_seconds).toBeGreaterThan(0);
  });

  test('runs once at a time; after its lease another process takes over', async () => {
    const providerId = await connect();
    imap.deliver(filler(1));
    const { promise: going, resolve: goOn } = Promise.withResolvers<boolean>();
    const first = readMailbox(database.deps, of(providerId), { take: () => going });
    await imap.waitFor(/^UID FETCH/);
    expect(await read(providerId)).toBe(null);
    expect((await stateOf(providerId)).wait_seconds).toBeGreaterThan(LEASE_SECONDS - 60);
    await makeDue();
    expect(await read(providerId)).toMatchObject({ readCount: 1 });
    const after = await stateOf(providerId);
    goOn(false);
    await first;
    // The late end of the first turn changes nothing.
    expect((await stateOf(providerId)).read_uid).toBe(after.read_uid);
  });

  test(`looks back ${LOOK_BACK_DAYS} days in a new mailbox`, async () => {
    const providerId = await connect();
    imap.deliver(filler(1), new Date(Date.now() - (LOOK_BACK_DAYS + 1) * DAY_MS));
    imap.deliver(filler(2), new Date(Date.now() - (LOOK_BACK_DAYS - 1) * DAY_MS));
    expect(await read(providerId)).toMatchObject({ readCount: 1 });
    expect((await stateOf(providerId)).read_uid).toBe(2);
  });

  test.each([
    ['at the bound reads all', 0, 0],
    ['one past it goes on in the next turn, at once', 1, 1],
  ])(`searches ${SEARCHES_PER_TURN_MAX} times: %s`, async (_what, more, searchesLeft) => {
    const providerId = await connect();
    imap.inbox.uidNext = SEARCHES_PER_TURN_MAX * SEARCH_UIDS_MAX + 1 + more;
    const countSearches = () => imap.commands.filter((one) => one.startsWith('UID SEARCH')).length;
    await read(providerId);
    expect(countSearches()).toBe(SEARCHES_PER_TURN_MAX);
    const { read_uid, wait_seconds } = await stateOf(providerId);
    expect([read_uid, wait_seconds <= 0]).toEqual([
      SEARCHES_PER_TURN_MAX * SEARCH_UIDS_MAX,
      more > 0,
    ]);
    await read(providerId);
    expect(countSearches()).toBe(SEARCHES_PER_TURN_MAX + searchesLeft);
  });

  test('begins anew when the UIDs are new; what was read has no effect again', async () => {
    const providerId = await connect();
    const one = await sendToAnn(providerId);
    const report = dsn({ to: EMAIL, sender: one.mail.from });
    imap.deliver(filler(1));
    imap.deliver(report);
    await read(providerId);
    imap.inbox.uidValidity += 1;
    imap.inbox.messages = [];
    imap.inbox.uidNext = 1;
    imap.deliver(report);
    await makeDue();
    expect(await read(providerId)).toMatchObject({ readCount: 1, usedCount: 1 });
    expect(await stateOf(providerId)).toMatchObject({
      read_uid: 1,
      uid_validity: imap.inbox.uidValidity,
    });
    expect(await one.notices()).toHaveLength(1);
  });

  test('counts its messages and the reports among them, until the record is saved', async () => {
    const providerId = await connect();
    const counted = async () => {
      const { message_count: messages, report_count: reports } = (
        await providersOf(world.api).read(providerId)
      ).body.bounce_mailbox;
      return { messages, reports };
    };
    expect(await counted()).toEqual({ messages: 0, reports: 0 });
    const one = await sendToAnn(providerId);
    imap.deliver(filler(1));
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from }));
    await read(providerId);
    expect(await counted()).toEqual({ messages: 2, reports: 1 });
    imap.deliver(dsn({ to: EMAIL, sender: 'bounces@elsewhere.test' }));
    await makeDue();
    await read(providerId);
    expect(await counted()).toEqual({ messages: 3, reports: 1 });
    await providersOf(world.api).change(providerId, { bounce_mailbox: world.mailboxOf() });
    expect(await counted()).toEqual({ messages: 0, reports: 0 });
  });

  test('that ends between the effect and the mark repeats both, once', async () => {
    const providerId = await connect({ after_read: 'delete' });
    const one = await sendToAnn(providerId);
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from }));
    imap.play(/^UID STORE/, 'drop', 1);
    expect(await read(providerId)).toMatchObject({ result: { kind: 'failed' } });
    expect(await one.suppressed()).toMatchObject({ reason: 'hard_bounce' });
    expect(imap.inbox.messages).toHaveLength(1);
    await makeDue();
    expect(await read(providerId)).toMatchObject({ result: { kind: 'read' }, usedCount: 1 });
    expect(imap.inbox.messages).toEqual([]);
    expect(await one.notices()).toHaveLength(1);
  });
});

describe('a mailbox that fails', () => {
  test('waits longer each time, shows why, and is well after a success', async () => {
    const providerId = await connect();
    imap.play(/^SELECT/, { write: (tag) => `${tag} NO [SERVERBUG] later\r\n` }, 2);
    const waits = [];
    for (let time = 0; time < 2; time += 1) {
      await makeDue();
      await read(providerId);
      waits.push((await stateOf(providerId)).wait_seconds);
    }
    expect(waits[0]).toBeGreaterThan(20);
    expect(waits[1]).toBeGreaterThan(50);
    const shown = (await providersOf(world.api).read(providerId)).body.bounce_mailbox;
    expect(shown).toMatchObject({
      status: 'active',
      last_read_at: null,
      failure: { reason: 'bounce_mailbox_unusable', fix: expect.any(String) },
    });
    await makeDue();
    await read(providerId);
    expect(await stateOf(providerId)).toMatchObject({ failure: null, failure_count: 0 });
    const well = (await providersOf(world.api).read(providerId)).body.bounce_mailbox;
    expect(well).toMatchObject({ failure: null, last_read_at: expect.any(String) });
  });

  test(`waits ${FAILED_SECONDS_MAX} seconds at most`, () => {
    expect(waitAfterFailures(0, 1)).toBe(READ_EVERY_SECONDS);
    expect(waitAfterFailures(1, 1)).toBe(2 * READ_EVERY_SECONDS);
    expect(waitAfterFailures(1_000, 1)).toBe(FAILED_SECONDS_MAX);
    expect(waitAfterFailures(1_000, 0)).toBe(FAILED_SECONDS_MAX / 2);
  });

  test('stops for a wrong password, until a test passes or the record is saved', async () => {
    const { test: testOf, change, read: readOf } = providersOf(world.api);
    const providerId = await connect();
    imap.password = 'another';
    await read(providerId);
    expect(await stateOf(providerId)).toMatchObject({
      status: 'stopped',
      failure: 'bounce_mailbox_login_refused',
    });
    await makeDue();
    expect(await read(providerId)).toBe(null);
    const failing = await testOf(providerId);
    expect(failing.body).toMatchObject({
      error: 'provider_test_failed',
      reason: 'bounce_mailbox_login_refused',
    });
    imap.password = imap.settings.password;
    expect((await testOf(providerId)).status).toBe(200);
    expect((await readOf(providerId)).body.bounce_mailbox).toMatchObject({
      status: 'active',
      failure: null,
    });
    expect(await read(providerId)).not.toBe(null);
    await database.owner.query(`update providers.bounce_mailboxes set status = 'stopped'`);
    const saved = await change(providerId, { bounce_mailbox: world.mailboxOf() });
    expect(saved.body.bounce_mailbox).toMatchObject({ status: 'active' });
  });

  test(`at one message leaves it out after ${STUCK_TURNS_MAX} turns`, async () => {
    const providerId = await connect();
    const one = await sendToAnn(providerId);
    imap.deliver(filler(1));
    imap.deliver(filler(2));
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from }));
    imap.play(/^UID FETCH 2 /, 'drop');
    for (let turn = 1; turn <= STUCK_TURNS_MAX; turn += 1) {
      await makeDue();
      expect(await read(providerId)).toMatchObject({ result: { kind: 'failed' } });
      expect(await stateOf(providerId)).toMatchObject({
        read_uid: 1,
        stuck_uid: 2,
        stuck_count: turn,
      });
    }
    expect(await one.suppressed()).toBe(null);
    await makeDue();
    expect(await read(providerId)).toMatchObject({ result: { kind: 'read' } });
    expect(await one.suppressed()).toMatchObject({ reason: 'hard_bounce' });
    expect(await stateOf(providerId)).toMatchObject({ read_uid: 3, stuck_uid: null });
  });

  test('on our side is due again, and is no failure of the mailbox', async () => {
    const providerId = await connect();
    imap.deliver(filler(1));
    const take = () => Promise.reject(new Error('bug'));
    await expect(readMailbox(database.deps, of(providerId), { take })).rejects.toThrow('bug');
    const state = await stateOf(providerId);
    expect(state).toMatchObject({ status: 'active', failure: null, read_uid: 0, stuck_uid: 1 });
    expect(state.wait_seconds).toBeGreaterThan(0);
  });

  test('is nothing to read once its provider is gone', async () => {
    const providerId = await connect();
    await providersOf(world.api).remove(providerId);
    expect(await read(providerId)).toBe(null);
    expect(
      await readMailbox(database.deps, of(newId()), { take: () => Promise.resolve(true) }),
    ).toBe(null);
  });
});
