import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { withClient } from '../../src/runtime/with_client.ts';
import type { Samples, Stand } from './evidence.ts';
import { noSamples } from './evidence.ts';
import type { Site } from './site.ts';
import type { Slot } from './slot.ts';

const EVERY_MS = 500;
const ROWS_MAX = 2_000;

type SendRow = Stand & { id: string };

/** Looks at the newest rows: what was seen once must not be otherwise later. */
const lookAtEvents = async (
  client: pg.Client,
  { events }: Samples,
  rowsMax: number | null,
): Promise<void> => {
  const { rows } = await client.query<{ id: string; digest: string }>(
    `select project_id || '/' || event_id as id, md5(event::text) as digest
    from ingest.events as event order by event_id desc limit $1`,
    [rowsMax],
  );
  for (const { id, digest } of rows) if (!events.has(id)) events.set(id, digest);
};

const lookAtSends = async (
  client: pg.Client,
  { sends }: Samples,
  rowsMax: number | null,
): Promise<void> => {
  const { rows } = await client.query<SendRow>(
    `select send_id as id, status, attempt_count, array_remove(array[
      case when delivered_at is not null then 'delivered' end,
      case when bounced_at is not null then 'bounced' end,
      case when complained_at is not null then 'complained' end
    ], null) as facts
    from delivery.sends order by send_id desc limit $1`,
    [rowsMax],
  );
  for (const { id, ...stand } of rows) {
    const stands = sends.get(id) ?? [];
    if (JSON.stringify(stands.at(-1)) !== JSON.stringify(stand)) stands.push(stand);
    sends.set(id, stands);
  }
};

const lookAtJobs = async (client: pg.Client, { payloads }: Samples): Promise<void> => {
  const { rows } = await client.query<{ payload: string }>(
    'select distinct payload::text as payload from graphile_worker._private_jobs',
  );
  for (const { payload } of rows) payloads.add(payload);
};

/** One look at everything that may change: at the newest rows, or where null at all of them. */
export const look = async (
  client: pg.Client,
  samples: Samples,
  rowsMax: number | null = ROWS_MAX,
): Promise<void> => {
  await lookAtEvents(client, samples, rowsMax);
  await lookAtSends(client, samples, rowsMax);
  await lookAtJobs(client, samples);
};

const lookAtMemory = ({ apis, workers }: Site, { residentMiB }: Samples): void => {
  for (const slot of [...apis, ...workers])
    residentMiB.set(slot.name, Math.max(residentMiB.get(slot.name) ?? 0, slot.residentMiB() ?? 0));
};

const METRICS_TIMEOUT_MS = 2_000;
const QUEUE = /^trunkline_memory_queue_size(_max)?\{queue="(\w+)"\} (\d+)/gm;

/** How long the queues in its memory are, as a process says: what is gone or frozen says nothing. */
const lookAtQueues = async ({ name, service }: Slot, { queues }: Samples): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${service?.port}/metrics`, {
    signal: AbortSignal.timeout(METRICS_TIMEOUT_MS),
  });
  for (const [, isMax, queue, value] of (await response.text()).matchAll(QUEUE)) {
    const known = queues.get(`${name} ${queue}`) ?? { most: 0, max: 0 };
    if (isMax === undefined) known.most = Math.max(known.most, Number(value));
    else known.max = Number(value);
    queues.set(`${name} ${queue}`, known);
  }
};

export type Watch = { samples: Samples; stop: () => Promise<void> };

/** Looks again and again, past what is down at the moment. */
export const startWatch = (site: Site): Watch => {
  const samples = noSamples();
  const stopped = new AbortController();
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      lookAtMemory(site, samples);
      await Promise.allSettled([
        withClient(site.url, (client) => look(client, samples)),
        ...[...site.apis, ...site.workers].map((slot) => lookAtQueues(slot, samples)),
      ]);
      await wait(EVERY_MS);
    }
  };
  const watching = watch();
  return {
    samples,
    stop: async () => {
      stopped.abort();
      await watching;
    },
  };
};
