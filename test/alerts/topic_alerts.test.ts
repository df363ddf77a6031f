// One alert while Amazon SNS topics wait for approval: strangers can make many wait, and fill no list of alerts.
import { expect, test } from 'vitest';
import { PENDING_TOPIC_HOURS_MAX } from '../../src/feedback/topics/topic_limits.ts';
import check from '../../tasks/alerts/check.ts';
import { sesWorld } from '../feedback/ses_world.ts';
import { OTHER_TOPIC, TOPIC } from '../feedback/sns_service.ts';
import { expectRefusal } from '../support/api.ts';
import { asWorker } from '../support/work_on.ts';

const { database, api, ask, confirm, webhook, decide } = sesWorld();

const list = async (status = 'open') =>
  (await api.call('GET', `/v1/alerts?status=${status}`, { key: api.project.server_key })).body
    .items;
const idsOf = async (): Promise<string[]> =>
  (await webhook()).pending_topics.map(({ id }: { id: string }) => id);

test('opens with the first topic that waits, and resolves when none waits any more', async () => {
  await ask({ TopicArn: OTHER_TOPIC });
  await ask({ TopicArn: OTHER_TOPIC });
  expect(await list()).toMatchObject([
    {
      kind: 'topic_pending',
      subject: { type: 'webhook', id: 'amazon-ses' },
      summary: expect.stringContaining('account 999999999999 in eu-west-1'),
      details: { topics: 1 },
      console_path: `/console/p/${api.project.project_id}/settings/webhooks`,
    },
  ]);
  await ask({ TopicArn: TOPIC });
  const [alert] = await list();
  expect(alert.summary).toBe('2 Amazon SNS topics wait for your approval.');
  const [first = '', second = ''] = await idsOf();
  expect((await decide(first, 'reject')).status).toBe(200);
  expect(await list()).toMatchObject([{ id: alert.id, details: { topics: 1 } }]);
  expect((await decide(second, 'approve')).status).toBe(200);
  expect(await list()).toEqual([]);
  expect(await list('all')).toMatchObject([{ id: alert.id, status: 'resolved' }]);
});

test('a topic with the webhook token opens no alert', async () => {
  expect((await confirm()).status).toBe(200);
  expect(await list('all')).toEqual([]);
});

test('resolves when the request of the topic expires, without a look at the topics', async () => {
  expectRefusal(await ask({ TopicArn: OTHER_TOPIC }), 'topic_needs_approval');
  const runCheck = () => check(asWorker(database))({}, undefined as never);
  await runCheck();
  expect(await list()).toHaveLength(1);
  await database.owner.query(
    `update feedback.topics set last_asked_at = now() - make_interval(hours => $2) where project_id = $1`,
    [api.project.project_id, PENDING_TOPIC_HOURS_MAX],
  );
  await runCheck();
  expect(await list()).toEqual([]);
});
