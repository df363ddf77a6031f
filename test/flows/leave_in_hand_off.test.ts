// Suppressions and unsubscribes against a sending loop, thousands of times: whoever has been told that an
// address is left alone must see no hand-off to it begin, and nothing on the wire five seconds later.
import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { suppress, unsubscribe } from '../../src/suppression/suppression.ts';
import { connectTo } from '../base/connections.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { makeMail, planSends } from '../support/planned_sends.ts';
import { smtpSink } from '../support/smtp_sink.ts';

const SENDS = 2_500;
const LEAVERS = 3;
const TEST_TIMEOUT_MS = 300_000;

const database = testDatabase();
const sink = smtpSink();
const projectId = newId();
const owner = 'worker-1';
let providerId: string;

const now = (): number => performance.timeOrigin + performance.now();
const addressOf = (at: number): string => `person-${at}@people.test`;

beforeAll(async () => {
  const mail = await makeMail(database.deps, projectId, sink);
  ({ providerId } = mail);
  const recipients = Array.from({ length: SENDS }, (_, at) => addressOf(at));
  await inProject(database.deps, projectId, (scope) => planSends(scope, mail, recipients));
}, TEST_TIMEOUT_MS);

/** Someone whose mail is about to be handed over: leased, and not begun when it was asked. */
const findNext = async (client: pg.Client): Promise<string | null> => {
  const { rows } = await client.query<{ recipient: string }>(
    `select recipient from delivery.sends where project_id = $1 and status = 'queued' and lease_owner = $2
    order by random() limit 1`,
    [projectId, owner],
  );
  return rows[0]?.recipient ?? null;
};

/** Leaves for one after the other, at moments of chance, and notes when each was told that it is so. */
const leave = async (told: Map<string, number>, isOver: () => boolean): Promise<void> => {
  const client = await connectTo(database, projectId);
  while (!isOver()) {
    const email = await findNext(client);
    if (email === null || told.has(email)) {
      await setImmediate();
      continue;
    }
    told.set(email, Infinity);
    const say = Math.random() < 0.5 ? unsubscribe : suppress;
    await inProject(database.deps, projectId, async (scope) => {
      await say(scope, { email, source: 'test', reason: 'manual' });
    });
    told.set(email, now());
  }
};

/** Whether anything has not come to its end: a turn goes on when its job is over. */
const isUnderWay = async (): Promise<boolean> => {
  const { rowCount } = await database.owner.query(
    "select from delivery.sends where project_id = $1 and status in ('queued', 'handing_off') limit 1",
    [projectId],
  );
  return rowCount === 1;
};

type Begun = { recipient: string; send_id: string; started_at: Date; left_at: Date | null };

test(
  'no hand-off begins once somebody was told that an address is left alone, and none is late on the wire',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const told = new Map<string, number>();
    let isOver = false;
    const leaving = Array.from({ length: LEAVERS }, () => leave(told, () => isOver));
    const turning = { projectId, providerId, owner, signal: NEVER, takeBounce };
    while (await isUnderWay()) await delivery.sendQueued(database.deps, turning);
    isOver = true;
    await Promise.all(leaving);

    const { rows } = await database.owner.query<Begun>(
      `select send.recipient, send.send_id, tried.started_at,
        (select min(said.changed_at) from suppression.history as said
          where said.project_id = send.project_id and said.address_key = send.address_key) as left_at
      from delivery.attempts as tried join delivery.sends as send using (project_id, send_id)
      where send.project_id = $1`,
      [projectId],
    );
    const begunAt = new Map(rows.map((row) => [row.send_id, row.started_at.getTime()]));
    const tooLate = rows.filter(
      ({ recipient, started_at, left_at }) =>
        started_at.getTime() > (told.get(recipient) ?? Infinity) ||
        (left_at !== null && started_at > left_at),
    );
    expect(tooLate).toEqual([]);
    for (const { send_id, firstByteAt, to } of sink.mails) {
      const begun = begunAt.get(send_id ?? '') ?? -Infinity;
      expect((firstByteAt ?? Infinity) - begun).toBeLessThanOrEqual(delivery.HAND_OFF_DEADLINE_MS);
      const last = (told.get(to[0] ?? '') ?? Infinity) + delivery.HAND_OFF_DEADLINE_MS;
      expect(firstByteAt).toBeLessThanOrEqual(last);
    }

    // It was a race: some were left alone in time, others had begun, and every send came to its end.
    const { rows: ends } = await database.owner.query<{ status: string; count: number }>(
      `select status || coalesce('/' || status_reason, '') as status, count(*)::integer from delivery.sends
      where project_id = $1 group by 1`,
      [projectId],
    );
    const count = new Map(ends.map(({ status, count: of }) => [status, of]));
    expect([...count.keys()].toSorted()).toEqual([
      'accepted',
      'suppressed/suppressed',
      'suppressed/unsubscribed',
    ]);
    expect([...count.values()].reduce((sum, of) => sum + of, 0)).toBe(SENDS);
    expect(sink.mails).toHaveLength(count.get('accepted') ?? 0);
    const begunAnyway = rows.filter(({ recipient }) => told.has(recipient)).length;
    expect(told.size - begunAnyway).toBeGreaterThan(100);
    expect(begunAnyway).toBeGreaterThan(0);
  },
);
