import { join } from 'node:path';
import type { JobHelpers } from 'graphile-worker';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { loadTasks, task } from '../../src/base/task.ts';
import type { TaskDeps } from '../../src/base/task.ts';
import { NEVER, testDatabase } from '../support/database.ts';

const database = testDatabase();
const deps = (): TaskDeps => ({
  ...database.deps,
  workerId: () => 'w',
  jobs: database.owner,
  signal: NEVER,
});
const helpers = {} as JobHelpers;

test('a task’s name is its path', async () => {
  const tasks = await loadTasks(join(import.meta.dirname, '..', '..', 'tasks'), deps());
  expect(Object.keys(tasks).toSorted()).toEqual([
    'admin/forget_audit',
    'alerts/check',
    'alerts/prune',
    'automations/advance_runs',
    'automations/announce_alerts',
    'automations/call_endpoint',
    'automations/continue_commands',
    'automations/deliver_webhooks',
    'automations/follow_dates',
    'automations/merge_runs',
    'automations/merge_runs_of_pages',
    'automations/prune_refusals',
    'automations/prune_run_logs',
    'automations/prune_runs',
    'automations/prune_starts',
    'automations/read_segment_entries',
    'automations/start_scheduled',
    'automations/start_segment',
    'delivery/observe_ended',
    'delivery/prune_content',
    'delivery/prune_sends',
    'delivery/send_queued',
    'feedback/forget_posts',
    'feedback/forget_topic_changes',
    'feedback/read_mailboxes',
    'http/forget_keys',
    'identity/prune_refused_links',
    'ingest/drop_partitions',
    'ingest/keep_partitions',
    'ingest/process_events',
    'ingest/prune_devices',
    'profiles/erase_person',
    'profiles/prune_anonymous',
    'providers/check_domains',
    'quotas/prune_use',
    'segments/fill',
    'segments/forget_history',
    'segments/prune_counters',
    'segments/refresh',
  ]);
});

test('a payload is parsed before the handler sees it', async () => {
  const seen: unknown[] = [];
  const bound = task(z.strictObject({ n: z.coerce.number() }), ({ n }, { workerId }) => {
    seen.push([n, workerId()]);
    return Promise.resolve();
  })(deps());
  await bound({ n: '7' }, helpers);
  expect(seen).toEqual([[7, 'w']]);
  await expect(bound({ n: 1, more: 2 }, helpers)).rejects.toThrow();
  expect(seen).toHaveLength(1);
});

test('every task refuses a payload without its ids', async () => {
  const tasks = await loadTasks(join(import.meta.dirname, '..', '..', 'tasks'), deps());
  const needNothing = [
    'admin/forget_audit',
    'alerts/check',
    'alerts/prune',
    'automations/prune_refusals',
    'automations/prune_run_logs',
    'automations/prune_runs',
    'automations/prune_starts',
    'delivery/prune_content',
    'delivery/prune_sends',
    'feedback/forget_posts',
    'feedback/forget_topic_changes',
    'feedback/read_mailboxes',
    'http/forget_keys',
    'identity/prune_refused_links',
    'ingest/drop_partitions',
    'ingest/keep_partitions',
    'ingest/prune_devices',
    'profiles/prune_anonymous',
    'providers/check_domains',
    'quotas/prune_use',
    'segments/forget_history',
    'segments/prune_counters',
  ];
  for (const [, run] of Object.entries(tasks).filter(([name]) => !needNothing.includes(name)))
    for (const payload of [{}, { project_id: 'x' }, null])
      await expect(Promise.resolve(run?.(payload, helpers))).rejects.toThrow();
});

test('what the queue keeps of a failure is its kind, never what it says', async () => {
  const bound = task(z.unknown(), () => Promise.reject(new TypeError('leaky@people.test')))(deps());
  await expect(bound({}, helpers)).rejects.toThrow(/^TypeError$/);
});
