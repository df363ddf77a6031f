// Who decides which Amazon SNS topics count, and what a stranger with an AWS account can do instead.
import { describe, expect, test } from 'vitest';
import {
  CONFIRMED_TOPICS_MAX,
  PENDING_TOPIC_HOURS_MAX,
  PENDING_TOPICS_MAX,
  PENDING_TOPICS_PER_ACCOUNT_MAX,
} from '../../src/feedback/topics/topic_limits.ts';
import { createProject, issueKey } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import { until } from '../support/until.ts';
import { bounceOf, sesWorld } from './ses_world.ts';
import { confirmationOf, notificationOf, OTHER_TOPIC, TOPIC } from './sns_service.ts';
import { someone } from './webhooks_of.ts';

const { database, service, api, hooks, ...world } = sesWorld();
const { post, withToken, ask, confirm, notify, webhook } = world;
const { decide, remove, confirmedAtAmazon, accepted } = world;

const arnsOf = (topics: readonly { arn: string }[]) => topics.map(({ arn }) => arn);
const pending = async () => (await webhook()).pending_topics;
const topics = async () => (await webhook()).topics;
const account = (number: number) => String(number).padStart(12, '0');
const arnOf = (accountNumber: number, name: string, region = 'eu-west-1') =>
  `arn:aws:sns:${region}:${account(accountNumber)}:${name}`;
/** Fills the list of a project with pending topics, each of another account. */
const fillPending = (count: number) =>
  database.owner.query(
    `insert into feedback.topics (project_id, topic_arn, topic_id, status, first_asked_at, last_asked_at, confirm_token)
     select $1, 'arn:aws:sns:eu-west-1:' || lpad((7000 + n)::text, 12, '0') || ':a', gen_random_uuid(), 'pending',
       now(), now(), 'token'
     from generate_series(1, $2) as n`,
    [api.project.project_id, count],
  );
const sincePosted = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

describe('a stranger’s topic', () => {
  test('is never confirmed in a project without an SES provider: it waits, and suppresses nothing', async () => {
    const victim = await accepted();
    expectRefusal(await ask({ TopicArn: OTHER_TOPIC }), 'topic_needs_approval');
    expect(confirmedAtAmazon()).toEqual([]);
    expect(await pending()).toEqual([
      {
        id: expect.any(String),
        arn: OTHER_TOPIC,
        account: '999999999999',
        region: 'eu-west-1',
        first_asked_at: expect.any(String),
        last_asked_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    expect(await topics()).toEqual([]);
    for (const about of [{}, { sendId: victim.sendId }, { messageId: victim.messageId }])
      expectRefusal(
        await notify(bounceOf(victim.email, about), { TopicArn: OTHER_TOPIC }),
        'foreign_topic',
      );
    expect(await hooks.reasonOf(victim.email)).toBeNull();
    expect(await hooks.countOf('feedback.notices')).toBe(0);
  });

  test('that asks first does not keep out the owner’s, which comes with the token', async () => {
    await ask({ TopicArn: OTHER_TOPIC });
    expect((await confirm()).body.accepted).toBe(1);
    expect(arnsOf(await topics())).toEqual([TOPIC]);
    const { email, sendId } = await accepted();
    expect((await notify(bounceOf(email, { sendId }))).body.accepted).toBe(1);
    expect(await hooks.reasonOf(email)).toBe('hard_bounce');
  });

  test('is seen with its account when its posts are refused, and the count goes on', async () => {
    for (let at = 0; at < 3; at += 1) await notify(bounceOf(someone()), { TopicArn: OTHER_TOPIC });
    await database.deps.resources.close();
    const { refused, refused_topics } = await webhook();
    expect(refused).toMatchObject({ count: 3, last_error: 'foreign_topic' });
    expect(refused_topics).toEqual([
      {
        arn: OTHER_TOPIC,
        account: '999999999999',
        region: 'eu-west-1',
        count: 3,
        last_error: 'foreign_topic',
        last_at: expect.any(String),
      },
    ]);
  });

  test('neither unsubscribes nor confirms with the token of another project or one that was revoked', async () => {
    const { hook_token, project_id } = api.project;
    const message = confirmationOf({ TopicArn: OTHER_TOPIC });
    const other = await createProject(database.deps, 'other');
    expectRefusal(await withToken(message, other.hook_token), 'not_found');
    const fresh = await issueKey(database.deps, project_id, 'hook');
    await database.owner.query(
      'update projects.api_keys set revoked_at = now() where project_id = $1 and last_four = $2',
      [project_id, hook_token.slice(-4)],
    );
    await database.deps.resources.close();
    expectRefusal(await withToken(message, hook_token), 'invalid_token');
    expect(confirmedAtAmazon()).toEqual([]);
    expect((await withToken(message, fresh)).body.accepted).toBe(1);
  });
});

describe('several topics of a project', () => {
  const REGIONS = [TOPIC, arnOf(123_456_789_012, 'ses-feedback', 'us-east-1')];

  test('in two regions both work; one that is unsubscribed closes only itself', async () => {
    for (const TopicArn of REGIONS) expect((await confirm({ TopicArn })).body.accepted).toBe(1);
    expect(confirmedAtAmazon().map(({ host }: { host: string }) => host)).toEqual([
      'sns.eu-west-1.amazonaws.com',
      'sns.us-east-1.amazonaws.com',
    ]);
    for (const TopicArn of REGIONS) {
      const { email, sendId } = await accepted();
      await notify(bounceOf(email, { sendId }), { TopicArn });
      expect(await hooks.reasonOf(email)).toBe('hard_bounce');
    }
    await post(confirmationOf({ Type: 'UnsubscribeConfirmation' }));
    const stands = await topics();
    expect(
      stands.map(({ unsubscribed_at }: { unsubscribed_at: string | null }) => unsubscribed_at),
    ).toEqual([expect.any(String), null]);
  });

  test('each is removed by itself, and its notifications are refused from then on', async () => {
    const [kept, gone] = ['bounces', 'complaints'].map((name) => arnOf(1, name));
    for (const TopicArn of [kept ?? '', gone ?? '']) await confirm({ TopicArn });
    const { id } = (await topics()).find(({ arn }: { arn: string }) => arn === gone);
    expect((await remove(id)).status).toBe(200);
    expectRefusal(await remove(id), 'not_found');
    const { email, sendId } = await accepted();
    const event = bounceOf(email, { sendId });
    expectRefusal(await notify(event, { TopicArn: gone ?? '' }), 'foreign_topic');
    expect((await notify(event, { TopicArn: kept ?? '' })).body.accepted).toBe(1);
  });

  test('is not removed while another transaction holds the list, and stays removed after it', async () => {
    await confirm();
    const [{ id }] = await topics();
    await database.owner.query('begin');
    await database.owner.query(
      'select from feedback.topic_lists where project_id = $1 for update',
      [api.project.project_id],
    );
    const removing = remove(id);
    await until('the removal waits for the list', async () => {
      const { rowCount } = await database.owner.query(
        'select from pg_locks as lock where not lock.granted and pg_backend_pid() = any (pg_blocking_pids(lock.pid))',
      );
      return (rowCount ?? 0) > 0;
    });
    expect(await topics()).toHaveLength(1);
    await database.owner.query('commit');
    expect((await removing).status).toBe(200);
    expect(await topics()).toEqual([]);
  });

  test(`409 too_many_topics: ${CONFIRMED_TOPICS_MAX} are confirmed, by token or approval, and no more`, async () => {
    for (let at = 0; at < CONFIRMED_TOPICS_MAX - 1; at += 1)
      expect((await confirm({ TopicArn: arnOf(1, `t-${at}`) })).status).toBe(200);
    for (const name of ['last', 'one-more']) await ask({ TopicArn: arnOf(2, name) });
    const [last, more] = await pending();
    expect((await decide(last.id, 'approve')).status).toBe(200);
    expectRefusal(await decide(more.id, 'approve'), 'too_many_topics');
    expectRefusal(await confirm({ TopicArn: arnOf(1, 'past') }), 'too_many_topics');
    // One that is confirmed already may be subscribed again.
    expect((await confirm({ TopicArn: arnOf(1, 't-0') })).body.accepted).toBe(1);
    expect(await topics()).toHaveLength(CONFIRMED_TOPICS_MAX);
    await remove((await topics())[0].id);
    expect((await decide(more.id, 'approve')).status).toBe(200);
  });

  test('409 too_many_topics: of two that are confirmed at once at the bound one is', async () => {
    for (let at = 0; at < CONFIRMED_TOPICS_MAX - 1; at += 1)
      await confirm({ TopicArn: arnOf(1, `t-${at}`) });
    for (const name of ['one', 'two']) await ask({ TopicArn: arnOf(2, name) });
    const waiting = await pending();
    const answers = await Promise.all([
      ...waiting.map(({ id }: { id: string }) => decide(id, 'approve')),
      confirm({ TopicArn: arnOf(3, 'three') }),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(await topics()).toHaveLength(CONFIRMED_TOPICS_MAX);
  });
});

describe('approval', () => {
  test('confirms a pending topic at Amazon with the token of its newest request, and it counts', async () => {
    await ask({ Token: 'older', Timestamp: sincePosted(2) });
    await ask({ Token: 'newest' });
    await ask({ Token: 'replayed', Timestamp: sincePosted(1) });
    const [topic, ...more] = await pending();
    expect(more).toEqual([]);
    const answer = await decide(topic.id, 'approve');
    expect(answer.status).toBe(200);
    const { searchParams } = new URL(confirmedAtAmazon()[0]?.path ?? '', 'http://sns');
    expect(Object.fromEntries(searchParams)).toMatchObject({ TopicArn: TOPIC, Token: 'newest' });
    expect(await pending()).toEqual([]);
    expect(await topics()).toMatchObject([{ id: topic.id, arn: TOPIC, confirmed_by: 'approval' }]);
    const { email, sendId } = await accepted();
    expect((await notify(bounceOf(email, { sendId }))).body.accepted).toBe(1);
    // It may be subscribed again without the token: its owner was asked once.
    expect((await ask()).body.accepted).toBe(1);
    expect(await topics()).toMatchObject([{ confirmed_by: 'approval' }]);
  });

  test('twice at once confirms once; the second changes nothing', async () => {
    await ask();
    const [{ id }] = await pending();
    const answers = await Promise.all([decide(id, 'approve'), decide(id, 'approve')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(arnsOf(await topics())).toEqual([TOPIC]);
    expect((await webhook()).topic_changes).toHaveLength(1);
  });

  test('beside a rejection at once: one of the two decides, and the other learns it', async () => {
    await ask();
    const [{ id }] = await pending();
    const answers = await Promise.all([decide(id, 'approve'), decide(id, 'reject')]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
    const [change, ...more] = (await webhook()).topic_changes;
    expect(more).toEqual([]);
    const isApproved = answers[0]?.status === 200;
    expect(change.change).toBe(isApproved ? 'approved' : 'rejected');
    expect(await topics()).toHaveLength(isApproved ? 1 : 0);
    expect(await pending()).toEqual([]);
  });

  test('while it is under way, Amazon is asked to repeat a notification, which is not lost', async () => {
    await ask();
    const [{ id }] = await pending();
    await database.owner.query(
      "update feedback.topics set confirming_until = now() + interval '20 seconds' where topic_id = $1",
      [id],
    );
    const { email, sendId } = await accepted();
    const notification = notificationOf(bounceOf(email, { sendId }));
    const early = await post(notification);
    expectRefusal(early, 'unavailable');
    expect(early.headers.get('retry-after')).toMatch(/^\d+$/);
    await decide(id, 'approve');
    expect((await post(notification)).body.accepted).toBe(1);
  });

  test('of a topic that was rejected, or that is not there, is 404; the token confirms a rejected one', async () => {
    await ask();
    const [{ id }] = await pending();
    for (let at = 0; at < 2; at += 1) expect((await decide(id, 'reject')).status).toBe(200);
    expectRefusal(await decide(id, 'approve'), 'not_found');
    expectRefusal(await decide(api.project.project_id, 'approve'), 'not_found');
    expectRefusal(await decide(api.project.project_id, 'reject'), 'not_found');
    expectRefusal(await ask(), 'topic_needs_approval');
    expect(await pending()).toEqual([]);
    expect((await confirm()).body.accepted).toBe(1);
    expectRefusal(await decide(id, 'reject'), 'not_found');
    expect(arnsOf(await topics())).toEqual([TOPIC]);
  });

  test('503 unavailable: Amazon cannot be reached, and the topic waits on', async () => {
    await ask();
    const [{ id }] = await pending();
    service.mood = 'down';
    expectRefusal(await decide(id, 'approve'), 'unavailable');
    service.mood = 'well';
    expect((await decide(id, 'approve')).status).toBe(200);
  });

  test('is another project’s business there alone', async () => {
    await ask();
    const [{ id }] = await pending();
    const { server_key: key, project_id } = await createProject(database.deps, 'other');
    for (const project of [api.project.project_id, project_id]) {
      const path = `/v1/projects/${project}/webhooks/amazon-ses/topics/${id}/approve`;
      expectRefusal(await api.call('POST', path, { key, body: {} }), 'not_found');
    }
    expect(await pending()).toHaveLength(1);
  });
});

describe('the list of pending topics', () => {
  test('holds five of one AWS account; rejected ones keep their place', async () => {
    const names = Array.from({ length: PENDING_TOPICS_PER_ACCOUNT_MAX + 1 }, (_, at) => `t-${at}`);
    for (const name of names) await ask({ TopicArn: arnOf(1, name) });
    expect(arnsOf(await pending())).toEqual(names.slice(0, -1).map((name) => arnOf(1, name)));
    await ask({ TopicArn: arnOf(2, 'of-another') });
    for (const { id, account: number } of await pending())
      if (number === account(1)) await decide(id, 'reject');
    await ask({ TopicArn: arnOf(1, 'again') });
    expect(arnsOf(await pending())).toEqual([arnOf(2, 'of-another')]);
    await database.deps.resources.close();
    expect((await webhook()).refused).toMatchObject({ last_error: 'topic_needs_approval' });
  });

  test('holds fifty: strangers neither flush it nor keep the token out', async () => {
    await fillPending(PENDING_TOPICS_MAX - 1);
    await ask({ TopicArn: arnOf(1, 'last') });
    await ask({ TopicArn: arnOf(2, 'past') });
    const listed = arnsOf(await pending());
    expect(listed).toHaveLength(PENDING_TOPICS_MAX);
    expect(listed).toContain(arnOf(1, 'last'));
    expect(listed).not.toContain(arnOf(2, 'past'));
    expect((await confirm()).body.accepted).toBe(1);
    const { email, sendId } = await accepted();
    expect((await notify(bounceOf(email, { sendId }))).body.accepted).toBe(1);
    expect(arnsOf(await pending())).toEqual(listed);
  });

  test('holds so many and no more of those that ask at once', async () => {
    await fillPending(PENDING_TOPICS_MAX - 1);
    const asking = Array.from({ length: 6 }, (_, at) => ask({ TopicArn: arnOf(at + 1, 'a') }));
    for (const answer of await Promise.all(asking)) expectRefusal(answer, 'topic_needs_approval');
    expect(await pending()).toHaveLength(PENDING_TOPICS_MAX);
  });

  test(`forgets a topic ${PENDING_TOPIC_HOURS_MAX} hours after it asked last, as Amazon does its token`, async () => {
    await ask();
    const [{ id }] = await pending();
    const age = (hours: number) =>
      database.owner.query(
        'update feedback.topics set last_asked_at = now() - make_interval(mins => $2) where topic_id = $1',
        [id, hours * 60],
      );
    await age(PENDING_TOPIC_HOURS_MAX - 1 / 60);
    expect(await pending()).toHaveLength(1);
    await age(PENDING_TOPIC_HOURS_MAX);
    expect(await pending()).toEqual([]);
    expectRefusal(await decide(id, 'approve'), 'not_found');
    expect(await hooks.countOf('feedback.topics')).toBe(1);
    await ask({ TopicArn: OTHER_TOPIC });
    expect(arnsOf(await pending())).toEqual([OTHER_TOPIC]);
    expect(await hooks.countOf('feedback.topics')).toBe(1);
    for (const hours of [PENDING_TOPIC_HOURS_MAX + 1, -PENDING_TOPIC_HOURS_MAX - 1])
      expectRefusal(await ask({ Timestamp: sincePosted(hours) }), 'invalid_signature');
  });
});
