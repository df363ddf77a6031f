// A send whose first hand-off may have been taken is queued again, and then stopped: nobody knows whether it was sent,
// so it is unknown again, and says what stopped it.
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { expireSends, observeHandOffs, recordRefused } from '../../src/delivery/delivery.ts';
import { cancelIfGone } from '../../src/delivery/gone.ts';
import { eraseSends } from '../../src/delivery/erase_queries.ts';
import { failRender } from '../../src/delivery/stop.ts';
import { cancel, resolve } from '../../src/delivery/resolve.ts';
import { resendUnknown } from '../../src/delivery/wait_queries.ts';
import { changeSubscription, suppressAddress } from '../../src/suppression/change_queries.ts';
import { newPerson } from '../profiles/people.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { askToErase } from '../support/erase.ts';
import { OWNER, sendsOf, unresolved } from './one_send.ts';

const database = testDatabase();
const api = testApi(database);

const at = (second: number) => new Date(Date.UTC(2026, 0, 31, 12, 0, second));

type Unresolved = Awaited<ReturnType<typeof unresolved>>;

const said = ({ send }: Unresolved) => ({
  addressKey: send.addressKey,
  email: send.recipient,
  historyId: newId(),
  source: 'test',
});
const beginAgain = async ({ sends, send }: Unresolved) => {
  await sends.claim(send.providerId);
  return sends.begin(send, OWNER, 2);
};

/** Each way in which a send that waits is stopped, and the reason that it says then. */
const STOPS: [string, string, (one: Unresolved) => Promise<unknown>][] = [
  [
    'suppressed before its second hand-off',
    'suppressed',
    async (one) => {
      await one.sends.within((scope) =>
        suppressAddress(scope, { ...said(one), reason: 'complaint' }),
      );
      expect(await beginAgain(one)).toBe('unknown');
    },
  ],
  [
    'unsubscribed before it',
    'unsubscribed',
    async (one) => {
      await one.sends.within((scope) =>
        changeSubscription(scope, { ...said(one), change: 'unsubscribed', at: null, note: null }),
      );
      expect(await beginAgain(one)).toBe('unknown');
    },
  ],
  [
    'expired between its lease and its hand-off',
    'expired',
    async ({ sends, send }) => {
      await sends.claim(send.providerId);
      await sends.update(send.sendId, "expires_at = now() - interval '1 ms'");
      expect(await sends.begin(send, OWNER, 2)).toBe('unknown');
    },
  ],
  [
    'expired while it waits',
    'expired',
    async ({ sends, send }) => {
      await sends.update(send.sendId, "expires_at = now() - interval '1 ms'");
      await sends.within((scope) => expireSends(scope));
    },
  ],
  [
    'cancelled by somebody',
    'cancelled',
    ({ sends, send }) => sends.within((scope) => cancel(scope, send.sendId)),
  ],
  [
    'left without a provider',
    'provider_deleted',
    ({ sends, send }) => sends.within((scope) => cancelIfGone(scope, send.providerId)),
  ],
  [
    'left without a provider while somebody has leased it',
    'provider_deleted',
    async ({ sends, send }) => {
      await sends.claim(send.providerId);
      await sends.within((scope) => cancelIfGone(scope, send.providerId));
      expect(await sends.begin(send, OWNER, 2)).toBe('lost');
    },
  ],
  [
    'not to be rendered any more',
    'failed_render',
    async ({ sends, send }) => {
      await sends.claim(send.providerId);
      await sends.within((scope) =>
        failRender(scope, { sendId: send.sendId, owner: OWNER }, 'no ann@example.com'),
      );
    },
  ],
  [
    'of somebody who is erased',
    'erased',
    ({ sends, send }) => sends.within((scope) => eraseSends(scope, [send.sendId])),
  ],
  [
    'refused for good by its second hand-off',
    'recipient_refused',
    async (one) => {
      await beginAgain(one);
      const refused = { attempt: 2, reason: 'recipient_refused' };
      await one.sends.end(one.send.sendId, 'rejected', refused);
    },
  ],
  [
    'erased during its second hand-off, which was not taken',
    'throttled',
    async (one) => {
      const { sends, send } = one;
      await beginAgain(one);
      await sends.within((scope) => eraseSends(scope, [send.sendId]));
      await sends.end(send.sendId, 'deferred', { attempt: 2, reason: 'throttled' });
    },
  ],
];

/** As what each of them ends, once it is known that the first hand-off was not taken. */
const ENDS: Record<string, string> = {
  suppressed: 'suppressed',
  unsubscribed: 'suppressed',
  expired: 'expired',
  cancelled: 'cancelled',
  provider_deleted: 'cancelled',
  failed_render: 'failed_render',
  erased: 'cancelled',
  recipient_refused: 'not_sent',
  throttled: 'cancelled',
};

/** What is on timelines of a project, by name, once what hand-offs ended was observed. */
const eventsOf = async (projectId: string): Promise<string[]> => {
  await sendsOf(database, projectId).within((scope) => observeHandOffs(scope));
  const { rows } = await database.owner.query<{ name: string }>(
    "select name from ingest.events where project_id = $1 and source = 'system' order by name",
    [projectId],
  );
  return rows.map(({ name }) => name);
};

describe.each(STOPS)('%s', (_how, reason, stop) => {
  const stopped = async () => {
    const { project_id: projectId } = api.project;
    const { identityId, profileId } = await newPerson(database, projectId);
    const one = await unresolved(database, { identityId, profileId }, projectId);
    expect(await one.sends.read(one.send.sendId)).toMatchObject({ status: 'queued' });
    const before = await eventsOf(projectId);
    await stop(one);
    expect(await eventsOf(projectId)).toEqual(before);
    return { ...one, before };
  };
  const read = async (id: string) =>
    (await api.call('GET', `/v1/sends/${id}`, { key: api.project.server_key })).body;

  test('it is unknown, the send log says what stopped it, and it is handed over no more', async () => {
    const { sends, send } = await stopped();
    expect(await read(send.sendId)).toMatchObject({
      status: 'unknown',
      status_reason: reason,
      status_fix: expect.stringContaining('Look for the message'),
    });
    await sends.within((scope) => resendUnknown(scope, send.providerId));
    expect(await sends.claim(send.providerId)).toEqual([]);
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'unknown', lease_owner: null });
  });

  test('its subject stays for whoever looks for it, unless its person is erased', async () => {
    const { sends, send } = await stopped();
    const isErased = reason === 'erased' || reason === 'throttled';
    expect((await sends.read(send.sendId)).subject).toBe(isErased ? null : 'Welcome');
  });

  test('feedback still proves it accepted, since its earliest fact, in any order', async () => {
    for (const seconds of [
      [50, 100],
      [100, 50],
    ]) {
      const { sends, send } = await stopped();
      for (const second of seconds)
        await sends.tell(send.sendId, second === 50 ? 'taken' : 'delivered', at(second));
      expect(await sends.read(send.sendId)).toMatchObject({
        status: 'accepted',
        status_reason: 'outcome_unknown',
        accepted_at: at(50),
      });
    }
  });

  test('its first owner still says that it was taken', async () => {
    const { sends, send, projectId, before } = await stopped();
    await sends.end(send.sendId, 'accepted', { providerMessageId: 'relay-1' });
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'accepted',
      status_reason: null,
      accepted_at: expect.any(Date),
      provider_message_id: 'relay-1',
    });
    expect(await eventsOf(projectId)).toEqual(['email_sent', ...before]);
  });

  test.each(['deferred', 'not_started', 'rejected'] as const)(
    'its first owner still says that it was %s: what stopped it has its way, and is on the timeline',
    async (outcome) => {
      const { sends, send, projectId, before } = await stopped();
      await sends.end(send.sendId, outcome, { reason: 'late', retryAfterSeconds: 0 });
      expect(await sends.read(send.sendId)).toMatchObject({
        status: ENDS[reason],
        status_reason: reason,
        accepted_at: null,
      });
      expect(await eventsOf(projectId)).toEqual([...before, 'email_skipped']);
      await sends.end(send.sendId, 'accepted');
      expect(await sends.read(send.sendId)).toMatchObject({ status: ENDS[reason] });
    },
  );

  test('its first owner never learns: it stays held', async () => {
    const { sends, send } = await stopped();
    await sends.end(send.sendId, 'unknown', { reason: 'outcome_unknown', retryAfterSeconds: 0 });
    await sends.within((scope) => resendUnknown(scope, send.providerId));
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'unknown',
      status_reason: reason,
    });
    expect(await sends.claim(send.providerId)).toEqual([]);
  });

  test('somebody still says what became of it, and that alone is on the timeline', async () => {
    const { sends, send, projectId, before } = await stopped();
    await sends.within((scope) => resolve(scope, send.sendId, 'not_sent'));
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'not_sent' });
    expect(await eventsOf(projectId)).toEqual([...before, 'email_skipped']);
  });

  test('said before what the hand-offs ended was observed, it is on the timeline once as well', async () => {
    const { project_id: projectId } = api.project;
    const { identityId, profileId } = await newPerson(database, projectId);
    const one = await unresolved(database, { identityId, profileId }, projectId);
    const before = await eventsOf(projectId);
    await stop(one);
    await one.sends.within((scope) => resolve(scope, one.send.sendId, 'not_sent'));
    expect(await eventsOf(projectId)).toEqual([...before, 'email_skipped']);
  });
});

test('a person whose erase was asked for is handed nothing again, and it is unknown', async () => {
  const { projectId, identityId, profileId } = await newPerson(database);
  const one = await unresolved(database, { identityId, profileId }, projectId);
  await askToErase(database, projectId, profileId);
  expect(await beginAgain(one)).toBe('unknown');
  expect(await one.sends.read(one.send.sendId)).toMatchObject({
    status_reason: 'erased',
    subject: null,
  });
});

test('a bounce that its second hand-off was told is not said of it, as the first may be out', async () => {
  const one = await unresolved(database);
  await beginAgain(one);
  const { sends, send } = one;
  await sends.end(send.sendId, 'rejected', { attempt: 2, reason: 'recipient_refused' });
  await sends.within((scope) =>
    recordRefused(scope, [{ sendId: send.sendId, occurredAt: new Date() }]),
  );
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'unknown', bounced_at: null });
});

test('one whose first hand-off was definitely not taken ends as before', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const send = await sends.handingOff({ onUnknown: 'resend' });
  await sends.end(send.sendId, 'deferred', { reason: 'throttled', retryAfterSeconds: 0 });
  await sends.within((scope) => cancel(scope, send.sendId));
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'cancelled' });
});

test('200: cancelling again answers it as it stands', async () => {
  const { project_id, server_key: key } = api.project;
  const { send } = await unresolved(database, {}, project_id);
  for (let time = 0; time < 2; time += 1) {
    const { status, body } = await api.call('POST', `/v1/sends/${send.sendId}/cancel`, { key });
    expect([status, body.status, body.status_reason]).toEqual([200, 'unknown', 'cancelled']);
  }
});

test('409 send_not_queued: one that was cancelled, and turned out to be delivered, is not cancelled', async () => {
  const { project_id, server_key: key } = api.project;
  const { sends, send } = await unresolved(database, {}, project_id);
  const cancelling = () => api.call('POST', `/v1/sends/${send.sendId}/cancel`, { key });
  expect((await cancelling()).status).toBe(200);
  await sends.tell(send.sendId, 'delivered', new Date());
  expectRefusal(await cancelling(), 'send_not_queued');
});
