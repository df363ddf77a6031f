import type pg from 'pg';
import * as automations from '../automations/automations.ts';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import type { Hint } from '../base/hints.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import { SMTP_SEND_TIMEOUT_MS } from '../providers/providers.ts';
import { listDeadWorkers } from './liveness.ts';
import { dropSpentHints, findLostWork, listWork } from './work.ts';

export const SWEEP_EVERY_MS = 2_000;
/** A hint that old was lost; younger work is still on its way by itself. */
const OVERDUE_SECONDS = 2;
/** The provider's time-out plus twice the hand-off deadline: after that nobody is still sending it. */
export const SILENT_SECONDS =
  SMTP_SEND_TIMEOUT_MS / 1_000 + 2 * (delivery.HAND_OFF_DEADLINE_MS / 1_000);

const LEADER_LOCK = 'trunkline/sweeper';

/** Whether this process leads the sweep; the lock is kept until the connection ends. */
const isLeader = async (client: pg.Client): Promise<boolean> => {
  const { rows } = await client.query<{ leads: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as leads',
    [LEADER_LOCK],
  );
  return rows[0]?.leads ?? false;
};

/** Gives dead workers' jobs back and ends their hand-offs as unknown. Answers the projects concerned. */
const releaseDead = async (deps: Deps, client: pg.Client): Promise<void> => {
  const dead = await listDeadWorkers(client);
  for (const projectId of await findLostWork(client, dead, SILENT_SECONDS)) {
    const settled = await inProject(deps, projectId, (scope) =>
      delivery.settleLost(scope, dead, SILENT_SECONDS),
    );
    if (settled > 0)
      deps.log.warn({ project_id: projectId, settled }, 'hand-offs ended as unknown');
  }
  if (dead.length === 0) return;
  await client.query('select from queue.release_workers(worker_ids => $1)', [dead]);
  deps.log.warn({ workers: dead }, 'dead workers released');
};

/** Finds work that no job will find, and hints at it again. */
const hintOverdue = async (deps: Deps, client: pg.Client): Promise<void> => {
  const work = await listWork(client, OVERDUE_SECONDS);
  const hints: Hint[] = [
    ...work.pending.map(ingest.processHint),
    ...work.dueRuns.map(automations.advanceHint),
    ...work.queuedSends.map(({ project_id, provider_id }) =>
      delivery.sendHint(project_id, provider_id),
    ),
  ];
  if (hints.length > 0) deps.log.info({ hints: hints.length }, 'overdue work hinted at');
  await giveHints(
    deps,
    hints.map((one) => ({ ...one, isReminder: true })),
  );
};

const sweep = async (deps: Deps, client: pg.Client): Promise<void> => {
  if (!(await isLeader(client))) return;
  await releaseDead(deps, client);
  const spent = await dropSpentHints(client);
  if (spent > 0) deps.log.warn({ spent }, 'hints dropped that were spent');
  await hintOverdue(deps, client);
};

export type Sweeper = { stop: () => Promise<void> };

/** Sweeps every two seconds while this process leads, until stopped. A sweep that fails is tried again. */
export const startSweeper = (deps: Deps, client: pg.Client): Sweeper => {
  let running: Promise<void> = Promise.resolve();
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    running = sweep(deps, client)
      .catch((error: unknown) =>
        deps.log.warn({ err: error }, 'sweep failed; the next one tries again'),
      )
      .finally(() => {
        isBusy = false;
      });
  }, SWEEP_EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
};
