// A relay that is slow has few claimed ahead of it, however many are planned meanwhile, and however often.
import { setImmediate as turn } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { listQueues } from '../../src/base/memory_queues.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import { WAITING_SENDS_LOW } from '../../src/delivery/provider_turns.ts';
import { TURNS_MAX } from '../../src/delivery/turns.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { testDatabase } from '../support/database.ts';
import { makeMail, planSends } from '../support/planned_sends.ts';
import type { Mail } from '../support/planned_sends.ts';
import { smtpSink } from '../support/smtp_sink.ts';
import { until } from '../support/until.ts';

const TEST_TIMEOUT_MS = 60_000;
/** Fewer than one claim takes: after each there seems to be no more. */
const PLANNED = 90;
const TIMES = 4;
/** Slow, and not so slow that nothing ends for a while. */
const ANSWER_MS = 150;

const database = testDatabase();
const sink = smtpSink();
const projectId = newId();
let mail: Mail;

const recipients = Array.from({ length: PLANNED }, (_, at) => `person-${at}@people.test`);
/** Plans all emails, due later: planning them takes longer than handing them over. */
const planAll = async () => {
  for (let times = 0; times < TIMES; times += 1)
    await inProject(database.deps, projectId, (scope) => planSends(scope, mail, recipients));
  await database.owner.query("update delivery.sends set due_at = now() + interval '1 hour'");
};
const makeDue = () =>
  database.owner.query(
    `update delivery.sends set due_at = now() - interval '1 ms' where send_id in (
       select send_id from delivery.sends where due_at > now() and status = 'queued' limit ${PLANNED})`,
  );

const untilClaimed = () =>
  until('all are claimed', async () => {
    const { rowCount } = await database.owner.query(
      `select from delivery.sends
       where status = 'queued' and lease_owner is null and due_at <= now() limit 1`,
    );
    return rowCount === 0;
  });

beforeAll(async () => {
  mail = await makeMail(database.deps, projectId, sink);
  sink.play('end', { delayMs: ANSWER_MS });
}, TEST_TIMEOUT_MS);

test(
  'whoever hints at more has no more claimed than may wait',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const stopping = new AbortController();
    const { providerId } = mail;
    const turning = { projectId, providerId, owner: 'w', signal: stopping.signal, takeBounce };
    await planAll();
    await makeDue();
    const feed = async (): Promise<void> => {
      for (; !stopping.signal.aborted; await turn())
        await delivery.sendQueued(database.deps, turning);
    };
    const feeding = feed();
    const queue = () => listQueues(database.deps).get('sends');
    let most = 0;
    let next = setImmediate(function look() {
      most = Math.max(most, queue()?.size() ?? 0);
      next = setImmediate(look);
    });
    await untilClaimed();
    for (let times = 1; times < TIMES; times += 1) {
      await makeDue();
      await delivery.sendQueued(database.deps, turning);
      await untilClaimed();
    }
    clearImmediate(next);
    stopping.abort();
    await feeding;
    const max = (queue()?.max ?? 0) / TURNS_MAX;
    expect(most).toBeGreaterThan(WAITING_SENDS_LOW);
    expect(most).toBeLessThanOrEqual(max);
  },
);
