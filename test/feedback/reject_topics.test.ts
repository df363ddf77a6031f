// Ten strangers' AWS accounts fill the list of pending topics: its owner empties it with one command.
import { expect, test } from 'vitest';
import { PENDING_TOPICS_MAX } from '../../src/feedback/topics/topic_limits.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import { sesWorld } from './ses_world.ts';

const { database, api, webhook, ask, confirm, decide, rejectAll } = sesWorld();

const arnOf = (account: number, name: string) =>
  `arn:aws:sns:eu-west-1:${String(account).padStart(12, '0')}:${name}`;
type Listed = { id: string; arn: string };
const pending = async (): Promise<Listed[]> => (await webhook()).pending_topics;
const idsOf = (topics: readonly Listed[]) => topics.map(({ id }) => id);

test('attack: ten accounts fill the list; one command empties it, and they cannot fill it again', async () => {
  await database.owner.query(
    `insert into feedback.topics (project_id, topic_arn, topic_id, status, first_asked_at, last_asked_at, confirm_token)
     select $1, 'arn:aws:sns:eu-west-1:' || lpad((1 + n % 10)::text, 12, '0') || ':t-' || n, gen_random_uuid(),
       'pending', now(), now(), 'token'
     from generate_series(1, $2) as n`,
    [api.project.project_id, PENDING_TOPICS_MAX],
  );
  const strangers = await pending();
  expect(strangers).toHaveLength(PENDING_TOPICS_MAX);
  await ask({ TopicArn: arnOf(99, 'mine') });
  expect(await pending()).toEqual(strangers);
  expect((await rejectAll(idsOf(strangers))).status).toBe(200);
  expect(await pending()).toEqual([]);
  for (let account = 1; account <= 10; account += 1)
    await ask({ TopicArn: arnOf(account, 'again') });
  expect(await pending()).toEqual([]);
  await ask({ TopicArn: arnOf(99, 'mine') });
  const [mine, ...more] = await pending();
  expect([mine?.arn, more]).toEqual([arnOf(99, 'mine'), []]);
  expect((await decide(mine?.id ?? '', 'approve')).status).toBe(200);
}, 60_000);

test('rejects the named topics that wait, and leaves every other as it is', async () => {
  await confirm({ TopicArn: arnOf(1, 'confirmed') });
  for (const name of ['seen', 'too', 'came-since']) await ask({ TopicArn: arnOf(2, name) });
  const [seen, too, since] = (await pending()) as [Listed, Listed, Listed];
  const [{ id: confirmed }] = (await webhook()).topics;
  const ids = [seen.id, too.id, confirmed, newId()];
  for (let at = 0; at < 2; at += 1) {
    const { status } = await rejectAll(ids);
    const { pending_topics, topics, topic_changes } = await webhook();
    expect([status, idsOf(pending_topics), idsOf(topics)]).toEqual([200, [since.id], [confirmed]]);
    expect(
      topic_changes.filter(({ change }: { change: string }) => change === 'rejected'),
    ).toHaveLength(2);
  }
  // The token still confirms a rejected one.
  expect((await confirm({ TopicArn: seen.arn })).status).toBe(200);
});

test('beside an approval at once: each topic is decided once', async () => {
  for (const name of ['one', 'two']) await ask({ TopicArn: arnOf(2, name) });
  const [one, two] = (await pending()) as [Listed, Listed];
  const [approved, rejected] = await Promise.all([
    decide(one.id, 'approve'),
    rejectAll([one.id, two.id]),
  ]);
  expect(rejected.status).toBe(200);
  const { topics, pending_topics } = await webhook();
  expect(pending_topics).toEqual([]);
  expect(topics).toHaveLength(approved.status === 200 ? 1 : 0);
});

test('leaves one entry in the audit log', async () => {
  for (const name of ['one', 'two']) await ask({ TopicArn: arnOf(2, name) });
  await rejectAll(idsOf(await pending()));
  const { rows } = await database.owner.query(
    'select actor_kind, action from admin.audit where project_id = $1',
    [api.project.project_id],
  );
  const action = 'POST /v1/projects/:project_id/webhooks/amazon-ses/reject-topics';
  expect(rows).toEqual([{ actor_kind: 'key', action }]);
});

test('400 invalid_request: without ids, and with one that is none', async () => {
  for (const ids of [[], ['x'], [newId(), '']])
    expectRefusal(await rejectAll(ids), 'invalid_request');
});

test('404 not_found: another project’s topics, and ids of no topic, are not rejected', async () => {
  expectRefusal(await rejectAll([newId(), newId()]), 'not_found');
  await ask({ TopicArn: arnOf(2, 'one') });
  const ids = idsOf(await pending());
  const other = await createProject(database.deps, 'other');
  const reject = (projectId: string) =>
    api.call('POST', `/v1/projects/${projectId}/webhooks/amazon-ses/reject-topics`, {
      key: other.server_key,
      body: { topic_ids: ids },
    });
  for (const projectId of [api.project.project_id, other.project_id])
    expectRefusal(await reject(projectId), 'not_found');
  expect(await pending()).toHaveLength(1);
});
