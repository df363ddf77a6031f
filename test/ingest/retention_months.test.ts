// RETENTION_MONTHS: how far back events reach and how long they stay is one number, and may be another tomorrow.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config.ts';
import { newId } from '../../src/base/ids.ts';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { startWorker } from '../../src/worker/worker.ts';
import dropPartitions from '../../tasks/ingest/drop_partitions.ts';
import keepPartitions from '../../tasks/ingest/keep_partitions.ts';
import { testDatabase } from '../support/database.ts';
import { migrateAgain } from '../support/migrate_again.ts';
import { asWorker, workOn } from '../support/work_on.ts';

const database = testDatabase();
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** Parts of a process that was told another number. */
const told = (retentionMonths: number) => {
  const config: Config = { ...database.deps.config, retentionMonths };
  return { ...database.deps, config, resources: new Resources() };
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const runAs = async (job: typeof dropPartitions, retentionMonths: number): Promise<void> => {
  await job(asWorker(database, told(retentionMonths)))({}, undefined as never);
};

let project: NewProject;
beforeEach(async () => {
  project = await createProject(database.deps, 'test');
  for (const job of [keepPartitions, dropPartitions]) await runAs(job, 24);
});

/** An api that was told so. */
const openTold = async (retentionMonths: number) => {
  const deps = told(retentionMonths);
  const { port, close } = await openApi(deps, { isDraining: false }, true);
  closing.push(() => deps.resources.close(), close);
  const ask = async (path: string, body?: object, key = project.server_key) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, retryAfter, text: await response.text() };
  };
  const post = (at: Date, given: object = {}) =>
    ask('/v1/events', {
      event: 'made',
      external_id: 'ann',
      occurred_at: at.toISOString(),
      ...given,
    });
  const obstacle = async () => {
    const { status, text } = await ask('/readyz');
    return status === 200 ? null : (JSON.parse(text) as { reason: string }).reason;
  };
  return { ask, post, obstacle };
};

/** So many months ago, and then some. */
const ago = (months: number, moreMs = 0): Date => {
  const at = new Date();
  at.setUTCMonth(at.getUTCMonth() - months);
  return new Date(at.getTime() - moreMs);
};
/** The middle of a month. */
const within = (monthsAgo: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 15));
};

const count = async (table: string): Promise<number> => {
  const { rows } = await database.owner.query<{ count: number }>(
    `select count(*)::int from ${table} where project_id = $1`,
    [project.project_id],
  );
  return rows[0]?.count ?? 0;
};
const countMonths = async (): Promise<number> => {
  const { rowCount } = await database.owner.query(
    "select from pg_inherits where inhparent = 'ingest.events'::regclass",
  );
  return rowCount ?? 0;
};
/** With this month and three ahead. */
const AROUND_NOW = 4;

describe('an api that is told three months', () => {
  const ways: Record<string, [string, (at: string) => object, number]> = {
    'one event': [
      '/v1/events',
      (occurred_at) => ({ event: 'made', external_id: 'ann', occurred_at }),
      202,
    ],
    'a batch': [
      '/v1/events/batch',
      (occurred_at) => ({ events: [{ event: 'made', external_id: 'ann', occurred_at }] }),
      202,
    ],
    'who somebody is': [
      '/v1/identify',
      (occurred_at) => ({ external_id: 'ann', occurred_at }),
      202,
    ],
    "another library's call": [
      '/segment/v1/track',
      (timestamp) => ({ event: 'Made', userId: 'ann', timestamp }),
      200,
    ],
  };

  test.each(Object.entries(ways))(
    '%s: taken at the bound, refused one past it',
    async (_name, [path, bodyOf, taken]) => {
      const api = await openTold(3);
      const at = (time: Date) => api.ask(path, bodyOf(time.toISOString()));
      expect((await at(ago(3, -MINUTE_MS))).status).toBe(taken);
      const refused = await at(ago(3, SECOND_MS));
      expect(refused.status).toBe(400);
      expect(JSON.parse(refused.text)).toMatchObject({
        error: 'occurred_at_out_of_range',
        issues: [{ message: 'before the start of the timeline (3 months back)' }],
      });
    },
  );

  test('says so in its documents', async () => {
    const api = await openTold(3);
    const { text } = await api.ask('/docs');
    const [row = ''] = /<th scope="row">How far back events reach<\/th>.*/.exec(text) ?? [];
    expect(row).toContain('>3 months<');
  });
});

describe('more than before', () => {
  test('an api is not ready, and takes nothing there is no month for, until the months are made', async () => {
    const api = await openTold(30);
    expect(await api.obstacle()).toBe('months_missing');
    const refused = await api.post(within(29));
    expect(refused.status).toBe(503);
    expect(refused.retryAfter).toBe('60');
    expect(JSON.parse(refused.text)).toMatchObject({
      error: 'unavailable',
      detail: expect.stringContaining('no place for this month'),
    });
    expect((await api.post(within(23))).status).toBe(202);
    expect(await count('ingest.events')).toBe(1);

    await runAs(keepPartitions, 30);
    expect(await countMonths()).toBe(30 + AROUND_NOW);
    expect(await api.obstacle()).toBeNull();
    expect((await api.post(within(29))).status).toBe(202);
    expect(await count('ingest.events')).toBe(2);
  });

  test('a month that is missing in between, or the next, is missed too', async () => {
    for (const monthsAgo of [24, 7, 0]) {
      const name = `events_${within(monthsAgo).toISOString().slice(0, 7).replace('-', '')}`;
      await database.owner.query(`drop table ingest.${name}`);
      const api = await openTold(24);
      expect(await api.obstacle()).toBe('months_missing');
      await database.owner.query('select ingest.keep_partitions()');
      expect(await api.obstacle()).toBeNull();
    }
  });

  test('migrations make them, and those of a smaller number take none away', async () => {
    await migrateAgain(database, told(40));
    expect(await countMonths()).toBe(40 + AROUND_NOW);
    await migrateAgain(database, told(2));
    expect(await countMonths()).toBe(40 + AROUND_NOW);
  });

  test('a worker makes them when it starts', async () => {
    const worker = await startWorker(told(26), () => {});
    closing.push(() => worker.stop());
    expect(await countMonths()).toBe(26 + AROUND_NOW);
  });
});

describe('less than before', () => {
  test('months go with the next job, message ids with them; what is left stays known', async () => {
    const [before, now] = [await openTold(24), await openTold(3)];
    const [old, kept] = [within(10), within(2)];
    for (const [at, message_id] of [
      [old, 'old'],
      [kept, 'kept'],
    ] as const)
      expect((await before.post(at, { message_id })).status).toBe(202);

    await runAs(dropPartitions, 3);
    expect(await countMonths()).toBe(3 + AROUND_NOW);
    expect(await count('ingest.events')).toBe(1);
    expect(await count('ingest.message_ids')).toBe(1);
    expect((await now.post(old, { message_id: 'old' })).status).toBe(400);
    const again = await now.post(kept, { message_id: 'kept' });
    expect(JSON.parse(again.text)).toMatchObject({ accepted: 0, duplicates: 1 });
    await runAs(keepPartitions, 3);
    expect(await countMonths()).toBe(3 + AROUND_NOW);
  });

  test('what waits to be processed of a month that has gone holds up nothing', async () => {
    const before = await openTold(24);
    await before.post(within(10));
    await before.post(within(1), { external_id: 'eve' });
    await runAs(dropPartitions, 3);
    expect(await count('ingest.pending')).toBe(2);
    for (let job = 0; job < 2; job += 1) await workOn(database, project.project_id);
    expect(await count('ingest.pending')).toBe(0);
    const { rows } = await database.owner.query<{ value: string }>(
      'select value from identity.identities where project_id = $1',
      [project.project_id],
    );
    expect(rows).toEqual([{ value: 'eve' }]);
  });
});

describe('while processes were told different numbers', () => {
  test('an api whose months a worker drops stays ready, takes all else, and stores nothing of them', async () => {
    const api = await openTold(24);
    expect(await api.obstacle()).toBeNull();
    await runAs(dropPartitions, 3);
    expect(await api.obstacle()).toBeNull();
    const message_id = newId();
    expect((await api.post(within(10), { message_id })).status).toBe(503);
    expect((await api.post(within(2))).status).toBe(202);
    expect(await count('ingest.events')).toBe(1);
    expect(await count('ingest.message_ids')).toBe(0);

    // The job of whoever keeps more makes them again; the same message is then as good as new.
    await runAs(keepPartitions, 24);
    expect((await api.post(within(10), { message_id })).status).toBe(202);
  });

  test('what the service saw of a month that has gone is not kept, and fails nothing', async () => {
    await runAs(dropPartitions, 3);
    const api = await openTold(24);
    const traits = { email: 'ann@people.test' };
    expect((await api.ask('/v1/identify', { external_id: 'ann', traits })).status).toBe(202);
    const path = `/v1/webhooks/smtp/${project.project_id}`;
    for (const at of [within(10), within(2)]) {
      const notice = { event: 'delivered', recipient: traits.email, occurred_at: at.toISOString() };
      expect((await api.ask(path, notice, project.hook_token)).status).toBe(200);
    }
    const { rows } = await database.owner.query<{ occurred_at: Date }>(
      'select occurred_at from ingest.events where project_id = $1',
      [project.project_id],
    );
    expect(rows).toEqual([{ occurred_at: within(2) }]);
  });
});
