import { newId } from '../../src/base/ids.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { RefusalName } from '../../src/base/refusal.ts';
import { RefusedPosts, REFUSED_WEBHOOKS_MAX } from '../../src/feedback/refused_posts.ts';
import type { RefusedAt } from '../../src/feedback/refused_posts.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { signMessage, confirmationOf, makeSigner } from './sns_service.ts';
import { webhooksOf } from './webhooks_of.ts';

const database = testDatabase();
const api = testApi(database);
const hooks = webhooksOf(database, api);

const refusedAt = async (slug: string) => (await hooks.describe(slug)).refused;
const written = (slug: string) => expect.poll(() => refusedAt(slug));
/** Somebody else's, so that nobody counts along. */
const fresh = async () => {
  api.project = await createProject(database.deps, 'fresh');
};

describe('a refused post is seen in the settings', () => {
  const right = () => ({ key: api.project.hook_token });
  test.each<[string, RefusalName, () => ReturnType<typeof hooks.post>]>([
    ['smtp', 'invalid_token', () => hooks.post('smtp', {}, { key: 'wrong' })],
    ['smtp', 'invalid_token', () => hooks.post('smtp', {})],
    ['smtp2go', 'invalid_token', () => hooks.post('smtp2go', {}, {}, '?token=wrong')],
    ['smtp', 'invalid_request', () => hooks.post('smtp', {}, right())],
    ['smtp', 'invalid_json', () => hooks.post('smtp', '{', right())],
    [
      'smtp',
      'unsupported_media_type',
      () => hooks.post('smtp', 'a', { ...right(), contentType: 'text/plain' }),
    ],
    ['mailgun', 'invalid_signature', () => hooks.post('mailgun', { signature: { token: 'a' } })],
    ['amazon-ses', 'invalid_request', () => hooks.post('aws-ses', {})],
  ])('%s: %s, by its class, with its time', async (slug, reason, post) => {
    await fresh();
    expect(await refusedAt(slug)).toBeNull();
    const before = Date.now();
    expectRefusal(await post(), reason);
    await written(slug).toEqual({ count: 1, last_error: reason, last_at: expect.any(String) });
    const { last_at } = await refusedAt(slug);
    expect(Date.parse(last_at)).toBeGreaterThanOrEqual(before);
  });

  test('and nothing of what it said', async () => {
    await fresh();
    const signer = await makeSigner();
    const TopicArn = 'arn:aws:sns:eu-west-1:123456789012:a-mark-of-its-own';
    await hooks.post('amazon-ses', signMessage(confirmationOf({ TopicArn }), signer), {
      contentType: 'text/plain',
      headers: { 'x-amz-sns-topic-arn': 'other' },
    });
    await written('amazon-ses').toMatchObject({ count: 1, last_error: 'invalid_signature' });
    const { rows } = await database.owner.query('select r::text as row from feedback.refusals r');
    expect(JSON.stringify(rows)).not.toContain('a-mark-of-its-own');
  });

  test('of one project and one webhook alone', async () => {
    await fresh();
    const one = api.project;
    await hooks.post('smtp', {}, { key: 'wrong' });
    await written('smtp').not.toBeNull();
    for (const slug of ['smtp2go', 'mailgun', 'amazon-ses'])
      expect(await refusedAt(slug)).toBeNull();
    await fresh();
    expect(await refusedAt('smtp')).toBeNull();
    expectRefusal(await hooks.post('smtp', {}, { key: one.hook_token }), 'not_found');
    await database.deps.resources.close();
    expect(await refusedAt('smtp')).toBeNull();
  });

  test('those of nobody’s project are not', async () => {
    const nobody = randomUUID();
    for (const projectId of [nobody, 'nonsense'])
      for (const slug of ['smtp', 'mailgun'])
        await api.call('POST', `/v1/webhooks/${slug}/${projectId}`, { key: 'wrong', body: {} });
    await database.deps.resources.close();
    const { rowCount } = await database.owner.query(
      'select from feedback.refusals where project_id = $1',
      [nobody],
    );
    expect(rowCount).toBe(0);
  });

  test('many at once are one write and then another, and none is lost', async () => {
    await fresh();
    const posts = Array.from({ length: 40 }, () => hooks.post('smtp', {}, { key: 'wrong' }));
    await Promise.all(posts);
    await database.deps.resources.close();
    expect(await refusedAt('smtp')).toMatchObject({ count: 40 });
  });
});

describe('counting', () => {
  const at = (projectId: string): RefusedAt => ({ projectId, source: 'smtp' });
  const counting = (given: object = {}) => {
    const writes: { projectId: string; count: number; lastReason: string }[] = [];
    const errors: unknown[] = [];
    const posts = new RefusedPosts({
      write: async ({ projectId }, { count, lastReason }) => {
        writes.push({ projectId, count, lastReason });
        return true;
      },
      onError: (error) => errors.push(error),
      ...given,
    });
    return { posts, writes, errors };
  };

  test('however many posts come, a webhook is written once in five seconds', async () => {
    vi.useFakeTimers();
    try {
      const { posts, writes } = counting();
      for (let second = 0; second < 20; second += 1) {
        for (let post = 0; post < 100; post += 1)
          posts.note(at('a'), {
            reason: post < 99 ? 'invalid_token' : 'invalid_request',
            at: new Date(),
          });
        await vi.advanceTimersByTimeAsync(1_000);
      }
      await vi.advanceTimersByTimeAsync(20_000);
      expect(writes.map(({ count }) => count)).toEqual([1, 499, 500, 500, 500]);
      expect(writes.at(-1)?.lastReason).toBe('invalid_request');
    } finally {
      vi.useRealTimers();
    }
  });

  test('of so many webhooks at a time and no more', async () => {
    const { posts, writes } = counting();
    const note = (project: number) =>
      posts.note(at(`p-${project}`), { reason: 'invalid_token', at: new Date() });
    for (let project = 0; project < REFUSED_WEBHOOKS_MAX; project += 1) note(project);
    await expect.poll(() => writes.length).toBe(REFUSED_WEBHOOKS_MAX);
    note(REFUSED_WEBHOOKS_MAX);
    note(0);
    await posts.close();
    expect(writes).toHaveLength(REFUSED_WEBHOOKS_MAX + 1);
    expect(writes.at(-1)).toMatchObject({ projectId: 'p-0' });
    expect(writes).not.toContainEqual(
      expect.objectContaining({ projectId: `p-${REFUSED_WEBHOOKS_MAX}` }),
    );
  });

  test('what cannot be written is told, and stops nothing', async () => {
    const { posts, errors } = counting({ write: () => Promise.reject(new Error('down')) });
    posts.note(at('a'), { reason: 'invalid_token', at: new Date() });
    posts.note(at('b'), { reason: 'invalid_token', at: new Date() });
    await posts.close();
    expect(errors).toHaveLength(2);
  });

  test('posts to projects that there are not hide nobody else’s', async () => {
    const ours = newId();
    const seen: string[] = [];
    const { posts } = counting({
      webhooksMax: 3,
      write: ({ projectId }: RefusedAt) => {
        if (projectId === ours) seen.push(projectId);
        return Promise.resolve(projectId === ours);
      },
    });
    for (let made = 0; made < 10; made += 1)
      posts.note(at(newId()), { reason: 'invalid_token', at: new Date() });
    posts.note(at(ours), { reason: 'invalid_token', at: new Date() });
    await expect.poll(() => seen).toEqual([ours]);
    for (let made = 0; made < 10; made += 1)
      posts.note(at(newId()), { reason: 'invalid_token', at: new Date() });
    posts.note(at(ours), { reason: 'invalid_token', at: new Date() });
    await posts.close();
    expect(seen).toEqual([ours, ours]);
  });
});
