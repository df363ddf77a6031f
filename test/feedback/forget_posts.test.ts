import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import {
  forgetPosts,
  isRemembered,
  POSTS_KEPT_HOURS,
  rememberPost,
} from '../../src/feedback/posts.ts';
import { SIGNATURE_HOURS_MAX } from '../../src/feedback/dialects/mailgun/mailgun_signature.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const opened = () => {
  const projectId = newId();
  const remember = (id: string, said: string, source = 'mailgun') =>
    inProject(database.deps, projectId, (scope) => rememberPost(scope, { source, id, said }));
  const knows = (id: string) =>
    inProject(database.deps, projectId, (scope) =>
      isRemembered(scope, { source: 'mailgun', id, said: '' }),
    );
  const age = (hours: number, seconds = 0) =>
    database.owner.query(
      'update feedback.posts set received_at = now() - make_interval(hours => $2, secs => $3) where project_id = $1',
      [projectId, hours, seconds],
    );
  return { projectId, remember, knows, age };
};

test('a post is new once, the same after that, and told apart from another under its id', async () => {
  const { remember } = opened();
  expect(await remember('token', 'body')).toBe('new');
  expect(await remember('token', 'body')).toBe('same');
  expect(await remember('token', 'another')).toBe('other');
  expect(await remember('token', 'body', 'amazon-ses')).toBe('new');
  expect(await opened().remember('token', 'body')).toBe('new');
});

test('of many at once one is new', async () => {
  const { remember } = opened();
  const seen = await Promise.all(Array.from({ length: 10 }, () => remember('token', 'body')));
  expect(seen.filter((one) => one === 'new')).toHaveLength(1);
});

test('posts are forgotten once any signature would be too old, and not before', async () => {
  expect(POSTS_KEPT_HOURS).toBeGreaterThan(SIGNATURE_HOURS_MAX);
  const { projectId, remember, knows, age } = opened();
  await remember('token', 'body');
  await age(POSTS_KEPT_HOURS, -5);
  expect(await forgetPosts(database.deps, projectId)).toBe(0);
  expect(await knows('token')).toBe(true);
  // A moment is kept in whole milliseconds: just as old as that may be a little younger.
  await age(POSTS_KEPT_HOURS, 1);
  expect(await forgetPosts(database.deps, projectId)).toBe(1);
  expect(await forgetPosts(database.deps, projectId)).toBe(0);
  expect(await knows('token')).toBe(false);
});
