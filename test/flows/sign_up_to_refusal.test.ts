import { beforeAll, expect, test } from 'vitest';
import type { Service } from '../../src/runtime/start_service.ts';
import { askService } from '../support/ask_service.ts';
import { addressOf, signUpOf, testWorld } from '../support/world.ts';
import { until } from '../support/until.ts';

const world = testWorld();
let service: Service;

beforeAll(async () => {
  service = await world.start('all');
});

const call = (method: string, path: string, key: string, body?: object) =>
  askService(service, method, path, { key, body });

type Send = { id: string; status: string; status_reason: string | null; subject: string };

const findSend = async (status: string): Promise<Send | null> => {
  const path = `/v1/sends?email=${addressOf('ann')}&status=${status}`;
  const { body } = await call('GET', path, world.project.server_key);
  return body.items[0] ?? null;
};

test('a sign-up leads to a welcome mail, and a hard bounce silences the address', async () => {
  const { server_key, hook_token, project_id } = world.project;
  expect(await call('POST', '/v1/events', server_key, signUpOf('ann'))).toMatchObject({
    status: 202,
  });

  const accepted = await until('an accepted send', () => findSend('accepted'));
  expect(accepted.subject).toBe('Welcome, ann');
  const [message] = world.sink.mails;
  expect(message?.headers).toMatchObject({
    'x-trunkline-send-id': accepted.id,
    from: 'Shop <hello@shop.test>',
  });

  const bounce = {
    event: 'bounce',
    bounce_type: 'hard',
    recipient: addressOf('ann'),
    send_id: accepted.id,
  };
  const hook = await call('POST', `/v1/webhooks/smtp/${project_id}`, hook_token, bounce);
  expect(hook).toMatchObject({ status: 200, body: { accepted: 1 } });

  const { body: found } = await call('GET', '/v1/profiles?external_id=ann', server_key);
  expect(found.items).toMatchObject([{ tags: ['hard_bounced'], suppressed: true }]);
  expect(await findSend('bounced')).toMatchObject({ id: accepted.id });

  await call('POST', '/v1/events', server_key, signUpOf('ann'));
  const refused = await until('a refused send', () => findSend('suppressed'));
  expect(refused).toMatchObject({ status_reason: 'suppressed' });
  expect(refused.id).not.toBe(accepted.id);
  expect(world.sink.mails).toHaveLength(1);
});

test('a SIGTERM under load ends nothing as unknown and loses nothing', async () => {
  const people = Array.from({ length: 200 }, (_, at) => `drained-${at}`);
  await world.signUp(...people);
  await until('sending has begun', () => world.sink.mails.length > 1);
  expect(await service.stop('SIGTERM')).toBe(0);

  service = await world.start('all');
  await until('everybody is mailed', async () => {
    const { rows } = await world.owner.query<{ status: string; count: number }>(
      `select status, count(*)::int from delivery.sends where recipient like 'drained-%' group by status`,
    );
    return rows.length === 1 && rows[0]?.status === 'accepted' && rows[0].count === people.length;
  });
  const recipients = world.sink.mails
    .flatMap(({ to }) => to)
    .filter((to) => to.startsWith('drained-'));
  expect(recipients.toSorted()).toEqual(people.map(addressOf).toSorted());
});
