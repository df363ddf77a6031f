import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { NEVER_MS } from '../../src/base/watchers.ts';
import { COMMITS_AT_ONCE_MAX, HandOffLog } from '../../src/delivery/hand_off_log.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { listWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();

const xidsOf = async (projectId: string) => {
  const { rows } = await database.owner.query<{ commits: number }>(
    'select count(distinct xmin::text)::int as commits from delivery.sends where project_id = $1',
    [projectId],
  );
  return rows[0]?.commits;
};

test('what lanes want written at the same moment shares a commit', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const providerId = newId();
  const all = Array.from({ length: 5 }, () => newSend({ providerId }));
  for (const send of all) await sends.plan(send);
  await sends.claim(providerId);
  const log = new HandOffLog(database.deps, projectId, takeBounce);
  const begun = await Promise.all(
    all.map(({ sendId, addressKey }) =>
      log.begin({
        sendId,
        addressKey,
        owner: OWNER,
        attempt: 1,
        messageId: `<${sendId}.1@x>`,
        subject: 'Welcome',
        sentThrough: 'other' as const,
      }),
    ),
  );
  expect(begun).toEqual(Array(5).fill('handing_off'));
  expect(await xidsOf(projectId)).toBe(1);
  const outcome = { reason: null, providerMessageId: null, retryAfterSeconds: null };
  await Promise.all(
    all.map(({ sendId }) => log.end({ sendId, attempt: 1, outcome: 'accepted', ...outcome })),
  );
  expect(await xidsOf(projectId)).toBe(1);
});

test('a hand-off that cannot be begun fails alone; outcomes that waited with it are written', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const ended = await sends.handingOff();
  const wrong = newSend();
  await sends.plan(wrong);
  await sends.claim(wrong.providerId);
  const log = new HandOffLog(database.deps, projectId, takeBounce);
  const outcome = { reason: null, providerMessageId: null, retryAfterSeconds: null };
  const ending = log.end({ sendId: ended.sendId, attempt: 1, outcome: 'accepted', ...outcome });
  const beginning = log.begin({
    sendId: wrong.sendId,
    addressKey: wrong.addressKey,
    owner: OWNER,
    attempt: 1,
    messageId: null as unknown as string,
    subject: 'Welcome',
    sentThrough: 'other' as const,
  });
  await expect(beginning).rejects.toThrow();
  await ending;
  expect(await sends.read(ended.sendId)).toMatchObject({ status: 'accepted' });
  expect(await sends.read(wrong.sendId)).toMatchObject({ status: 'queued' });
});

/** Sends that are leased, each as a lane begins it. */
const leased = async (count: number, gatherMs = 0) => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const providerId = newId();
  const all = Array.from({ length: count }, () => newSend({ providerId }));
  for (const send of all) await sends.plan(send);
  await sends.claim(providerId);
  const begun = all.map(({ sendId, addressKey }) => {
    const messageId = `<${sendId}.1@x>`;
    return {
      sendId,
      addressKey,
      owner: OWNER,
      attempt: 1,
      messageId,
      subject: 'Welcome',
      sentThrough: 'other' as const,
    };
  });
  const log = new HandOffLog(database.deps, projectId, takeBounce, { gatherMs });
  return { projectId, begun, log };
};

test('one beginning that cannot be kept does not hold up who begins at the same moment', async () => {
  const { begun, log } = await leased(3);
  const rows = begun.map((row, at) => (at === 1 ? { ...row, subject: 'cut\ud83d' } : row));
  const [first, cut, last] = await Promise.allSettled(rows.map((row) => log.begin(row)));
  expect(cut?.status).toBe('rejected');
  for (const one of [first, last])
    expect(one).toEqual({ status: 'fulfilled', value: 'handing_off' });
});

test('a send that two lanes begin at the same moment is begun once, and disturbs nobody', async () => {
  const { begun, log } = await leased(2);
  const [first, second] = begun as [(typeof begun)[number], (typeof begun)[number]];
  const decisions = await Promise.all([first, first, second].map((row) => log.begin(row)));
  expect(decisions).toEqual(['handing_off', 'lost', 'handing_off']);
});

const accepted = (sendId: string) =>
  ({
    sendId,
    attempt: 1,
    outcome: 'accepted',
    reason: null,
    providerMessageId: null,
    retryAfterSeconds: null,
  }) as const;

/** How many sends each commit of a project has ended. */
const endsOf = async (projectId: string): Promise<number[]> => {
  const { rows } = await database.owner.query<{ ends: number }>(
    'select cardinality(send_ids) as ends from delivery.ended where project_id = $1 order by step_id',
    [projectId],
  );
  return rows.map(({ ends }) => ends);
};

test('a commit waits for hand-offs that are under way, and goes as soon as none is', async () => {
  const { projectId, begun, log } = await leased(4, NEVER_MS);
  const [fresh, ...rest] = begun;
  await Promise.all(rest.map((row) => log.begin(row)));
  const written: Promise<unknown>[] = [];
  for (const { sendId } of rest) {
    written.push(log.end(accepted(sendId)));
    await turn();
    await turn();
  }
  if (fresh) written.push(log.begin(fresh));
  await Promise.all(written);
  expect(await endsOf(projectId)).toEqual([rest.length]);
});

test('it waits no longer than it may', async () => {
  const { projectId, begun, log } = await leased(2, 1);
  const [first, second] = begun.map(({ sendId }) => sendId);
  await Promise.all(begun.map((row) => log.begin(row)));
  await log.end(accepted(first ?? ''));
  await log.end(accepted(second ?? ''));
  expect(await endsOf(projectId)).toEqual([1, 1]);
});

const countWaiting = async (): Promise<number> => (await listWaiting(database.owner)).length;

test('so many commits are under way at once; what comes then is written together in the next', async () => {
  const { projectId, begun, log } = await leased(COMMITS_AT_ONCE_MAX + 3);
  const [held, rest] = [begun.slice(0, COMMITS_AT_ONCE_MAX), begun.slice(COMMITS_AT_ONCE_MAX)];
  const ids = held.map(({ sendId }) => sendId);
  await database.owner.query('begin');
  await database.owner.query('select from delivery.sends where send_id = any ($1) for update', [
    ids,
  ]);
  const beginning: Promise<unknown>[] = [];
  for (const row of held) {
    beginning.push(log.begin(row));
    await until('its commit waits', async () => (await countWaiting()) === beginning.length);
  }
  for (const row of rest) beginning.push(log.begin(row));
  await turn();
  await turn();
  expect(await countWaiting()).toBe(COMMITS_AT_ONCE_MAX);
  await database.owner.query('commit');
  expect(await Promise.all(beginning)).toEqual(begun.map(() => 'handing_off'));
  expect(await xidsOf(projectId)).toBe(COMMITS_AT_ONCE_MAX + 1);
});
