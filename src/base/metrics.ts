import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { countConnections } from './db_pools.ts';
import type { Deps } from './deps.ts';
import { listQueues } from './memory_queues.ts';
import type { MemoryQueue } from './memory_queues.ts';

/** Seconds, from a cached read to what nobody waits for. */
const WORK_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Seconds, from a prompt webhook to one that was sent again for days. */
const LAG_SECONDS = [1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400, 259_200];
const EVENTS = [1, 2, 5, 10, 25, 50, 100, 250, 500];

type Where = Pick<Deps, 'db' | 'resources'>;

const makePool = (deps: Where, registers: Registry[]) =>
  new Gauge({
    name: 'trunkline_pool_connections',
    help: 'Connections of this process to Postgres: acquired, idle, and callers that wait for one.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(countConnections(deps)))
        this.set({ state }, count);
    },
  });

const makeQueues = (deps: Where, registers: Registry[]): void => {
  const make = (name: string, help: string, read: (queue: MemoryQueue) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['queue'],
      registers,
      collect() {
        for (const [queue, one] of listQueues(deps)) this.set({ queue }, read(one));
      },
    });
  const queue = 'trunkline_memory_queue_size';
  make(queue, 'What waits in the memory of this process, or is under way.', ({ size }) => size());
  make(
    `${queue}_max`,
    'How much of it there may be; what comes then is refused, or left to others.',
    ({ max }) => max,
  );
};

const makeCounts = (registers: Registry[]) => ({
  events: new Counter({
    name: 'trunkline_events_total',
    help: 'Events that were accepted: stored, or known by their message_id.',
    labelNames: ['result'],
    registers,
  }),
  sends: new Counter({
    name: 'trunkline_hand_offs_total',
    help: 'Hand-offs to providers that ended, by their outcome and its reason.',
    labelNames: ['outcome', 'reason'],
    registers,
  }),
  notices: new Counter({
    name: 'trunkline_webhook_notices_total',
    help: 'Notices that webhooks told, by what became of them.',
    labelNames: ['source', 'result'],
    registers,
  }),
  connectionsClosed: new Counter({
    name: 'trunkline_connections_closed_total',
    help: 'Connections that were closed for others, because this process had CONNECTIONS_MAX.',
    registers,
  }),
  found: new Counter({
    name: 'trunkline_sweeper_found_total',
    help: 'Work that no job had found in time, by kind. Some after a crash; much without one is a fault.',
    labelNames: ['kind'],
    registers,
  }),
});

const makeTimes = (registers: Registry[]) => ({
  requests: new Histogram({
    name: 'trunkline_http_request_seconds',
    help: 'How long requests took to be answered, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: WORK_SECONDS,
    registers,
  }),
  flushSeconds: new Histogram({
    name: 'trunkline_flush_seconds',
    help: 'How long a shared commit of accepted events took.',
    buckets: WORK_SECONDS,
    registers,
  }),
  flushEvents: new Histogram({
    name: 'trunkline_flush_events',
    help: 'How many events shared a commit.',
    buckets: EVENTS,
    registers,
  }),
  jobs: new Histogram({
    name: 'trunkline_job_seconds',
    help: 'How long jobs took, by task and whether they failed.',
    labelNames: ['task', 'result'],
    buckets: WORK_SECONDS,
    registers,
  }),
  lag: new Histogram({
    name: 'trunkline_webhook_lag_seconds',
    help: 'From what happened to a message to when its webhook told us.',
    labelNames: ['source'],
    buckets: LAG_SECONDS,
    registers,
  }),
});

/** How late work is, in seconds by kind, how many workers live, and how many alerts of each kind are open. */
export type Lateness = {
  oldest: Readonly<Record<string, number>>;
  workers: number;
  alerts: Readonly<Record<string, number>>;
};

/** Told by whoever leads the sweep, and by processes without a worker, which ask when they are scraped. */
const makeLateness = (registers: Registry[]) => {
  let ask: (() => Promise<Lateness | null>) | null = null;
  const look = async (): Promise<void> => {
    if (ask) tell(await ask());
  };
  const oldest = new Gauge({
    name: 'trunkline_queue_oldest_seconds',
    help: 'How long the oldest work of a kind is overdue; 0 when none is.',
    labelNames: ['queue'],
    registers,
    collect: look,
  });
  const workers = new Gauge({
    name: 'trunkline_workers',
    help: 'Workers that are alive.',
    // With a label nothing is said where nothing is known.
    labelNames: ['state'],
    registers,
    collect: look,
  });
  const alerts = new Gauge({
    name: 'trunkline_alerts_open',
    help: 'Alerts to owners that are open, by kind.',
    labelNames: ['kind'],
    registers,
    collect: look,
  });
  const tell = (lateness: Lateness | null): void => {
    oldest.reset();
    workers.reset();
    alerts.reset();
    if (lateness === null) return;
    for (const [queue, seconds] of Object.entries(lateness.oldest)) oldest.set({ queue }, seconds);
    workers.set({ state: 'alive' }, lateness.workers);
    for (const [kind, count] of Object.entries(lateness.alerts)) alerts.set({ kind }, count);
  };
  return {
    /** Says this from now on; null: nothing is known any more. */
    tellLateness: tell,
    /** Asks this each time that somebody reads. */
    askLateness: (asked: () => Promise<Lateness | null>): void => {
      ask = asked;
    },
  };
};

const makeGauges = (registers: Registry[]) => ({
  streams: new Gauge({
    name: 'trunkline_streams',
    help: 'Streams that are open: what pages of the Console are told by.',
    registers,
  }),
  held: new Gauge({
    name: 'trunkline_sending_held',
    help: '1 while nothing is sent until `make resume-sending`. Told by the leading worker.',
    registers,
  }),
});

/** What this process measures of itself. No label names a project or a person. */
const makeMetrics = (deps: Where) => {
  const registry = new Registry();
  const registers = [registry];
  makePool(deps, registers);
  makeQueues(deps, registers);
  let isWatched = false;
  return {
    ...makeCounts(registers),
    ...makeTimes(registers),
    ...makeGauges(registers),
    ...makeLateness(registers),
    /** Everything, as Prometheus reads it. */
    read: async (): Promise<{ type: string; text: string }> => ({
      type: registry.contentType,
      text: await registry.metrics(),
    }),
    /** Memory, CPU, event loop and garbage collection too. */
    watchProcess: (): void => {
      if (!isWatched) collectDefaultMetrics({ register: registry });
      isWatched = true;
    },
    close: () => registry.clear(),
  };
};

export type Metrics = ReturnType<typeof makeMetrics>;

/** The metrics of this process. */
export const metricsOf = (deps: Where): Metrics => deps.resources.of(makeMetrics, deps);

const MS_PER_SECOND = 1_000;

/** Seconds since a moment of `performance.now()`. */
export const secondsSince = (startedAt: number): number =>
  (performance.now() - startedAt) / MS_PER_SECOND;
