import { setTimeout as wait } from 'node:timers/promises';
import { HINT_PAUSE_MS } from '../../src/base/hints.ts';
import { EXAMPLE_EVENT, keepExample } from '../../src/runtime/example.ts';
import { databaseUrl } from '../../src/runtime/scratch_postgres.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { startSmtpSink } from '../support/smtp_sink.ts';
import { openInstallation } from './installation.ts';
import { median, now } from './measure.ts';
import type { Comparison } from './measure.ts';
import { openQueueLatency } from './queue_latency.ts';

const ROUNDS = 5;
const SAMPLES_PER_ROUND = 20;
const WARM_UP_SAMPLES = 20;
const POLL_MS = 20;

const openWorld = async () => {
  const installation = await openInstallation();
  const sink = await startSmtpSink();
  const project = await keepExample(installation.deps, null, {
    display_name: 'Sink',
    from_email: 'hello@shop.test',
    from_name: 'Shop',
    reply_to: null,
    ...sink.settings,
  });
  const service = await installation.start('all', { NODE_EXTRA_CA_CERTS: sink.caFile });
  const close = async (): Promise<void> => {
    await installation.close();
    await sink.close();
  };
  return { url: installation.url, sink, project, base: `http://127.0.0.1:${service.port}`, close };
};

type World = Awaited<ReturnType<typeof openWorld>>;

/** Milliseconds from posting one sign-up to the first byte of its mail at the relay. */
const sampleEvent = async ({ sink, project, base }: World, person: string): Promise<number> => {
  const count = sink.mails.length;
  const postedAt = now();
  const response = await fetch(`${base}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.server_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      event: EXAMPLE_EVENT,
      external_id: person,
      properties: { email: `${person}@people.test` },
    }),
  });
  if (response.status !== 202) throw new Error(`the event was answered ${response.status}`);
  const mails = await sink.waitFor(count + 1);
  return (mails.at(-1)?.firstByteAt ?? Number.NaN) - postedAt;
};

/**
 * Waits until the outcome of everything is recorded, also on its person's timeline, no job is left, and the next event
 * need not wait for what was woken before: idle again.
 */
const untilIdle = async (url: string): Promise<void> => {
  await withClient(url, async (client) => {
    const isIdle = async (): Promise<boolean> => {
      const { rows } = await client.query<{ busy: number }>(
        `select (select count(*) from graphile_worker._private_jobs)::int
          + (select count(*) from ingest.pending)::int
          + (select count(*) from delivery.ended)::int
          + (select count(*) from delivery.sends where status in ('queued', 'handing_off'))::int as busy`,
      );
      return rows[0]?.busy === 0;
    };
    while (!(await isIdle())) await wait(POLL_MS);
    await wait(HINT_PAUSE_MS);
  });
};

/** Event accepted → first byte of the message at the relay, idle system, beside the queue's own add-to-start. */
export const firstByte = async (): Promise<Comparison[]> => {
  const world = await openWorld();
  await withClient(world.url, (client) => client.query('create database queue_alone'));
  const queue = await openQueueLatency(databaseUrl(world.url, 'queue_alone'));
  const measured: number[] = [];
  const comparison: number[] = [];
  for (let at = 0; at < WARM_UP_SAMPLES; at += 1) {
    await queue.sample();
    await sampleEvent(world, `warm-${at}`);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const events: number[] = [];
    const jobs: number[] = [];
    for (let at = 0; at < SAMPLES_PER_ROUND; at += 1) {
      await untilIdle(world.url);
      jobs.push(await queue.sample());
      events.push(await sampleEvent(world, `person-${round}-${at}`));
    }
    measured.push(median(events));
    comparison.push(median(jobs));
  }
  await queue.close();
  await world.close();
  return [
    {
      name: 'event accepted → first byte of its mail, median, idle',
      unit: 'ms',
      measured,
      comparedWith: "the queue's own add-to-start",
      comparison,
      good: { atMost: 5 },
      bound: { atMost: 100 },
    },
  ];
};
