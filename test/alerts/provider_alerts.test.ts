// What alerts the owner of a provider: real relays park and hold it, and a person or a probe ends that.
import { describe, expect, test } from 'vitest';
import { counterparts, fieldsOf, providersOf, sendOneOf } from '../providers/counterparts.ts';
import { ownApi } from '../support/own_api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { sendQueued } from '../../src/delivery/delivery.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { OWNER } from '../delivery/one_send.ts';
import { NEVER } from '../support/database.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, change, test: sendTest, remove } = providersOf(api);
const sendOne = sendOneOf(database, api);
const createOne = async (): Promise<string> =>
  (await create(fieldsOf(sinks, 'smtp'))).body.id as string;

const list = async (status: 'open' | 'all' = 'open') =>
  (await api.call('GET', `/v1/alerts?status=${status}`, { key: api.project.server_key })).body
    .items;

/** What endpoints are going to be told, in order. */
const listAnnounced = async (): Promise<string[]> => {
  const { rows } = await database.owner.query<{ said: string }>(
    `select alert.kind || ' ' || announced.status as said
    from alerts.announcements as announced
    join alerts.alerts as alert using (project_id, alert_id)
    where project_id = $1 order by announced_at, announced.status`,
    [api.project.project_id],
  );
  return rows.map(({ said }) => said);
};

const takeTurn = async (providerId: string): Promise<void> => {
  await database.owner.query(
    "update delivery.sends set due_at = now() - interval '1 ms' where provider_id = $1",
    [providerId],
  );
  await database.owner.query(
    `update providers.paces set opened_until = now() - interval '1 ms'
    where provider_id = $1 and opened_until is not null`,
    [providerId],
  );
  await sendQueued(database.deps, {
    projectId: api.project.project_id,
    providerId,
    owner: OWNER,
    signal: NEVER,
    takeBounce,
  });
};

const UNOWNED = {
  code: 553,
  text: '5.7.1 <hello@acme.test>: Sender address rejected: not owned by user',
};
const LIMIT = { code: 550, text: '5.4.5 Daily user sending limit exceeded.' };

describe('provider_parked', () => {
  test('opens once when a relay refuses the sender, and resolves once when the record is saved', async () => {
    const id = await createOne();
    expect(await list()).toEqual([]);
    sinks.smtp.play('mail', UNOWNED);
    await sendOne(id);
    await sendOne(id);
    const [alert, ...others] = await list();
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      kind: 'provider_parked',
      status: 'open',
      subject: { type: 'provider', id },
      details: { reason: 'sender_not_verified' },
      summary: expect.stringContaining('Nothing is sent through'),
      fix: expect.stringContaining('Verify the domain'),
      console_path: `/console/p/${api.project.project_id}/settings/providers/${id}`,
      resolved_at: null,
    });

    sinks.smtp.reset();
    const saved = await change(id, { smtp_host: sinks.smtp.settings.smtp_host });
    expect(saved.status).toBe(200);
    await change(id, { smtp_host: sinks.smtp.settings.smtp_host });
    expect(await list()).toEqual([]);
    expect(await list('all')).toMatchObject([
      { id: alert.id, status: 'resolved', resolved_at: expect.any(String) },
    ]);
    expect(await listAnnounced()).toEqual(['provider_parked open', 'provider_parked resolved']);
  });

  test('opens when a test message is refused, and resolves when one is taken', async () => {
    const id = await createOne();
    sinks.smtp.play('mail', UNOWNED);
    expect((await sendTest(id)).status).toBe(422);
    expect(await list()).toMatchObject([{ kind: 'provider_parked', subject: { id } }]);
    sinks.smtp.reset();
    expect((await sendTest(id)).status).toBe(200);
    expect(await list()).toEqual([]);
  });

  test('resolves when the provider is deleted', async () => {
    const id = await createOne();
    sinks.smtp.play('mail', UNOWNED);
    await sendOne(id);
    expect(await list()).toHaveLength(1);
    expect((await remove(id)).status).toBe(200);
    expect(await list()).toEqual([]);
  });
});

describe('provider_held', () => {
  test('opens once while probes are refused too, and resolves once a message is taken', async () => {
    const id = await createOne();
    sinks.smtp.play('end', LIMIT);
    await sendOne(id);
    await sendOne(id);
    await takeTurn(id);
    expect(await list()).toMatchObject([
      {
        kind: 'provider_held',
        subject: { id },
        details: { reason: 'quota_exhausted' },
        fix: expect.stringContaining('Trunkline tries one send again by itself'),
      },
    ]);
    sinks.smtp.reset();
    await until('the alert is resolved', async () => {
      await takeTurn(id);
      return (await list()).length === 0;
    });
    expect(await listAnnounced()).toEqual(['provider_held open', 'provider_held resolved']);
  });
});
