// The rates of bounces and complaints of a provider in 24 hours: at the threshold, one past it, and back.
import { beforeEach, describe, expect, test } from 'vitest';
import { inProject, sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { observeHandOffs, recordFacts } from '../../src/delivery/delivery.ts';
import {
  BOUNCE_RATE_SENDS_MIN,
  COMPLAINT_RATE_SENDS_MIN,
  judgeRate,
  RATE_HOURS,
} from '../../src/delivery/rates.ts';
import { createProject } from '../../src/projects/projects.ts';
import check from '../../tasks/alerts/check.ts';
import { sendsOf } from '../delivery/one_send.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { asWorker } from '../support/work_on.ts';

const database = testDatabase();
const api = testApi(database);
let providerId = '';
const projectId = () => api.project.project_id;
beforeEach(async () => {
  api.project = await createProject(database.deps, 'its own');
  providerId = newId();
  await keepProvider(database, projectId(), providerId);
});

const runCheck = () => check(asWorker(database))({}, undefined as never);
const list = async (status = 'open') =>
  (await api.call('GET', `/v1/alerts?status=${status}`, { key: api.project.server_key })).body
    .items;
const setCounts = (counts: { sent: number; bounced?: number; complained?: number }, hoursAgo = 0) =>
  database.owner.query(
    `insert into delivery.hourly_counts (project_id, provider_id, hour, sent, bounced, complained)
    values ($1, $2, date_trunc('hour', now(), 'UTC') - make_interval(hours => $6), $3, $4, $5)
    on conflict on constraint hourly_counts_pkey do update
    set sent = excluded.sent, bounced = excluded.bounced, complained = excluded.complained`,
    [projectId(), providerId, counts.sent, counts.bounced ?? 0, counts.complained ?? 0, hoursAgo],
  );
const settings = (body?: object) =>
  api.call(body ? 'POST' : 'GET', `/v1/projects/${projectId()}/alert-settings`, {
    key: api.project.server_key,
    ...(body ? { body } : {}),
  });

describe('the bounce rate of real sends', () => {
  test('alerts past 2 %, not at it, and resolves once it is well below', async () => {
    const sends = sendsOf(database, projectId());
    const sendIds: string[] = [];
    for (let nth = 0; nth < BOUNCE_RATE_SENDS_MIN; nth += 1) {
      const { sendId } = await sends.handingOff({ providerId });
      await sends.end(sendId, 'accepted');
      sendIds.push(sendId);
    }
    const observe = () => sends.within((scope) => observeHandOffs(scope));
    while ((await observe()).isMore);
    const bounce = (nth: number) =>
      sends.within((scope) =>
        recordFacts(scope, [
          { sendId: sendIds[nth] ?? '', fact: 'bounced', occurredAt: new Date() },
        ]),
      );
    await bounce(0);
    await bounce(1);
    await bounce(1);
    await runCheck();
    expect(await list()).toEqual([]);
    await bounce(2);
    await runCheck();
    await runCheck();
    expect(await list()).toMatchObject([
      {
        kind: 'bounce_rate',
        subject: { type: 'provider', id: providerId },
        details: { percent: 3, threshold_percent: 2, sent: BOUNCE_RATE_SENDS_MIN, reported: 3 },
        summary: expect.stringContaining(`3 of ${BOUNCE_RATE_SENDS_MIN} emails`),
      },
    ]);
    // Below the threshold, but not well below: it stays open.
    await setCounts({ sent: 200, bounced: 4 });
    await runCheck();
    expect(await list()).toHaveLength(1);
    await setCounts({ sent: 200, bounced: 3 });
    await runCheck();
    expect(await list()).toEqual([]);
    expect(await list('all')).toMatchObject([{ status: 'resolved' }]);
  }, 120_000);
});

describe('the complaint rate', () => {
  test('alerts past 0.1 %, not at it', async () => {
    await setCounts({ sent: COMPLAINT_RATE_SENDS_MIN, complained: 1 });
    await runCheck();
    expect(await list()).toEqual([]);
    await setCounts({ sent: COMPLAINT_RATE_SENDS_MIN, complained: 2 });
    await runCheck();
    expect(await list()).toMatchObject([
      { kind: 'complaint_rate', details: { percent: 0.2, threshold_percent: 0.1 } },
    ]);
  });

  test('says nothing of fewer sends than the minimum, and resolves without any', async () => {
    await setCounts({ sent: COMPLAINT_RATE_SENDS_MIN - 1, complained: 100 });
    await runCheck();
    expect(await list()).toEqual([]);
    await setCounts({ sent: COMPLAINT_RATE_SENDS_MIN, complained: 100 });
    await runCheck();
    expect(await list()).toHaveLength(1);
    await database.owner.query('delete from delivery.hourly_counts where project_id = $1', [
      projectId(),
    ]);
    await runCheck();
    expect(await list()).toEqual([]);
  });
});

test(`counts ${RATE_HOURS} hours, and deletes older ones in time`, async () => {
  await setCounts({ sent: 100, bounced: 50 }, RATE_HOURS);
  await runCheck();
  expect(await list()).toEqual([]);
  await setCounts({ sent: 100, bounced: 50 }, RATE_HOURS - 1);
  await setCounts({ sent: 100, bounced: 50 }, 50);
  await runCheck();
  expect(await list()).toMatchObject([{ kind: 'bounce_rate', details: { sent: 100 } }]);
  const { rows } = await database.owner.query(
    'select from delivery.hourly_counts where project_id = $1',
    [projectId()],
  );
  expect(rows).toHaveLength(2);
});

test('a project has thresholds of its own', async () => {
  expect((await settings()).body).toEqual({ bounce_percent: 2, complaint_percent: 0.1 });
  const own = { bounce_percent: 60, complaint_percent: 0.2 };
  expect((await settings(own)).body).toEqual(own);
  expect((await settings()).body).toEqual(own);
  await setCounts({ sent: 1_000, bounced: 500, complained: 2 });
  await runCheck();
  expect(await list()).toEqual([]);
  await settings({ bounce_percent: 49.9, complaint_percent: 0.199 });
  await runCheck();
  expect((await list()).map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
    'bounce_rate',
    'complaint_rate',
  ]);
});

test.each([
  ['bounce_percent', 0.009],
  ['bounce_percent', 100.1],
  ['complaint_percent', 0],
])('400 POST alert-settings: %s of %s', async (name, percent) => {
  const body = { bounce_percent: 2, complaint_percent: 0.1, [name]: percent };
  const answer = await settings(body);
  expect([answer.status, answer.body.issues[0].path]).toEqual([400, `/${name}`]);
});

test('the settings of another project do not exist', async () => {
  const path = `/v1/projects/${newId()}/alert-settings`;
  expect((await api.call('GET', path, { key: api.project.server_key })).status).toBe(404);
});

test.each([
  [{ sent: 1_000, reported: 20 }, 'keep'],
  [{ sent: 1_000, reported: 21 }, 'open'],
  [{ sent: 1_000, reported: 17 }, 'keep'],
  [{ sent: 1_000, reported: 16 }, 'resolve'],
  [{ sent: 99, reported: 99 }, 'keep'],
  [{ sent: 49, reported: 49 }, 'resolve'],
  [{ sent: 0, reported: 3 }, 'resolve'],
] as const)('of 2 %% and at least 100: %o means %s', (counts, verdict) => {
  expect(judgeRate(counts, { sendsMin: 100, thresholdPercent: 2 })).toBe(verdict);
});

test('two checks at once open one alert', async () => {
  await setCounts({ sent: 100, bounced: 50 });
  await Promise.all([runCheck(), runCheck()]);
  const { rows } = await inProject(database.deps, projectId(), ({ tx }) =>
    tx.query(sql.unsafe`select from alerts.alerts where project_id = ${projectId()}`),
  );
  expect(rows).toHaveLength(1);
});
