import type pg from 'pg';
import * as automations from '../automations/automations.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import type { Hint } from '../base/hints.ts';
import { metricsOf } from '../base/metrics.ts';
import { lookAtSending } from '../base/sending.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import type { Config } from '../config.ts';
import { sendTimeoutMs } from '../providers/providers.ts';
import { readLateness } from './lateness.ts';
import { listDeadWorkers } from './liveness.ts';
import { findLost } from './lost.ts';
import { dropSpentHints, hastenRetries } from './tried_hints.ts';
import { listWork } from './work.ts';
import type { Work } from './work.ts';

export const SWEEP_EVERY_MS = 2_000;
const SPEAK_EVERY_MS = 2_000;
/** A hint that old was lost; younger work is still on its way by itself. */
const OVERDUE_SECONDS = 2;
/** The provider's time-out plus twice the hand-off deadline: after that nobody is still sending it. */
export const silentSeconds = ({ answerTimeoutMs }: Pick<Config, 'answerTimeoutMs'>): number =>
  (sendTimeoutMs(answerTimeoutMs) + 2 * delivery.HAND_OFF_DEADLINE_MS) / 1_000;

const LEADER_LOCK = 'trunkline/sweeper';

/** Whether this process leads the sweep; the lock is kept until the connection ends. */
const isLeader = async (client: pg.Client): Promise<boolean> => {
  const { rows } = await client.query<{ leads: boolean }>(
    `select exists (
      select from pg_locks
      where locktype = 'advisory' and pid = pg_backend_pid() and granted
      and ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)
    ) or pg_try_advisory_lock(hashtextextended($1, 0)) as leads`,
    [LEADER_LOCK],
  );
  return rows[0]?.leads ?? false;
};

/** Does what waits for other connections, maybe for long: whoever says nothing meanwhile is taken for frozen. */
const speaking = async <T>(client: pg.Client, work: () => Promise<T>): Promise<T> => {
  let said: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    said = said.then(() => client.query('select')).catch(() => {});
  }, SPEAK_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await said;
  }
};

/** Does something for each project; one that fails is told and does not hold up the others. */
const eachProject = (
  deps: Deps,
  client: pg.Client,
  projectIds: string[],
  work: (scope: Scope) => Promise<unknown>,
): Promise<void> =>
  speaking(client, async () => {
    for (const projectId of projectIds) {
      await inProject(deps, projectId, work).catch((error: unknown) => {
        deps.log.warn({ err: error, project_id: projectId }, 'a project could not be swept');
      });
    }
  });

/** Gives dead workers' jobs back, and what they took of providers, and ends their hand-offs as unknown. */
const releaseDead = async (deps: Deps, client: pg.Client, ownId: string): Promise<void> => {
  const dead = await listDeadWorkers(client, ownId);
  const silentFor = silentSeconds(deps.config);
  const { projects, shares } = await findLost(client, dead, silentFor);
  const concerned = new Set([...projects, ...shares.map(({ project_id }) => project_id)]);
  await eachProject(deps, client, [...concerned], async (scope) => {
    const settled = await delivery.settleLost(scope, dead, silentFor);
    if (settled > 0)
      deps.log.warn({ project_id: scope.projectId, settled }, 'hand-offs ended as unknown');
    for (const { project_id, provider_id } of shares)
      if (project_id === scope.projectId) await delivery.giveBackLost(scope, provider_id, dead);
  });
  if (dead.length === 0) return;
  // A dead worker is forgotten only when nothing of it is left: a send that somebody held was skipped.
  const left = await findLost(client, dead, silentFor);
  if (left.projects.length + left.shares.length > 0) return;
  await client.query('select from queue.release_workers(worker_ids => $1)', [dead]);
  deps.log.warn({ workers: dead }, 'dead workers released');
};

/** What an operator watches: how late work is, and what had to be found. */
const measure = async (
  deps: Deps,
  client: pg.Client,
  { found, isHeld }: { found: Work; isHeld: boolean },
): Promise<void> => {
  const metrics = metricsOf(deps);
  metrics.held.set(isHeld ? 1 : 0);
  for (const [kind, work] of Object.entries(found)) metrics.found.inc({ kind }, work.length);
  metrics.tellLateness(await readLateness(client));
};

/** Finds work that no job will find, and hints at it again. */
const hintOverdue = async (deps: Deps, client: pg.Client): Promise<void> => {
  const found = await listWork(client, OVERDUE_SECONDS);
  const isHeld = await speaking(client, () => lookAtSending(deps));
  await measure(deps, client, { found, isHeld });
  const work = isHeld ? { ...found, dueRuns: [], queuedSends: [], deliveries: [] } : found;
  await eachProject(deps, client, work.expired, (scope) => delivery.expireSends(scope));
  const hints: Hint[] = [
    ...work.pending.map(ingest.processHint),
    ...work.dueRuns.map(automations.advanceHint),
    ...work.segments.map(segments.refreshHint),
    ...work.segmentEntries.map(automations.segmentEntriesHint),
    ...work.movedDates.map(automations.datesHint),
    ...work.occurrences.map(automations.schedulesHint),
    ...work.segmentStarts.map(({ project_id, start_id }) =>
      automations.segmentStartHint(project_id, start_id),
    ),
    ...work.commands.map(({ project_id, automation_id }) =>
      automations.commandHint(project_id, automation_id),
    ),
    ...work.merges.map(({ project_id, profile_id }) =>
      // A run of a server that waits asks for the other lane by itself.
      automations.mergeHint(project_id, profile_id, 'page'),
    ),
    ...work.queuedSends.map(({ project_id, provider_id }) =>
      delivery.sendHint(project_id, provider_id),
    ),
    ...work.ended.map(delivery.observeHint),
    ...work.alerts.map(automations.announceHint),
    ...work.deliveries.map(({ project_id, endpoint_id }) =>
      automations.deliveryHint(project_id, endpoint_id),
    ),
    ...work.erasures.map(({ project_id, erasure_id }) =>
      profiles.eraseHint(project_id, erasure_id),
    ),
  ];
  if (hints.length > 0) deps.log.info({ hints: hints.length }, 'overdue work hinted at');
  const reminders = hints.map((one) => ({ ...one, isReminder: true }));
  await speaking(client, () => giveHints(deps, reminders));
};

/** Whoever leads no more says nothing of what it knew. */
const forgetMeasured = (deps: Deps): void => {
  const { held, tellLateness } = metricsOf(deps);
  tellLateness(null);
  held.reset();
};

const sweep = async (deps: Deps, client: pg.Client, ownId: string): Promise<void> => {
  if (!(await isLeader(client))) {
    forgetMeasured(deps);
    return;
  }
  await releaseDead(deps, client, ownId);
  const spent = await dropSpentHints(client);
  if (spent > 0) deps.log.warn({ spent }, 'hints dropped that were spent');
  await hastenRetries(client);
  await hintOverdue(deps, client);
};

export type Sweeper = { stop: () => Promise<void> };

/**
 * Sweeps at once and every two seconds while this process leads, until stopped, over a connection of its own: a
 * long sweep must not hold up the heartbeat. A sweep that fails is tried again.
 */
export const startSweeper = (deps: Deps, client: pg.Client, ownId: string): Sweeper => {
  let running = Promise.resolve();
  let isBusy = false;
  const begin = (): void => {
    isBusy = true;
    running = sweep(deps, client, ownId)
      .catch((error: unknown) =>
        deps.log.warn({ err: error }, 'sweep failed; the next one tries again'),
      )
      .finally(() => {
        isBusy = false;
      });
  };
  // Whoever comes after a crash gives back what those before them held.
  begin();
  const timer = setInterval(() => {
    if (!isBusy) begin();
  }, SWEEP_EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
      await client.end();
    },
  };
};
