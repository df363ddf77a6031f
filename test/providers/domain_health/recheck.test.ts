// The job that checks senders' domains daily: what is due, how much of it, and what the owner is alerted to.
import { beforeEach, expect, test, vi } from 'vitest';
import { inProject } from '../../../src/base/db.ts';
import { claimChecks } from '../../../src/providers/domain_health/queries.ts';
import {
  RECHECK_RUN_TIME_MAX_MS,
  RECHECKED_PER_PROJECT_MAX,
  RECHECKED_PER_RUN_MAX,
  RECHECKS_AT_ONCE_MAX,
} from '../../../src/providers/domain_health/recheck.ts';
import { recheckDomains } from '../../../src/providers/providers.ts';
import { createProject, everyProject } from '../../../src/projects/projects.ts';
import checkDomains from '../../../tasks/providers/check_domains.ts';
import { testDatabase } from '../../support/database.ts';
import { asWorker } from '../../support/work_on.ts';
import { makeProvider, mend, withNameServer } from './named.ts';

const database = testDatabase();
const named = withNameServer(database);
let projectId = '';

beforeEach(async () => {
  mend(named);
  await named.owner.query('delete from providers.domain_checks');
  await named.owner.query('delete from providers.providers');
  projectId = (await createProject(named.deps, 'of its own')).project_id;
});

type Check = {
  provider_id: string;
  checked_at: Date | null;
  wait_hours: number;
  unanswered_count: number;
};
const listChecks = async (): Promise<Check[]> => {
  const { rows } = await named.owner.query<Check>(
    `select provider_id, checked_at, unanswered_count,
      extract(epoch from next_check_at - now())::float / 3600 as wait_hours
    from providers.domain_checks order by provider_id`,
  );
  return rows;
};
const each = async function* (ids: readonly string[], atEnd = (): void => {}) {
  yield* ids;
  atEnd();
};
const makeDue = () =>
  named.owner.query("update providers.domain_checks set next_check_at = now() - interval '1 ms'");
const run = (given = {}) => checkDomains(asWorker(named, given))({}, undefined as never);

test('a new provider is checked at the next run, and again a day later', async () => {
  await makeProvider(named, projectId);
  await run();
  const [first] = await listChecks();
  expect(first?.checked_at).toBeInstanceOf(Date);
  expect(first?.wait_hours).toBeGreaterThan(23);
  expect(first?.wait_hours).toBeLessThan(25);
  const asked = named.server.asked.length;
  await run();
  expect(named.server.asked).toHaveLength(asked);
});

test('providers from before are spread over the next day', async () => {
  const row = await makeProvider(named, projectId);
  await named.owner.query(
    `update providers.providers set created_at = now() - interval '2 days' where provider_id = $1`,
    [row.provider_id],
  );
  await run();
  const [check] = await listChecks();
  expect(check?.checked_at).toBe(null);
  expect(check?.wait_hours).toBeGreaterThanOrEqual(0);
  expect(check?.wait_hours).toBeLessThanOrEqual(24);
});

test(`a run takes ${RECHECKED_PER_PROJECT_MAX} of a project, the others of it with the next`, async () => {
  const other = (await createProject(named.deps, 'other')).project_id;
  for (let made = 0; made <= RECHECKED_PER_PROJECT_MAX; made += 1)
    await makeProvider(named, projectId, `a${made}@shop.test`);
  await makeProvider(named, other);
  const checked = async () => (await listChecks()).filter((one) => one.checked_at).length;
  await run();
  expect(await checked()).toBe(RECHECKED_PER_PROJECT_MAX + 1);
  await run();
  expect(await checked()).toBe(RECHECKED_PER_PROJECT_MAX + 2);
}, 60_000);

test(`a run takes ${RECHECKED_PER_RUN_MAX} of all projects, the others with the next`, async () => {
  const projectIds: string[] = [];
  let left = RECHECKED_PER_RUN_MAX + 1;
  for (; left > 0; left -= RECHECKED_PER_PROJECT_MAX) {
    const { project_id } = await createProject(named.deps, `one of many, ${left}`);
    projectIds.push(project_id);
    for (let made = 0; made < Math.min(left, RECHECKED_PER_PROJECT_MAX); made += 1)
      // A name that no name server is asked for.
      await makeProvider(named, project_id, `a${made}@shop.internal`);
  }
  const signal = new AbortController().signal;
  const runOnce = () => recheckDomains({ deps: named.deps, signal }, each(projectIds));
  expect(await runOnce()).toBe(RECHECKED_PER_RUN_MAX);
  expect(await runOnce()).toBe(1);
});

test('a run that has taken its time begins no other project', async () => {
  await makeProvider(named, projectId);
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const signal = new AbortController().signal;
  /** A run whose list of projects takes so long. */
  const runAfter = (waitMs: number) => {
    now.mockReturnValue(1_000);
    const later = () => void now.mockReturnValue(1_000 + waitMs);
    return recheckDomains({ deps: named.deps, signal }, each([projectId], later));
  };
  try {
    expect(await runAfter(RECHECK_RUN_TIME_MAX_MS)).toBe(0);
    expect(await runAfter(RECHECK_RUN_TIME_MAX_MS - 1)).toBe(1);
  } finally {
    now.mockRestore();
  }
});

test(`a run checks ${RECHECKS_AT_ONCE_MAX} domains at once, not one more`, async () => {
  const domains = Array.from({ length: RECHECKS_AT_ONCE_MAX + 1 }, (_, at) => `shop${at}.test`);
  for (const domain of domains) {
    named.zone[domain] = null;
    await makeProvider(named, projectId, `hello@${domain}`);
  }
  const { project_id: other } = await createProject(named.deps, 'checked meanwhile');
  await makeProvider(named, other);
  const before = named.server.asked.length;
  const askedFor = () => {
    const asked = named.server.asked.slice(before).join(' ');
    return domains.filter((domain) => asked.includes(domain)).length;
  };
  const stop = new AbortController();
  const done = recheckDomains({ deps: named.deps, signal: stop.signal }, each([projectId]));
  await vi.waitFor(() => expect(askedFor()).toBe(RECHECKS_AT_ONCE_MAX), { timeout: 10_000 });
  // One check more would have begun with the others, and this one, which is done, began after them.
  expect(await recheckDomains({ deps: named.deps, signal: stop.signal }, each([other]))).toBe(1);
  expect(askedFor()).toBe(RECHECKS_AT_ONCE_MAX);
  stop.abort();
  await done;
});

test('name servers that do not answer are asked again in an hour, a few times', async () => {
  await makeProvider(named, projectId);
  named.zone['_dmarc.shop.test'] = { error: 2 };
  const waits = [];
  for (let time = 0; time < 4; time += 1) {
    await run();
    waits.push(Math.round((await listChecks())[0]?.wait_hours ?? 0));
    await makeDue();
  }
  expect(waits).toEqual([1, 1, 24, 24]);
});

test('what gets worse alerts the owner once, and the end of it once', async () => {
  await makeProvider(named, projectId);
  const said: string[] = [];
  const note = (_about: unknown, what: string) => {
    if (what.startsWith('domain health')) said.push(what);
  };
  const log = Object.assign(Object.create(named.deps.log), { warn: note, info: note });
  const check = async () => {
    await makeDue();
    await run({ log });
  };
  await run({ log });
  named.zone['_dmarc.shop.test'] = {};
  await check();
  await check();
  mend(named);
  await check();
  await check();
  expect(said).toEqual(['domain health worse', 'domain health as before']);
});

test('one that fails does not hold up the others, and is due again after its lease', async () => {
  const [first, second] = [
    await makeProvider(named, projectId, 'a@shop.test'),
    await makeProvider(named, projectId, 'b@shop.test'),
  ];
  await named.owner.query(
    `create function pg_temp.refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`,
  );
  await named.owner.query(
    `create trigger refuse before update on providers.domain_checks for each row
    when (new.provider_id = '${first.provider_id}' and new.health is not null) execute function pg_temp.refuse()`,
  );
  await run();
  await named.owner.query('drop trigger refuse on providers.domain_checks');
  const checks = await listChecks();
  const of = (id: string) => checks.find((one) => one.provider_id === id);
  expect(of(second.provider_id)?.checked_at).toBeInstanceOf(Date);
  expect(of(first.provider_id)?.checked_at).toBe(null);
  expect(of(first.provider_id)?.wait_hours).toBeCloseTo(0.25, 1);
});

test('two runs at once check each domain once', async () => {
  for (const at of [1, 2, 3]) await makeProvider(named, projectId, `a${at}@shop.test`);
  const signal = new AbortController().signal;
  const runs = [1, 2].map(() =>
    recheckDomains({ deps: named.deps, signal }, everyProject(named.deps)),
  );
  expect((await Promise.all(runs)).reduce((sum, one) => sum + one, 0)).toBe(3);
});

test('a run that is stopped takes nothing more; a provider that is gone is passed over', async () => {
  const row = await makeProvider(named, projectId);
  const stopped = AbortSignal.abort();
  expect(
    await recheckDomains({ deps: named.deps, signal: stopped }, everyProject(named.deps)),
  ).toBe(0);
  const claimed = await inProject(named.deps, projectId, (scope) =>
    claimChecks(scope, { claimMax: 5, leaseSeconds: 0 }),
  );
  expect(claimed).toEqual([{ provider_id: row.provider_id }]);
  await named.owner.query('delete from providers.providers');
  await run();
  expect(await listChecks()).toEqual([]);
});

vi.setConfig({ testTimeout: 60_000 });
