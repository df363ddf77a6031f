// Feedback may overtake what we write of the hand-off it is about, and may be all that we ever learn of it.
import { describe, expect, test } from 'vitest';
import { listByMessageIds } from '../../src/delivery/feedback_queries.ts';
import { settleLost } from '../../src/delivery/delivery.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { OWNER } from '../delivery/one_send.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';
import { EMAIL, newNotice, projectTold } from './project_told.ts';

const database = testDatabase();
const soon = () => new Date(Date.now() + 1_000);

const handingOff = async () => {
  const project = projectTold(database);
  const addressKey = await project.keyOf(EMAIL);
  const { sendId } = await project.sends.handingOff({ recipient: EMAIL, addressKey });
  return { ...project, sendId };
};

const told: [string, (sendId: string) => Partial<Notice>][] = [
  ['a delivery by our id', (sendId) => ({ kind: 'delivered', sendId })],
  [
    'a bounce by our Message-ID',
    (sendId) => ({ kind: 'bounced', bounceType: 'hard', messageIds: [`${sendId}.1@example.com`] }),
  ],
  ['a sign of life by our id', (sendId) => ({ kind: 'accepted', sendId })],
  ['an opening by our id', (sendId) => ({ kind: 'opened', sendId })],
  ['a delay by our id', (sendId) => ({ kind: 'deferred', bounceType: 'soft', sendId })],
];

describe.each(told)('%s', (_what, given) => {
  test('that comes before a lost hand-off is settled proves that it was taken', async () => {
    const { sends, tell, sendId } = await handingOff();
    await tell(newNotice({ occurredAt: soon(), ...given(sendId) }));
    expect(await sends.read(sendId)).toMatchObject({ status: 'handing_off' });
    await sends.within((scope) => settleLost(scope, [OWNER], 3_600));
    expect(await sends.read(sendId)).toMatchObject({ status: 'accepted' });
  });

  test('that comes after it proves it as well', async () => {
    const { sends, tell, sendId } = await handingOff();
    await sends.within((scope) => settleLost(scope, [OWNER], 3_600));
    expect(await sends.read(sendId)).toMatchObject({ status: 'unknown' });
    await tell(newNotice({ occurredAt: soon(), ...given(sendId) }));
    expect(await sends.read(sendId)).toMatchObject({ status: 'accepted' });
  });

  test('that comes before the outcome is written stays with the send', async () => {
    const { sends, tell, sendId } = await handingOff();
    await tell(newNotice({ occurredAt: soon(), ...given(sendId) }));
    const before = await sends.read(sendId);
    await sends.end(sendId, 'accepted', { providerMessageId: 'theirs-1' });
    const { delivered_at, bounced_at, taken_at } = before;
    expect(await sends.read(sendId)).toMatchObject({
      status: 'accepted',
      delivered_at,
      bounced_at,
      taken_at,
    });
    expect([delivered_at, bounced_at, taken_at].filter(Boolean)).toHaveLength(1);
  });
});

describe.each<[string, Partial<Notice>]>([
  ['an opening', { kind: 'opened' }],
  ['a delivery', { kind: 'delivered' }],
  ['a hard bounce', { kind: 'bounced', bounceType: 'hard' }],
  ['a complaint', { kind: 'complained' }],
  ['a delivery with an id that is not known', { kind: 'delivered', messageIds: ['theirs-1'] }],
])('%s that only address and time connect with a send', (_what, given) => {
  const EMPTY = { delivered_at: null, bounced_at: null, complained_at: null, taken_at: null };
  const tellSoon = (tell: Awaited<ReturnType<typeof handingOff>>['tell']) =>
    tell(newNotice({ ...given, occurredAt: soon() }));

  test('does not resolve an unknown outcome, and is not of an older send', async () => {
    const { sends, accepted, tell, sendId } = await handingOff();
    await sends.end(sendId, 'unknown', { reason: 'outcome_unknown' });
    const older = await accepted();
    await sends.update(older, "handed_off_at = now() - interval '1 hour'");
    await tellSoon(tell);
    expect(await sends.read(sendId)).toMatchObject({ status: 'unknown', ...EMPTY });
    expect(await sends.read(older)).toMatchObject({ status: 'accepted', ...EMPTY });
  });

  test('leaves a hand-off unknown that is lost later', async () => {
    const { sends, tell, sendId } = await handingOff();
    await tellSoon(tell);
    await sends.within((scope) => settleLost(scope, [OWNER], 3_600));
    expect(await sends.read(sendId)).toMatchObject({ status: 'unknown', ...EMPTY });
  });

  test('is not of a send that only feedback proved, whatever comes first', async () => {
    const { sends, tell, sendId } = await handingOff();
    await sends.end(sendId, 'unknown', { reason: 'outcome_unknown' });
    await tell(newNotice({ kind: 'accepted', sendId, occurredAt: soon() }));
    await tellSoon(tell);
    const { delivered_at, bounced_at, complained_at } = EMPTY;
    expect(await sends.read(sendId)).toMatchObject({
      status: 'accepted',
      delivered_at,
      bounced_at,
      complained_at,
    });
  });
});

test('an event by address and time is of the newest send that a provider has accepted', async () => {
  const { sends, accepted, tell } = projectTold(database);
  const older = await accepted();
  await sends.update(older, "handed_off_at = now() - interval '1 hour'");
  const newest = await accepted();
  await tell(newNotice({ kind: 'delivered', occurredAt: soon() }));
  expect((await sends.read(newest)).delivered_at).not.toBeNull();
  expect((await sends.read(older)).delivered_at).toBeNull();
});

test('either kind of message id is looked up by its index', async () => {
  const project = projectTold(database);
  await database.owner.query(
    `insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at,
       provider_message_id)
     select $1, send.send_id, 100 + n, '<m-' || n || '>', 'x', now(), 'p-' || n
     from (select send_id from delivery.sends where send_id = $2) as send, generate_series(1, 5000) as n`,
    [project.projectId, await project.accepted()],
  );
  await database.owner.query('analyze delivery.attempts');
  const plan = await project.sends.within(async (scope) => {
    const explained: unknown[] = [];
    const any = async (query: { sql: string; values: readonly unknown[] }) => {
      const { sql: text, values } = query;
      const explaining = {
        ...sql.unsafe`select`,
        sql: `explain (format json) ${TRIAL} ${text}`,
        values,
      };
      const { rows } = await scope.tx.query(explaining as never);
      explained.push(rows);
      return [];
    };
    await listByMessageIds({ ...scope, tx: { any } } as unknown as Scope, ['p-77', 'm-88']);
    return JSON.stringify(explained);
  });
  expect(plan).toContain('attempts_by_message_id');
  expect(plan).toContain('attempts_by_provider_message_id');
  expect(plan).not.toContain('Seq Scan');
});
