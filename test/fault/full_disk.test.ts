// F17 and F18: a disk that is full. Nothing is answered 202 that is not stored, and all goes on once there is room.
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { Keys } from '../../src/base/keys.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { readConfig } from '../../src/config.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import { startService } from '../../src/runtime/start_service.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';
import { until } from '../support/until.ts';
import { openSmallDisk, whyNoSmallDisk } from './small_disk.ts';
import type { Part, SmallDisk } from './small_disk.ts';

const TEST_TIMEOUT_MS = 240_000;
const BATCH_EVENTS = 50;
const EVENT_CHARS = 900;
/** More than any disk here takes. */
const BATCHES_MAX = 3_000;
/** How many are sent yet when one was refused: some of them may find a place. */
const MORE = 5;

const whyNot = whyNoSmallDisk();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const openHouse = async (part: Part) => {
  const disk = await openSmallDisk(part);
  closing.push(() => disk.close());
  const env = {
    DATABASE_URL: disk.url,
    MASTER_KEY: TEST_MASTER_KEY,
    PORT: '0',
    LOG_LEVEL: 'fatal',
  };
  const config = readConfig(env);
  const keys = new Keys(config.masterKey, config.outerKeys);
  await migrate({ config, keys });
  const db = await openDb(runtimeUrl(config.databaseUrl, keys), 1);
  const project = await createProject({ db, keys }, 'of a small disk');
  await db.end();
  const start = async (role: 'api' | 'all' | 'worker'): Promise<Service> => {
    const service = await startService({ env: { ...env, ROLE: role } });
    closing.push(() => service.stop('SIGKILL'));
    return service;
  };
  return { disk, project, start };
};

/** Posts a batch; the same batch again has the same message ids. */
const post = async ({ port }: Service, project: NewProject, batch: number): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/v1/events/batch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${project.server_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      events: Array.from({ length: BATCH_EVENTS }, (_, at) => ({
        event: 'page_viewed',
        external_id: `person-${batch}`,
        properties: { op: `${batch}/${at}`, text: 'x'.repeat(EVENT_CHARS) },
        message_id: `${batch}/${at}`,
      })),
    }),
  });

type Sent = { stored: number[]; refused: number[] };

/** Posts while the disk is kept full, until one is refused, and some more. */
const postUntilFull = async (
  service: Service,
  project: NewProject,
  disk: SmallDisk,
): Promise<Sent> => {
  const sent: Sent = { stored: [], refused: [] };
  let left = BATCHES_MAX;
  for (let batch = 0; batch < left; batch += 1) {
    await disk.fill();
    const answer = await post(service, project, batch);
    expect([202, 503]).toContain(answer.status);
    if (answer.status === 202) sent.stored.push(batch);
    else {
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      if (sent.refused.length === 0) left = batch + MORE;
      sent.refused.push(batch);
    }
    await answer.arrayBuffer();
  }
  return sent;
};

/** Every event of these is there, once, and no other. */
const expectStored = async (url: string, batches: number): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ events: number; ops: number }>(
    `select count(*)::int as events, count(distinct properties ->> 'op')::int as ops
    from ingest.events where name = 'page_viewed'`,
  );
  expect(rows).toEqual([{ events: batches * BATCH_EVENTS, ops: batches * BATCH_EVENTS }]);
  await until('all are processed', async () => {
    const { rowCount } = await client.query('select from ingest.pending');
    return rowCount === 0;
  });
  await client.end();
};

const postAgain = async (service: Service, project: NewProject, { refused }: Sent) => {
  for (const batch of refused)
    await until(`batch ${batch} is taken`, async () => {
      const answer = await post(service, project, batch);
      await answer.arrayBuffer();
      return answer.status === 202;
    });
};

test(
  'data: what finds no room is answered 503, and taken when there is room, by the same processes',
  { timeout: TEST_TIMEOUT_MS },
  async ({ skip }) => {
    skip(whyNot !== null, whyNot ?? '');
    const { disk, project, start } = await openHouse('data');
    const service = await start('all');
    const sent = await postUntilFull(service, project, disk);
    expect(sent.refused).not.toEqual([]);
    expect((await fetch(`http://127.0.0.1:${service.port}/healthz`)).status).toBe(200);
    await disk.free();
    await postAgain(service, project, sent);
    await expectStored(disk.url, sent.stored.length + sent.refused.length);
    // It lived through it.
    expect(await service.stop('SIGTERM')).toBe(0);
  },
);

/**
 * Connects, because a new session finds no room on a full disk, and returns a checkpoint that fails: one that cannot
 * write its file is a PANIC. The server ends, and its recovery needs room, too.
 */
const openFailingCheckpoint = async (url: string): Promise<() => Promise<void>> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return () => expect(client.query('checkpoint')).rejects.toThrow('terminated');
};

/** A server ends because it is full. Its api answers 503, and what was answered 202 is there once it is back. */
const expectBack = async (
  part: Part,
  openEnd: (url: string) => Promise<() => Promise<void>> = async () => async () => {},
): Promise<void> => {
  const { disk, project, start } = await openHouse(part);
  const api = await start('api');
  const end = await openEnd(disk.url);
  const sent = await postUntilFull(api, project, disk);
  expect(sent.refused).not.toEqual([]);
  await end();
  const refused = await post(api, project, BATCHES_MAX);
  expect(refused.status).toBe(503);
  sent.refused.push(BATCHES_MAX);
  await disk.free();
  await disk.restart();
  await postAgain(api, project, sent);
  await start('worker');
  await expectStored(disk.url, sent.stored.length + sent.refused.length);
  expect(await api.stop('SIGTERM')).toBe(0);
};

test(
  'data: a server that a checkpoint ends loses nothing that was answered 202',
  { timeout: TEST_TIMEOUT_MS },
  async ({ skip }) => {
    skip(whyNot !== null, whyNot ?? '');
    await expectBack('data', openFailingCheckpoint);
  },
);

test(
  'log: a server that cannot go on ends, and what was answered 202 is there once it is back',
  { timeout: TEST_TIMEOUT_MS },
  async ({ skip }) => {
    skip(whyNot !== null, whyNot ?? '');
    await expectBack('log');
  },
);
