import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { withClient } from '../../src/runtime/with_client.ts';
import { findRows } from './evidence.ts';
import type { Evidence, Samples } from './evidence.ts';
import type { Fault } from './faults.ts';
import type { Inject } from './injections.ts';
import { judge } from './invariants.ts';
import type { Verdict } from './invariants.ts';
import { Journal } from './journal.ts';
import { startLoad } from './load.ts';
import { Probes } from './probes.ts';
import { Random } from './random.ts';
import type { Site } from './site.ts';
import { openSite } from './site.ts';
import { readTimelines } from './timelines.ts';
import { findUnfinished } from './unfinished.ts';
import { look, startWatch } from './watch.ts';

export type Plan = {
  seed: number;
  /** `once`: until each fault has come about. */
  forMs: number | 'once';
  faults: readonly (Fault & { inject: readonly Inject[] })[];
};

export type Injected = {
  /** How often it was brought about. */
  times: number;
  /** How long work took to go on after it each time, in milliseconds; null where it did not. */
  recoveredMs: (number | null)[];
};

export type Ran = {
  verdicts: Verdict[];
  injected: Map<string, Injected>;
  journal: Journal;
  samples: Samples;
  /** Ends that processes came to by themselves. */
  ownEnds: string[];
  complaints: Map<string, number>;
  lostInDeploys: string[];
  /** What was answered around a fault otherwise than it must be. */
  wrong: string[];
  messages: number;
  /** How many sends stand how. */
  sends: Map<string, number>;
  idleAfterMs: number | null;
  startedProcesses: number;
};

const WARM_UP_MS = 3_000;
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 5_000;
/** P6: work goes on within this time of any fault. */
export const RECOVERY_MAX_MS = 60_000;
const LOOK_MS = 250;

const readClock = async (client: pg.Client): Promise<Date> => {
  const { rows } = await client.query<{ now: Date }>('select now()');
  return rows[0]?.now ?? new Date();
};

/** Waits until nothing is left to do; answers how long it took, or null when it did not come to that in time. */
const settle = async ({ url }: Site): Promise<{ afterMs: number; at: Date } | null> => {
  const startedAt = performance.now();
  while (performance.now() - startedAt < RECOVERY_MAX_MS) {
    const idleAt = await withClient(url, async (client) => {
      const at = await readClock(client);
      return (await findUnfinished(client)).length === 0 ? at : null;
    }).catch(() => null);
    if (idleAt) return { afterMs: performance.now() - startedAt, at: idleAt };
    await wait(LOOK_MS);
  }
  return null;
};

const say = (words: string): void => console.log(`${new Date().toISOString()}  ${words}`);

const injectFaults = async (
  site: Site,
  { plan, random, probes }: { plan: Plan; random: Random; probes: Probes },
): Promise<Ran['injected']> => {
  const injected: Ran['injected'] = new Map();
  const isOnce = plan.forMs === 'once';
  const endAt = performance.now() + (plan.forMs === 'once' ? 0 : plan.forMs);
  let bag: Plan['faults'] = isOnce ? random.shuffle(plan.faults) : [];
  while (isOnce ? bag.length > 0 : performance.now() < endAt) {
    // Each comes once before any comes twice.
    if (bag.length === 0) bag = random.shuffle(plan.faults);
    const [fault, ...rest] = bag;
    if (!fault) break;
    bag = rest;
    say(`${fault.id} ${fault.name}`);
    const cameAbout = await random.pick(fault.inject)(site, random);
    if (cameAbout === false) say(`${fault.id} did not come about`);
    const known = injected.get(fault.id) ?? { times: 0, recoveredMs: [] };
    known.times += cameAbout === false ? 0 : 1;
    injected.set(fault.id, known);
    probes.start((ms) => known.recoveredMs.push(ms));
    await wait(random.between(PAUSE_MIN_MS, PAUSE_MAX_MS));
  }
  return injected;
};

const countSends = async (client: pg.Client): Promise<Map<string, number>> => {
  const { rows } = await client.query<{ status: string; count: number }>(
    `select concat_ws(' ', status, status_reason) as status, count(*)::int as count
    from delivery.sends group by 1 order by 2 desc`,
  );
  return new Map(rows.map(({ status, count }) => [status, count]));
};

/** Hand-offs of processes that were replaced in order, and that nobody knows the end of. */
const findLostInDeploys = async (client: pg.Client, { deploys }: Site): Promise<string[]> => {
  const found: string[] = [];
  for (const { from, until } of deploys) {
    const lost = `select send_id, attempt, started_at, reason from delivery.attempts
      where extract(epoch from started_at) * 1000 between $1 and $2
      and coalesce(outcome, 'unknown') = 'unknown'`;
    found.push(...(await findRows({ client }, lost, [from, until])));
  }
  return found;
};

/** One run: load, faults, quiet, judgement. */
export const run = async (plan: Plan): Promise<Ran> => {
  const site = await openSite();
  const journal = new Journal();
  const random = new Random(plan.seed);
  const watch = startWatch(site);
  journal.startedAt = await withClient(site.url, readClock);
  const load = startLoad(site, journal, random.fork());
  const probes = new Probes(site, journal, random.fork());
  await wait(WARM_UP_MS);
  const injected = await injectFaults(site, { plan, random, probes });
  site.relays.behave();
  say('no more faults; the load ends');
  await load.stop();
  await probes.finish();
  const idle = await settle(site);
  const idleAfterMs = idle && idle.afterMs;
  await watch.stop();
  say(idleAfterMs === null ? 'still busy' : `idle after ${Math.round(idleAfterMs)} ms; judging`);
  const slots = [...site.apis, ...site.workers];
  // Before the judging, which keeps the proxies from passing anything on for longer than a session may be silent.
  const ownEnds = slots.flatMap(({ name, ownEnds: ends }) => ends.map((end) => `${name}: ${end}`));
  const client = new pg.Client({ connectionString: site.url });
  await client.connect();
  const seen = await site.relays.listSeen();
  const { addressKey, secrets, leaks, complaints, wrong } = site;
  const timelines = await readTimelines(site, journal);
  const { samples } = watch;
  // How it ended is held against how it was, of whatever was ever seen.
  await look(client, samples, null);
  const evidence: Evidence = {
    client,
    journal,
    samples,
    seen,
    seenUntil: idle ? idle.at : new Date(),
    timelines,
    addressKey,
    secrets,
    leaks,
  };
  const verdicts = await judge(evidence);
  const sends = await countSends(client);
  const lostInDeploys = await findLostInDeploys(client, site);
  await client.end();
  const startedProcesses = slots.reduce((sum, { starts }) => sum + starts, 0);
  await site.close();
  return {
    verdicts,
    injected,
    journal,
    samples,
    ownEnds,
    complaints,
    lostInDeploys,
    wrong,
    messages: seen.length,
    sends,
    idleAfterMs,
    startedProcesses,
  };
};
