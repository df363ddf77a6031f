// What projects keep no longer of what they sent goes in small batches; what is still needed stays.
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { FIRST_ID, firstIdAt } from '../../src/base/ids.ts';
import {
  findCutoffs,
  pruneSends as pruneBatch,
  PRUNED_SENDS_MAX,
} from '../../src/delivery/prune.ts';
import { CONTENT_DAYS_MIN, KEPT_MONTHS_MIN } from '../../src/delivery/retention.ts';
import pruneRunLogs from '../../tasks/automations/prune_run_logs.ts';
import pruneContent from '../../tasks/delivery/prune_content.ts';
import pruneSends from '../../tasks/delivery/prune_sends.ts';
import { expectRefusal } from '../support/api.ts';
import { ownApi } from '../support/own_api.ts';
import { testDatabase } from '../support/database.ts';
import { asWorker } from '../support/work_on.ts';
import { addressKeyOf } from './one_send.ts';

const database = testDatabase();
const api = ownApi(database);
const DAY_MS = 86_400_000;
const MONTHS = 24;

/** What the worker does in a day. */
const prune = async (given: { signal?: AbortSignal } = {}): Promise<void> => {
  for (const job of [pruneContent, pruneSends, pruneRunLogs])
    await job({ ...asWorker(database), ...given })({}, undefined as never);
};
const query = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await database.owner.query<Row>(text, values)).rows;
const projectId = () => api.project.project_id;

const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);
/** The start of the month that is kept last, a little before or after. */
const monthsAgo = (months: number, plusMs: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1) + plusMs);
};
const idAt = (at: Date): string => `${firstIdAt(at).slice(0, 24)}${randomBytes(6).toString('hex')}`;

type Made = { at: Date; status?: string; runId?: string | null; touchedAt?: Date };

/** A send as it was made at some time, with its content, one attempt and the answer to it. */
const makeSend = async ({ at, status = 'accepted', runId = null, touchedAt = at }: Made) => {
  const id = idAt(at);
  const key = addressKeyOf(id);
  await query('insert into suppression.addresses (project_id, address_key) values ($1, $2)', [
    projectId(),
    key,
  ]);
  const of = [projectId(), id];
  await query(
    `insert into delivery.sends (project_id, send_id, run_id, step_id, profile_id, provider_id, template_id,
       template_version, address_key, recipient, subject, status, attempt_count, due_at, queued_at, expires_at,
       accepted_at)
     values ($1, $2, $3, 'a', $2, $2, $2, 1, $4, 'ann@example.com', 'Welcome', $5, 1, $6, $6, $6, $7)`,
    [...of, runId, key, status, at, touchedAt],
  );
  await query(
    `insert into delivery.contents values ($1, $2, 'Welcome', '<p>Welcome</p>', 'Welcome')`,
    of,
  );
  await query(
    `insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at, outcome,
       reply_code, reply_enhanced, reply_text, queue_id)
     values ($1, $2, 1, $2::uuid::text, 'w', $3, 'accepted', 250, '2.0.0', 'Ok', 'Q1')`,
    [...of, at],
  );
  return id;
};
const listIds = async (): Promise<string[]> =>
  (
    await query<{ send_id: string }>(
      'select send_id from delivery.sends where project_id = $1 order by send_id',
      [projectId()],
    )
  ).map(({ send_id }) => send_id);
const readSend = async (id: string) =>
  (await api.call('GET', `/v1/sends/${id}`, { key: api.project.server_key })).body;
const ask = (method: string, body?: object) =>
  api.call(method, `/v1/projects/${projectId()}/retention`, {
    key: api.project.server_key,
    ...(body ? { body } : {}),
  });
const hasContent = async (id: string): Promise<boolean> =>
  (await query('select from delivery.contents where send_id = $1', [id])).length === 1;

describe('content', () => {
  test('goes after 90 days, with the subject and the answers; the send says so and stays', async () => {
    const old = await makeSend({ at: daysAgo(91) });
    const young = await makeSend({ at: daysAgo(89) });
    await prune();
    const now = (await query<{ at: Date }>('select now() as at'))[0]?.at ?? new Date(0);
    const send = await readSend(old);
    expect(send).toMatchObject({ subject: null, answer: null, status: 'accepted', attempts: 1 });
    expect(Math.abs(Date.parse(send.content_removed_at) - now.getTime())).toBeLessThan(60_000);
    expect(await readSend(young)).toMatchObject({
      subject: 'Welcome',
      answer: { code: 250, enhanced_code: '2.0.0', text: 'Ok', queue_id: 'Q1' },
      content_removed_at: null,
    });
    expect([await hasContent(old), await hasContent(young)]).toEqual([false, true]);
    // The same again finds nothing: the moment stays.
    await prune();
    expect((await readSend(old)).content_removed_at).toBe(send.content_removed_at);
  });

  test.each(['queued', 'handing_off', 'unknown'])('of a send that is %s stays', async (status) => {
    const id = await makeSend({ at: daysAgo(400), status });
    await prune();
    expect(await hasContent(id)).toBe(true);
    expect((await readSend(id)).subject).toBe('Welcome');
  });

  test('of a send that was handed over late counts from then', async () => {
    const id = await makeSend({ at: daysAgo(95), touchedAt: daysAgo(85) });
    await prune();
    expect(await hasContent(id)).toBe(true);
  });

  test('goes by the number that the project chose', async () => {
    const id = await makeSend({ at: daysAgo(3) });
    expect((await ask('POST', { content_days: 2, sends_months: null })).status).toBe(200);
    await prune();
    expect(await hasContent(id)).toBe(false);
  });
});

describe('a send', () => {
  test('goes with its attempts a month at a time, as events do', async () => {
    const gone = await makeSend({ at: monthsAgo(MONTHS, -1) });
    const kept = await makeSend({ at: monthsAgo(MONTHS, 1) });
    await prune();
    expect(await listIds()).toEqual([kept]);
    expect(await query('select from delivery.attempts where send_id = $1', [gone])).toEqual([]);
    expect(
      (await api.call('GET', `/v1/sends/${gone}`, { key: api.project.server_key })).status,
    ).toBe(404);
  });

  test('goes by the months that the project chose', async () => {
    const [, kept] = [
      await makeSend({ at: monthsAgo(3, -1) }),
      await makeSend({ at: monthsAgo(3, 1) }),
    ];
    await ask('POST', { content_days: 90, sends_months: 3 });
    await prune();
    expect(await listIds()).toEqual([kept]);
  });

  test.each(['queued', 'handing_off', 'unknown'])('that is %s stays', async (status) => {
    const id = await makeSend({ at: daysAgo(2_000), status });
    await prune();
    expect(await listIds()).toEqual([id]);
  });

  test('that its provider reported on since stays', async () => {
    const id = await makeSend({ at: monthsAgo(MONTHS, -1), touchedAt: monthsAgo(MONTHS, 1) });
    await prune();
    expect(await listIds()).toEqual([id]);
  });

  test('that a frequency cap still counts stays', async () => {
    await ask('POST', { content_days: 90, sends_months: 2 });
    const automationId = await makeAutomation({ frequency_cap: { sends: 1, per: 'P1Y' } });
    const counted = await makeSend({ at: daysAgo(360) });
    const past = await makeSend({ at: daysAgo(370) });
    await prune();
    expect(await listIds()).toEqual([counted]);
    await query(
      `update automations.automations set status = 'archived', active_version = null where automation_id = $1`,
      [automationId],
    );
    await prune();
    expect(await listIds()).toEqual([]);
    expect(past).not.toBe(counted);
  });
});

/** An automation, active with a version of these settings. */
const makeAutomation = async (settings: object = {}): Promise<string> => {
  const id = randomUUID();
  await query(
    `insert into automations.automations (project_id, automation_id, name, status, created_at, updated_at)
     values ($1, $2, 'Welcome', 'draft', now(), now())`,
    [projectId(), id],
  );
  await query('insert into automations.versions values ($1, $2, 1, $3, now())', [
    projectId(),
    id,
    { settings },
  ]);
  return id;
};

describe('a run', () => {
  const makeRun = async (automationId: string, at: Date, status: string): Promise<string> => {
    const id = idAt(at);
    await query(
      `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
         started_at, ended_at)
       values ($1, $2, $3, 1, $2, $2::uuid::text, $4::text, $5, case when $4::text = 'ended' then $5::timestamptz end)`,
      [projectId(), id, automationId, status, at],
    );
    await query(
      `insert into automations.run_log (project_id, run_id, entry, step_id, decision, decided_at)
       select $1, $2, entry, 'a', 'entered', $3 from generate_series(1, 3) as entry`,
      [projectId(), id, at],
    );
    return id;
  };
  const logged = async (): Promise<string[]> =>
    (
      await query<{ run_id: string }>(
        'select distinct run_id from automations.run_log where project_id = $1 order by 1',
        [projectId()],
      )
    ).map(({ run_id }) => run_id);

  test('loses its log and stays itself, so that no person goes through twice', async () => {
    const automationId = await makeAutomation();
    const gone = await makeRun(automationId, monthsAgo(MONTHS, -1), 'ended');
    const kept = await makeRun(automationId, monthsAgo(MONTHS, 1), 'ended');
    await prune();
    expect(await logged()).toEqual([kept]);
    const runs = await query<{ run_id: string }>(
      'select run_id from automations.runs where project_id = $1 order by 1',
      [projectId()],
    );
    expect(runs.map(({ run_id }) => run_id)).toEqual([gone, kept]);
  });

  test.each(['active', 'paused', 'failed'])(
    'that is %s keeps its log and its sends',
    async (status) => {
      const at = monthsAgo(MONTHS, -1);
      const runId = await makeRun(await makeAutomation(), at, status);
      const sendId = await makeSend({ at, runId });
      await prune();
      expect([await logged(), await listIds()]).toEqual([[runId], [sendId]]);
    },
  );
});

test('feedback events go by when they arrived, of every source', async () => {
  const insert = (source: string, key: string, at: Date) =>
    query(
      `insert into feedback.notices (project_id, source, dedupe_key, kind, occurred_at, received_at)
       values ($1, $2, $3, 'delivered', $4, $4)`,
      [projectId(), source, key, at],
    );
  for (const source of ['mailgun', 'smtp', 'smtp2go']) {
    await insert(source, 'old', monthsAgo(MONTHS, -1));
    await insert(source, 'young', monthsAgo(MONTHS, 1));
  }
  await prune();
  const left = await query(
    'select source, dedupe_key from feedback.notices where project_id = $1 order by 1',
    [projectId()],
  );
  expect(left).toEqual(
    ['mailgun', 'smtp', 'smtp2go'].map((source) => ({ source, dedupe_key: 'young' })),
  );
});

test('one batch takes a bounded number, and the job goes on until all is done', async () => {
  const at = monthsAgo(MONTHS, -DAY_MS);
  await query(
    `insert into delivery.sends (project_id, send_id, profile_id, provider_id, template_id, template_version,
       status, due_at, queued_at, expires_at)
     select $1, overlay($2 placing lpad(n::text, 12, '0') from 25)::uuid, $1, $1, $1, 1, 'rejected', $3, $3, $3
     from generate_series(1, $4) as n`,
    [projectId(), idAt(at), at, PRUNED_SENDS_MAX + 1],
  );
  const listUnfinished = () => Promise.resolve(new Set<string>());
  const next = (after: string) =>
    inProject(database.deps, projectId(), async (scope) => {
      const { sends: before } = await findCutoffs(scope, MONTHS);
      return pruneBatch(scope, { before, listUnfinished }, after);
    });
  const first = await next(FIRST_ID);
  expect(first.pruned).toBe(PRUNED_SENDS_MAX);
  expect((await listIds()).length).toBe(1);
  expect(await next(first.after ?? FIRST_ID)).toEqual({ pruned: 1, after: null });
});

test('a stop between two batches leaves work that the next run finds', async () => {
  await makeSend({ at: monthsAgo(MONTHS, -1) });
  await prune({ signal: AbortSignal.abort() });
  expect(await listIds()).toHaveLength(1);
  await prune();
  expect(await listIds()).toEqual([]);
});

test('a send that is being changed is left for the next run', async () => {
  const id = await makeSend({ at: monthsAgo(MONTHS, -1) });
  await query('begin');
  await query('select from delivery.sends where send_id = $1 for update', [id]);
  await prune();
  await query('rollback');
  expect(await listIds()).toEqual([id]);
});

describe('POST /v1/projects/{project_id}/retention', () => {
  test('200: what was chosen, and the defaults before that', async () => {
    const asEvents = { sends_months: null, runs_months: null, anonymous_months: null };
    expect((await ask('GET')).body).toEqual({ content_days: 90, ...asEvents });
    const least = KEPT_MONTHS_MIN;
    const chosen = {
      content_days: CONTENT_DAYS_MIN,
      sends_months: least,
      runs_months: least,
      anonymous_months: least,
    };
    expect((await ask('POST', chosen)).body).toEqual(chosen);
    expect((await ask('GET')).body).toEqual(chosen);
  });

  test('200: months of runs and of anonymous people that are left out stay; null is as events', async () => {
    const some = { content_days: 90, sends_months: null };
    await ask('POST', { ...some, runs_months: 6, anonymous_months: 7 });
    expect((await ask('POST', { ...some, content_days: 30 })).body).toEqual({
      content_days: 30,
      sends_months: null,
      runs_months: 6,
      anonymous_months: 7,
    });
    expect((await ask('POST', { ...some, runs_months: null })).body).toMatchObject({
      runs_months: null,
      anonymous_months: 7,
    });
  });

  test.each([
    ['/content_days', { content_days: CONTENT_DAYS_MIN - 1, sends_months: null }],
    ['/sends_months', { content_days: 90, sends_months: KEPT_MONTHS_MIN - 1 }],
    ['/runs_months', { content_days: 90, sends_months: null, runs_months: KEPT_MONTHS_MIN - 1 }],
    [
      '/anonymous_months',
      { content_days: 90, sends_months: null, anonymous_months: KEPT_MONTHS_MIN - 1 },
    ],
  ])('400 invalid_request: one below the least at %s', async (path, chosen) => {
    const issues = expectRefusal(await ask('POST', chosen), 'invalid_request');
    expect(issues).toMatchObject([{ path, message: expect.stringMatching(/^at least \d+$/) }]);
  });
});

test('a person is exported after their content went', async () => {
  await api.call('POST', '/v1/identify', {
    key: api.project.server_key,
    body: { external_id: 'ann' },
  });
  await api.processEvents();
  const person = await api.call('GET', '/v1/profiles/external_id:ann', {
    key: api.project.server_key,
  });
  const id = await makeSend({ at: daysAgo(100) });
  await query('update delivery.sends set profile_id = $2 where send_id = $1', [id, person.body.id]);
  await prune();
  const { status, body } = await api.call('GET', '/v1/profiles/external_id:ann/export', {
    key: api.project.server_key,
  });
  expect(status).toBe(200);
  expect(body.sends).toMatchObject([
    { id, to: 'ann@example.com', subject: null, content: null, answer: null },
  ]);
  expect(body.sends[0].content_removed_at).not.toBeNull();
});
