// What is asked about email that strangers cause reads those few emails, whatever else was sent or waits.
import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { countUnconfirmedWaiting } from '../../src/delivery/count_queries.ts';
import { countOfRecipients } from '../../src/delivery/limits.ts';
import { writeSettings } from '../../src/delivery/settings.ts';
import { mailboxKey as makeMailboxKey } from '../../src/suppression/address_key.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';
import { BROWSER_TRIGGERED } from './budgeted.ts';

const database = testDatabase();
const projectId = newId();
/** More than the oldest 10,000 queued sends, each older than any that waits for the budget. */
const QUEUED = 11_000;
const WAITING = 3;
/** A mailbox that got three emails a day for years, and two today. */
const FORMER = 3_000;
const TODAY = 2;
const MAILBOX = 'ann@example.com';
const mailboxKeyOf = () => makeMailboxKey({ keys: database.deps.keys, projectId }, MAILBOX);

const insert = (
  count: number,
  of: { status: string; reason?: string; mailboxKey?: Buffer; ago: string },
) =>
  database.owner.query(
    `insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, profile_id, provider_id,
       template_id, template_version, status, status_reason, due_at, queued_at, expires_at, mailbox_key, limits,
       handed_off_at, accepted_at, address_key, recipient)
     select $1, made.send_id, gen_random_uuid(), gen_random_uuid(), 's', gen_random_uuid(), gen_random_uuid(),
       gen_random_uuid(), 1, $3, $4, now(), made.at, now() + interval '1 day', $5, $6,
       case when $3 = 'accepted' then made.at end, case when $3 = 'accepted' then made.at end, sha256('a'),
       'someone@example.com'
     from generate_series(1, $2::int) as number
     cross join lateral (
       select now() - $7::interval - number * interval '1 second' as at
     ) as moment
     cross join lateral (
       select moment.at,
         (lpad(to_hex((extract(epoch from moment.at) * 1000)::bigint), 12, '0') || '7000' || '8000' ||
           lpad(to_hex(number), 12, '0'))::uuid as send_id
     ) as made`,
    [
      projectId,
      count,
      of.status,
      of.reason ?? null,
      of.mailboxKey ?? null,
      of.mailboxKey ? JSON.stringify(BROWSER_TRIGGERED) : null,
      of.ago,
    ],
  );

beforeAll(async () => {
  const mailboxKey = mailboxKeyOf();
  await database.owner.query(
    `insert into suppression.addresses (project_id, address_key, email)
     values ($1, sha256('a'), 'someone@example.com')`,
    [projectId],
  );
  await insert(QUEUED, { status: 'queued', ago: '2 hours' });
  await insert(WAITING, { status: 'queued', reason: 'unconfirmed_budget', ago: '1 hour' });
  await insert(FORMER, { status: 'accepted', mailboxKey, ago: '25 hours' });
  await insert(TODAY, { status: 'accepted', mailboxKey, ago: '1 hour' });
  await database.owner.query('analyze delivery.sends');
});

describe.each(PLAN_MODES)('%s', (mode) => {
  const withRead = <T>(work: Parameters<typeof withRowsRead<T>>[2]) =>
    withRowsRead(database, { projectId, table: 'delivery.sends', mode }, work);

  test('email that waits for the hourly budget is counted behind ten thousand others that are queued', async () => {
    const { answer, read } = await withRead((scope) => countUnconfirmedWaiting(scope));
    expect(answer).toEqual({ count: WAITING, isCapped: false });
    expect(read).toBeLessThanOrEqual(WAITING);
  });

  test('a new budget releases it and reads nothing else', async () => {
    const settings = { recipient_sends_max: 3, unconfirmed_sends_max: 7 };
    const { answer, read } = await withRead((scope) => writeSettings(scope, settings));
    expect(answer.size).toBe(WAITING);
    expect(read).toBeLessThanOrEqual(3 * WAITING);
  });

  test('the cap of 24 hours reads the last 24 hours of a mailbox', async () => {
    const { answer, read } = await withRead(({ tx }) =>
      tx.one(sql.unsafe`
        select is_so from delivery.reached_recipient_cap(${projectId}, ${newId()}, ${sql.binary(mailboxKeyOf())}, 3, 0,
          now())
      `),
    );
    expect(answer).toEqual({ is_so: false });
    // may_be_out reads none of those that were accepted.
    expect(read).toBeLessThanOrEqual(2 * TODAY);
  });

  test('so does the run that asks before it plans an email', async () => {
    const { answer, read } = await withRead((scope) =>
      countOfRecipients(scope, [MAILBOX], new Date()),
    );
    expect(answer[0]?.sent).toBe(TODAY);
    expect(read).toBeLessThanOrEqual(2 * TODAY);
  });
});

test('at the bound it counts all that wait, one past it says that there may be more', async () => {
  const count = (countedMax: number) =>
    withRowsRead(
      database,
      { projectId, table: 'delivery.sends', mode: 'force_custom_plan' },
      (scope) => countUnconfirmedWaiting(scope, countedMax),
    );
  expect((await count(WAITING)).answer).toEqual({ count: WAITING, isCapped: false });
  expect((await count(WAITING - 1)).answer).toEqual({ count: WAITING - 1, isCapped: true });
});
