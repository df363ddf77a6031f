export { eraser } from './erase.ts';
export { noticeSection } from './export.ts';
export { observeUnsubscribed } from './on_timeline.ts';
export { readBounceMailboxes } from './mailboxes/mailboxes.ts';
export { pruneNotices } from './prune.ts';
export { forgetPosts, POSTS_KEPT_HOURS } from './posts.ts';
export { record, takeBounce } from './record.ts';
export type { Recorded } from './record.ts';
export { expireTopics } from './topics/topics.ts';
