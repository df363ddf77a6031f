// What one web page's publishable key can do to the servers of its project.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const TIMEOUT_MS = 120_000;
const BATCHES = 400;
const READS = 60;
const NO_LIMITS = {
  rateLimitPublishable: 0,
  rateLimitAddress: 0,
  unitLimitPublishable: 0,
  unitLimitAddress: 0,
  unitLimitAnonymous: 0,
};

type Kind = 'limited' | 'unlimited';
const listening = {} as Record<Kind, Listening>;
const resources = { limited: new Resources(), unlimited: new Resources() };
beforeAll(async () => {
  const { deps } = database;
  const configs = { limited: deps.config, unlimited: { ...deps.config, ...NO_LIMITS } };
  for (const kind of ['limited', 'unlimited'] as const)
    listening[kind] = await openApi(
      { ...deps, config: configs[kind], resources: resources[kind] },
      { isDraining: false },
      true,
    );
});
afterAll(async () => {
  for (const kind of ['limited', 'unlimited'] as const) {
    await listening[kind].close();
    await resources[kind].close();
  }
});

const send = async (kind: Kind, path: string, key: string, body?: object): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${listening[kind].port}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  await response.arrayBuffer();
  return response.status;
};

const countEach = (statuses: readonly number[]): Record<number, number> =>
  Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => [status, all.length]),
  );

/** Sends batches all at once; until they are answered, a server reads and writes, one request after the other. */
const attack = async (kind: Kind, body: (at: number) => object) => {
  const { publishable_key, server_key } = await createProject(database.deps, kind);
  let isOver = false;
  const flood = Promise.all(
    Array.from({ length: BATCHES }, (_, at) =>
      send(kind, '/segment/v1/batch', publishable_key, body(at)),
    ),
  ).finally(() => {
    isOver = true;
  });
  const reads: number[] = [];
  const writes: number[] = [];
  while (!isOver || reads.length < READS) {
    reads.push(await send(kind, '/v1/profiles?external_id=user-1', server_key));
    const event = { event: 'order_paid', external_id: 'ann' };
    writes.push(await send(kind, '/v1/events', server_key, event));
  }
  return { flood: countEach(await flood), reads: countEach(reads), writes: countEach(writes) };
};

const identifies = (count: number) => (at: number) => ({
  batch: Array.from({ length: count }, (_, index) => ({
    type: 'identify',
    userId: `user-${at}-${index}`,
    traits: { plan: 'pro' },
  })),
});

test(
  '400 parallel Segment batches of 500 identifies with a publishable key: a server key is always answered',
  { timeout: TIMEOUT_MS },
  async () => {
    const { flood, reads, writes } = await attack('limited', identifies(500));
    console.log('the flood was answered', flood);
    expect(Object.keys(reads)).toEqual(['200']);
    expect(Object.keys(writes)).toEqual(['202']);
    // One batch is a whole window of its address, and none is where others have paid for their bodies before.
    expect([BATCHES, BATCHES - 1]).toContain(flood[429]);
    expect((flood[200] ?? 0) + (flood[429] ?? 0)).toBe(BATCHES);
  },
);

test(
  'the same without any rate limit: pages wait for pages, and a server key is always answered',
  { timeout: TIMEOUT_MS },
  async () => {
    const { flood, reads, writes } = await attack('unlimited', identifies(10));
    console.log('the flood was answered', flood);
    expect(Object.keys(reads)).toEqual(['200']);
    expect(Object.keys(writes)).toEqual(['202']);
    expect((flood[200] ?? 0) + (flood[503] ?? 0)).toBe(BATCHES);
    expect(flood[503]).toBeGreaterThan(0);
  },
);
