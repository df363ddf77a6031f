// How each fault is brought about, while the load goes on.
import { setTimeout as wait } from 'node:timers/promises';
import type { Failpoint } from '../../src/base/failpoint.ts';
import { findFreePort } from '../../src/runtime/scratch_postgres.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import type { Action, Stage } from '../support/smtp_script.ts';
import { isStale, postSigned, signedNotice } from './signed.ts';
import type { FaultProxy } from './proxy.ts';
import type { Random } from './random.ts';
import type { Site } from './site.ts';
import type { Slot } from './slot.ts';

/** Answers false where it did not come about. */
export type Inject = (site: Site, random: Random) => Promise<boolean | void>;

const FAILPOINT_WITHIN_MS = 20_000;
const LOOK_MS = 50;
/** How long what lasts does so. */
const SHORT_MS = 8_000;
/** By then whoever was to notice a fault that is over has noticed. */
const NOTICED_MS = 10_000;

const endOf = async (slot: Slot, pid: number | undefined, withinMs: number): Promise<boolean> => {
  const giveUpAt = performance.now() + withinMs;
  while (slot.service?.pid === pid && performance.now() < giveUpAt) await wait(LOOK_MS);
  return slot.service?.pid !== pid;
};

/** Words in what is given to statements: most are prepared, and their own words are seen only once. */
const EVENT = 'page_viewed';
const HINT = 'delivery/send_queued';

export const killApi: Inject = ({ apis }, random) => random.pick(apis).end('SIGKILL');

export const killWorker: Inject = ({ workers }, random) => random.pick(workers).end('SIGKILL');

/** Again and again, both. */
export const killWorkers: Inject = async ({ workers }, random) => {
  for (let kill = 0; kill < 4; kill += 1) {
    await random.pick(workers).end('SIGKILL');
    await wait(random.between(2_000, 5_000));
  }
};

/** When the process's next statement with this mark is on its way: its answer is lost, and whoever asked is killed. */
const killAt =
  (role: 'api' | 'worker', mark: string, fate: 'cut_answer' | 'pass'): Inject =>
  async ({ proxies, apis, workers }, random) => {
    const proxy: FaultProxy = proxies[role];
    const slots = { api: apis, worker: workers }[role];
    if (!(await proxy.trap(mark, fate, FAILPOINT_WITHIN_MS))) return false;
    // Which of the two it was is not known: both are.
    const [first = random.pick(slots), second = first] = slots;
    await Promise.all([first.end('SIGKILL'), second.end('SIGKILL')]);
    return true;
  };

export const killApiBeforeAnswer = killAt('api', EVENT, 'cut_answer');
export const killWorkerBeforeHint = killAt('worker', HINT, 'pass');

/** A worker that ends itself at a named place. */
export const stopAt =
  (name: Failpoint): Inject =>
  async ({ workers }, random) => {
    const slot = random.pick(workers);
    const before = slot.starts;
    // It may come by that place as soon as it is there.
    slot.expectEnd(Infinity, 'anyhow');
    await slot.end('SIGKILL', { TEST_FAILPOINT: name });
    while (slot.starts === before) await wait(LOOK_MS);
    const isOver = await endOf(slot, slot.service?.pid, FAILPOINT_WITHIN_MS);
    slot.expectEnd(0);
    if (isOver) return true;
    // Nobody came by that place: an ordinary kill, so that no trap is left.
    await slot.end('SIGKILL');
    return false;
  };

/** Frozen for longer than its session lives, wherever it is. */
export const freezeWorker: Inject = async ({ workers }, random) => {
  const slot = random.pick(workers);
  slot.signal('SIGSTOP');
  await wait(random.between(6_000, 20_000));
  // It finds its session gone, and ends itself.
  slot.expectEnd(NOTICED_MS);
  slot.signal('SIGCONT');
};

/** One process after the other, in order, as a new release comes. */
export const deploy: Inject = async ({ apis, workers, deploys }) => {
  const from = Date.now();
  for (const slot of [...apis, ...workers]) {
    await slot.end('SIGTERM');
    while (!slot.service) await wait(LOOK_MS);
  }
  deploys.push({ from, until: Date.now() });
};

const DAY_MS = 86_400_000;

/** What a process is started with whose clock is so many milliseconds off, and runs so much faster than time goes. */
const clockOff = (ms: number, drift = 0): string =>
  '--import=data:text/javascript,' +
  encodeURIComponent(`const Right = Date;
const start = Right.now();
const told = () => Math.round(Right.now() + ${ms} + (Right.now() - start) * ${drift});
globalThis.Date = class Date extends Right {
  constructor(...given) { if (given.length > 0) super(...given); else super(told()); }
  static now() { return told(); }
};`);

/** Whose clock is right again is asked yet by who was answered before. */
const STILL_OFF_MS = 5_000;

/** What a relay signed is refused by an api whose clock is a day off, which says why; sent again it is taken. */
const postAtBothTimes = async (
  { projects, wrong }: Site,
  slot: Slot,
  pass: () => Promise<void>,
): Promise<void> => {
  const { project_id: projectId } = projects.calm;
  const notice = signedNotice('delivered', `nobody-${crypto.randomUUID()}@people.test`);
  const post = async () => postSigned(slot.service?.port ?? 0, projectId, notice);
  const refused = await post();
  if (!isStale(refused)) wrong.push(`${slot.name}, its clock off, said ${JSON.stringify(refused)}`);
  await pass();
  const taken = await post();
  const isTaken = taken.status === 200 && taken.body['accepted'] === 1;
  if (!isTaken) wrong.push(`${slot.name}, its clock right again, said ${JSON.stringify(taken)}`);
};

/** One process is a day before its time, or behind it, for a while. */
export const shiftClock =
  (role: 'api' | 'worker', days: number, drift = 0): Inject =>
  async (site, random) => {
    const slot = random.pick({ api: site.apis, worker: site.workers }[role]);
    const replace = async (env: Record<string, string> = {}) => {
      // One that is just being started has its settings already.
      while (slot.service === null) await wait(LOOK_MS);
      const before = slot.starts;
      await slot.end('SIGTERM', env);
      while (slot.starts === before) await wait(LOOK_MS);
    };
    site.clockOffUntil = Infinity;
    await replace({ NODE_OPTIONS: clockOff(days * DAY_MS, drift) });
    const pass = async () => {
      await wait(SHORT_MS);
      await replace();
    };
    if (role === 'api' && days !== 0) await postAtBothTimes(site, slot, pass);
    else await pass();
    site.clockOffUntil = performance.now() + STILL_OFF_MS;
  };

/** Whoever holds a session of liveness ends itself in order when it is lost: while this lasts, and soon after it. */
const loseSessions = async ({ workers }: Site, fault: () => Promise<unknown>): Promise<void> => {
  for (const slot of workers) slot.expectEnd(Infinity);
  await fault();
  for (const slot of workers) slot.expectEnd(NOTICED_MS);
};

export const crashPostgres: Inject = (site, random) =>
  loseSessions(site, () => site.server.restart('immediate', random.between(0, 3_000)));

export const restartPostgres: Inject = (site, random) =>
  loseSessions(site, () => site.server.restart('fast', random.between(0, 3_000)));

/** As a failover: it ends, and the name that it is known by leads to another address from then on. */
export const movePostgres: Inject = (site, random) =>
  loseSessions(site, async () => {
    await site.server.restart('fast', random.between(0, 3_000), await findFreePort());
    for (const proxy of Object.values(site.proxies)) proxy.leadTo(site.url);
  });

export const terminateBackends: Inject = (site) =>
  loseSessions(site, () =>
    withClient(site.url, (client) =>
      client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename is not null',
      ),
    ),
  );

/** The connections of the api alone, at the moment of a statement, or those of the workers too. */
export const cutConnections: Inject = async (site, random) => {
  const { api, worker } = site.proxies;
  await api.trap(EVENT, 'cut_answer', 1_000);
  const isOfAll = random.pick([false, true]);
  api.cutAll();
  if (isOfAll) await loseSessions(site, () => Promise.resolve(worker.cutAll()));
};

export const slowDatabase: Inject = async ({ proxies }, random) => {
  for (const proxy of [proxies.api, proxies.worker]) {
    proxy.latencyMs = 200;
    proxy.bytesPerSecond = 512 * 1024;
  }
  await wait(random.between(5_000, 12_000));
  for (const proxy of [proxies.api, proxies.worker]) {
    proxy.latencyMs = 0;
    proxy.bytesPerSecond = Infinity;
  }
};

/** Rows that one project's work needs are locked for a while: all its addresses. */
export const lockRows: Inject = ({ url, projects }, random) =>
  withClient(url, async (client) => {
    await client.query('begin');
    await client.query('select from suppression.addresses where project_id = $1 for update', [
      projects.wild.project_id,
    ]);
    await wait(random.between(5_000, 15_000));
    await client.query('rollback');
  });

/** One relay behaves so for a while. */
export const misbehave =
  (stage: Stage, ...actions: Action[]): Inject =>
  async ({ relays }, random) => {
    relays.misbehave(stage, random.pick(actions), 5);
    await wait(SHORT_MS);
    relays.behave();
  };

export const throttle: Inject = async ({ relays }, random) => {
  const headers = random.isLucky(0.5) ? { 'retry-after': '2' } : {};
  relays.relay.play('/email/mime', { status: 429, json: {}, headers }, 5);
  relays.cloud.play('/outbound-emails', { status: 429, json: { message: 'slower' } }, 5);
  relays.misbehave('rcpt', random.pick([{ code: 421 }, { code: 451 }, { code: 454 }]), 5);
  await wait(SHORT_MS);
  relays.behave();
};

export const answerBadly: Inject = async ({ relays }, random) => {
  relays.relay.play('/email/mime', random.pick(['drop', 'truncate', 'endless'] as const), 2);
  relays.cloud.play('/outbound-emails', random.pick(['drop', 'truncate'] as const), 2);
  relays.misbehave('end', random.pick([{ code: 554 }, { code: 552 }, 'drop' as const]), 3);
  await wait(SHORT_MS);
  relays.behave();
};
