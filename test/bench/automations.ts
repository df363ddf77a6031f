import { setTimeout as wait } from 'node:timers/promises';
import { createActive } from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { dueRuns } from './due_runs.ts';
import { checkpoint, openInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { askAsFastAsAnswered } from './load.ts';
import { median } from './measure.ts';
import type { Comparison } from './measure.ts';
import { fiftySegments, membershipDelays, nextMatchingBatch } from './segments.ts';

const ROUNDS = 5;
const ROUND_MS = 4_000;
const BATCH_EVENTS = 50;
const CONNECTIONS = 32;
const POLL_MS = 20;
const AUTOMATIONS = 100;

/** Automations over one event name, each for another part of its events. */
const hundredAutomations = ({ deps }: Installation, projectId: string): Promise<void> =>
  inProject(deps, projectId, async (scope) => {
    for (let at = 0; at < AUTOMATIONS; at += 1)
      await createActive(scope, `bench ${at}`, {
        trigger: {
          kind: 'event',
          event: 'order_completed',
          where: [{ property: 'seconds', test: { is: 'equals', value: at } }],
        },
        settings: { re_entry: 'every_time' },
        entry: 'wait',
        steps: { wait: { kind: 'delay', duration: 'P7D', next: null } },
      });
  });

const IDLE = `select from ingest.pending union all select from profiles.changes
  union all select from segments.projects where due_at is not null
  union all select from automations.runs where status = 'active' and wake_at <= now() limit 1`;

/** Waits until nothing waits for a worker: neither events, nor members of segments, nor runs. */
const untilIdle = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    while ((await client.query(IDLE)).rowCount !== 0) await wait(POLL_MS);
  });

/** Accepting and processing for a project with automations and segments, beside one with none. */
const throughput = async (): Promise<Comparison[]> => {
  const installation = await openInstallation();
  const { url, deps } = installation;
  const service = await installation.start('api');
  await installation.start('worker');
  const busy = await createProject(deps, 'busy');
  const without = await createProject(deps, 'none');
  await fiftySegments(installation, busy.project_id);
  await hundredAutomations(installation, busy.project_id);
  await untilIdle(url);

  const load = { port: service.port, connections: CONNECTIONS, path: '/v1/events/batch' };
  const run = async (token: string): Promise<number> => {
    await checkpoint(url);
    const startedAt = performance.now();
    let batches = 0;
    const nextBody = () => ((batches += 1), nextMatchingBatch(BATCH_EVENTS));
    await askAsFastAsAnswered({ ...load, token }, nextBody, { afterMs: ROUND_MS });
    await untilIdle(url);
    return (batches * BATCH_EVENTS * 1_000) / (performance.now() - startedAt);
  };
  // So that everybody is known to both, and statistics are there.
  await run(busy.server_key);
  await run(without.server_key);
  const measured: number[] = [];
  const comparison: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    measured.push(await run(busy.server_key));
    comparison.push(await run(without.server_key));
  }
  const perSecond = median(measured) / 2;
  const delays = await membershipDelays(
    { ...installation, port: service.port, project: busy },
    perSecond,
  );
  await installation.close();
  return [
    {
      name: `events accepted and processed: ${AUTOMATIONS} automations, 50 segments, of 1 % of the events`,
      unit: 'events/s',
      measured,
      comparedWith: 'the same for a project with none',
      comparison,
      good: { atLeast: 0.7 },
    },
    delays,
  ];
};

/** What automations and segments cost those who send events, and each other. */
export const automations = async (): Promise<Comparison[]> => [
  ...(await throughput()),
  ...(await dueRuns()),
];
