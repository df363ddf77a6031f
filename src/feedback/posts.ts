import { z } from 'zod';
import { inProject, sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';

/** Longer than any signature or confirmation is good for; after that it is refused for its age. */
export const POSTS_KEPT_HOURS = 96;
const FORGET_POSTS_MAX = 1_000;

const Kept = z.strictObject({ body_key: z.string() });

/** A post by its own id, which whoever signed it made unique, and what it said. */
export type Post = { source: string; id: string; said: string | Buffer };

const keysOf = ({ keys, projectId }: Scope, { source, id, said }: Post) => {
  const keyed = (text: string) =>
    keys.hash('notice-dedupe', `post ${projectId} ${source} ${text}`).toString('base64url');
  return { postKey: keyed(`id ${id}`), bodyKey: keyed(`said ${said.toString('base64')}`) };
};

const findPost = ({ tx, projectId }: Scope, source: string, postKey: string) =>
  tx.maybeOne(sql.type(Kept)`
    select body_key from feedback.posts
    where project_id = ${projectId} and source = ${source} and post_key = ${postKey}
  `);

/** Whether a post was taken in before. */
export const isRemembered = async (scope: Scope, post: Post): Promise<boolean> =>
  (await findPost(scope, post.source, keysOf(scope, post).postKey)) !== null;

/**
 * Remembers a post in the transaction of its effect. A signature may not cover what is posted with it, so the same
 * id with something else is told apart from the same post again.
 */
export const rememberPost = async (scope: Scope, post: Post): Promise<'new' | 'same' | 'other'> => {
  const { tx, projectId } = scope;
  const { postKey, bodyKey } = keysOf(scope, post);
  const inserted = await tx.maybeOne(sql.type(Kept)`
    insert into feedback.posts (project_id, source, post_key, body_key, received_at)
    values (${projectId}, ${post.source}, ${postKey}, ${bodyKey}, now())
    on conflict do nothing
    returning body_key
  `);
  if (inserted) return 'new';
  const kept = await findPost(scope, post.source, postKey);
  return kept?.body_key === bodyKey ? 'same' : 'other';
};

const deleteOldPosts = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    delete from feedback.posts
    where project_id = ${projectId} and (source, post_key) in (
      select old.source, old.post_key from feedback.posts as old
      where old.project_id = ${projectId} and old.received_at <= now() - make_interval(hours => ${POSTS_KEPT_HOURS})
      limit ${FORGET_POSTS_MAX}
    )
  `);

/** Forgets posts that would be refused for their age by now, a bounded number per transaction; answers how many. */
export const forgetPosts = async (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
): Promise<number> => {
  let forgotten = 0;
  for (let isMore = true; isMore;) {
    const { rowCount } = await inProject(deps, projectId, deleteOldPosts);
    forgotten += rowCount;
    isMore = rowCount === FORGET_POSTS_MAX;
  }
  return forgotten;
};
