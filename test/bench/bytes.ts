import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { checkpoint, openInstallation } from './installation.ts';
import { askAsFastAsAnswered } from './load.ts';
import type { Comparison } from './measure.ts';
import { openRawInsert } from './raw_insert.ts';
import { nextBatch } from './some_events.ts';

const ROUNDS = 5;
const BATCH_EVENTS = 50;
const BATCHES = 1_000;
const EVENTS = BATCHES * BATCH_EVENTS;
const CONNECTIONS = 32;

type Written = { log: number; disk: number };

/** How far the log has come, and how large the room's tables and indexes are, in bytes. */
const look = (url: string): Promise<Written> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<Written>(
      `select (pg_current_wal_lsn() - '0/0')::float8 as log,
         (select sum(pg_total_relation_size(oid)) from pg_class
          where relnamespace = 'ingest'::regnamespace and relkind = 'r')::float8 as disk`,
    );
    return rows[0] ?? { log: Number.NaN, disk: Number.NaN };
  });

/** What an accepted event writes, its message id and the note of its work included, before it is processed. */
export const bytes = async (): Promise<Comparison[]> => {
  const installation = await openInstallation();
  const { url } = installation;
  const service = await installation.start('api');
  const raw = await openRawInsert(url);
  const { server_key: token } = await createProject(installation.deps, 'bench');
  const load = { port: service.port, connections: CONNECTIONS, path: '/v1/events/batch', token };
  const accept = () =>
    askAsFastAsAnswered(load, () => nextBatch(BATCH_EVENTS), { afterRequests: BATCHES });
  const insert = async (): Promise<void> => {
    for (let at = 0; at < BATCHES; at += 1) await raw.insert(BATCH_EVENTS);
  };
  const writtenBy = async (work: () => Promise<unknown>): Promise<Written> => {
    await checkpoint(url);
    const before = await look(url);
    await work();
    const after = await look(url);
    return {
      log: (after.log - before.log) / EVENTS,
      disk: (after.disk - before.disk) / EVENTS,
    };
  };

  const [ours, theirs]: [Written[], Written[]] = [[], []];
  await accept();
  await insert();
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await writtenBy(accept));
    theirs.push(await writtenBy(insert));
  }
  await raw.close();
  await installation.close();
  return (['log', 'disk'] as const).map((what) => ({
    name: `bytes of ${what} for an accepted event, its message id included`,
    unit: 'bytes',
    measured: ours.map((written) => written[what]),
    comparedWith: 'the same event in the same table alone',
    comparison: theirs.map((written) => written[what]),
    good: { atMost: what === 'log' ? 1.5 : 1.3 },
  }));
};
