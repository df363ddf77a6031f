// `make rotate-master-key` as an operator runs it, beside processes that send all the time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { saveProvider } from '../../src/providers/providers.ts';
import { COMPILED } from '../../src/runtime/start_service.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { connectTo } from '../base/connections.ts';
import { until } from '../support/until.ts';
import { signUpOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 240_000;
const OTHER_PROJECTS = 6;
/** Each stage sees so many more people sign up, and their mail sent. */
const SIGN_UPS_A_STAGE = 15;
const COMMAND = join(import.meta.dirname, '..', '..', 'src', 'runtime', 'rotate_master_key.ts');

/** Who waits for a data key, of this database alone. */
const WAITING = `select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%providers.data_keys%for update%'`;

const world = testWorld();

type Keys = { MASTER_KEY: string; MASTER_KEY_PREVIOUS?: string };

const startCommand = (keys: Keys) => {
  const { MASTER_KEY: _, ...env } = world.env;
  return spawn(process.execPath, [COMMAND], {
    env: { NODE_COMPILE_CACHE: COMPILED, ...env, ...keys },
    stdio: ['ignore', 'pipe', 'pipe'],
  } as const);
};

/** What the command says. */
const run = async (keys: Keys): Promise<string> => {
  const child = startCommand(keys);
  const [said, complained, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  expect([code, complained]).toEqual([0, '']);
  return said;
};

const settingOf = (said: string, name: string): string =>
  new RegExp(`^${name}=(.+)$`, 'm').exec(said)?.[1] ?? '';

/** Whose key wraps what, and how many of them. */
const wrapped = async (): Promise<Record<number, number>> => {
  const { rows } = await world.owner.query<{ version: number; count: number }>(
    `select master_version as version, count(*)::integer as count from providers.data_keys group by 1`,
  );
  return Object.fromEntries(rows.map(({ version, count }) => [version, count]));
};

/** Asks one process, as a client does whose id for the request makes a repetition harmless. */
const ask = async ({ port }: Service, path: string, body: object) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.project.server_key}`,
      'content-type': 'application/json',
      'idempotency-key': JSON.stringify(body).replaceAll(/[^\w-]/g, ''),
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as { error?: string } };
};

type Traffic = { api: Service; people: number; tests: number; isOver: boolean };

/** A connection that a process closes as it stops says nothing: the request is repeated at who runs now. */
const askWhoeverRuns = async (traffic: Traffic, path: string, body: object) => {
  const { api } = traffic;
  try {
    return await ask(api, path, body);
  } catch (error) {
    if (api === traffic.api) throw error;
    return ask(traffic.api, path, body);
  }
};

/** People who sign up without a pause, and a test message every few of them. */
const startTraffic = (api: Service, providerId: string) => {
  const traffic: Traffic = { api, people: 0, tests: 0, isOver: false };
  const oneMore = async (): Promise<void> => {
    traffic.people += 1;
    const signUp = signUpOf(`person-${traffic.people}`);
    expect((await askWhoeverRuns(traffic, '/v1/events', signUp)).status).toBe(202);
    if (traffic.people % SIGN_UPS_A_STAGE !== 0) return;
    traffic.tests += 1;
    // The hourly budget of test emails is not what this test is about.
    await world.owner.query('delete from base.rate_limit_counters');
    const to = `test-${traffic.tests}@people.test`;
    const tested = await askWhoeverRuns(traffic, `/v1/email-providers/${providerId}/test`, { to });
    expect(tested).toMatchObject({ status: 200 });
  };
  const loop = async (): Promise<void> => {
    while (!traffic.isOver) {
      await oneMore();
      // Nobody runs ahead of the worker: what is sent is sent in every stage.
      const isKeptUp = () => world.sink.mails.length > traffic.people - SIGN_UPS_A_STAGE;
      await until('their mail is sent', isKeptUp);
    }
  };
  const ended = loop();
  ended.catch(() => {});
  const flows = async (): Promise<void> => {
    const from = world.sink.mails.length;
    const hasMore = () => world.sink.mails.length > from + SIGN_UPS_A_STAGE;
    await Promise.race([until('mail goes on being sent', hasMore), ended]);
  };
  return { traffic, ended, flows };
};

/** A provider in each of several projects, so that there are several keys to wrap. */
const keepProviders = async () => {
  const sender = { display_name: 'A', from_email: 'a@shop.test', from_name: null, reply_to: null };
  const others: string[] = [];
  for (let at = 0; at < OTHER_PROJECTS; at += 1) {
    const { project_id: projectId } = await createProject(world.deps, 'other');
    await saveProvider(world.deps, projectId, { ...sender, ...world.sink.settings });
    others.push(projectId);
  }
  const { rows } = await world.owner.query<{ provider_id: string }>(
    'select provider_id from providers.providers where project_id = $1',
    [world.project.project_id],
  );
  return { others, providerId: rows[0]?.provider_id ?? '' };
};

/** Somebody holds the key that comes in the middle: the command has to wait there, and is killed. */
const killInTheMiddle = async (keys: Keys, others: readonly string[]): Promise<void> => {
  const middle = others.toSorted()[OTHER_PROJECTS / 2] ?? '';
  const holding = await connectTo(world, middle);
  await holding.query('begin');
  await holding.query('select from providers.data_keys where project_id = $1 for update', [middle]);
  const killed = startCommand(keys);
  const isWaiting = async () => (await world.owner.query(WAITING)).rowCount === 1;
  await until('it waits for that key', isWaiting);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await holding.query('rollback');
};

/** Every mail once, at the first attempt. */
const expectAllSent = async ({ people, tests }: { people: number; tests: number }) => {
  const sends = async () => {
    const { rows } = await world.owner.query<{ status: string; attempts: number; count: number }>(
      `select status, attempt_count as attempts, count(*)::integer as count
      from delivery.sends group by 1, 2`,
    );
    return rows;
  };
  await until('everything is sent', async () => (await sends())[0]?.count === people);
  expect(await sends()).toEqual([{ status: 'accepted', attempts: 1, count: people }]);
  expect(world.sink.mails).toHaveLength(people + tests);
};

test(
  'a rotation under traffic loses nothing, goes on where it was killed, and ends the old key',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const first: Keys = { MASTER_KEY: world.env['MASTER_KEY'] ?? '' };
    const { others, providerId } = await keepProviders();
    const start = (keys: Keys) =>
      Promise.all([world.start('api', keys), world.start('worker', keys)]);
    const before = await start(first);
    const { traffic, ended, flows } = startTraffic(before[0], providerId);
    await flows();

    const said = await run(first);
    const both: Keys = {
      MASTER_KEY: settingOf(said, 'MASTER_KEY'),
      MASTER_KEY_PREVIOUS: settingOf(said, 'MASTER_KEY_PREVIOUS'),
    };
    expect(both.MASTER_KEY_PREVIOUS).toBe(first.MASTER_KEY);
    await flows();
    const during = await start(both);
    [traffic.api] = during;
    for (const service of before) expect(await service.stop()).toBe(0);
    await flows();

    await killInTheMiddle(both, others);
    const mixed = await wrapped();
    expect(Object.keys(mixed)).toEqual(['1', '2']);
    await flows();

    expect(await run(both)).toContain(`${mixed[1]} data keys are wrapped with the new MASTER_KEY.`);
    expect(await wrapped()).toEqual({ 2: OTHER_PROJECTS + 1 });
    expect(await run(both)).toContain('0 data keys');
    await flows();

    const after = await start({ MASTER_KEY: both.MASTER_KEY });
    [traffic.api] = after;
    for (const service of during) expect(await service.stop()).toBe(0);
    await flows();
    traffic.isOver = true;
    await ended;

    await expectAllSent(traffic);
    expect([...before, ...during, ...after].map((service) => service.lastError())).toEqual(
      Array(6).fill(null),
    );

    const old = await world.start('api', first);
    const refused = await ask(old, `/v1/email-providers/${providerId}/test`, {
      to: 'a@people.test',
    });
    expect(refused).toMatchObject({ status: 500, body: { error: 'internal_error' } });
    expect(world.sink.mails).toHaveLength(traffic.people + traffic.tests);
  },
);
