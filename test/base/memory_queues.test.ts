import { expect, test } from 'vitest';
import { listQueues, watchQueue } from '../../src/base/memory_queues.ts';
import { metricsOf } from '../../src/base/metrics.ts';
import { Resources } from '../../src/base/resources.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

test('what a queue holds, and may hold, is read when somebody asks', async () => {
  const deps = { ...database.deps, resources: new Resources() };
  const items: number[] = [];
  watchQueue(deps, 'some', { size: () => items.length, max: 7 });
  items.push(1, 2);
  const { text } = await metricsOf(deps).read();
  expect(text).toContain('trunkline_memory_queue_size{queue="some"} 2\n');
  expect(text).toContain('trunkline_memory_queue_size_max{queue="some"} 7\n');
  watchQueue(deps, 'some', { size: () => 0, max: 1 });
  expect([...listQueues(deps)].map(([name, { max }]) => [name, max])).toEqual([['some', 1]]);
  await deps.resources.close();
  expect(listQueues(deps).size).toBe(0);
});
