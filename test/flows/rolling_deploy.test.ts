// A new version comes while people sign up: the schema first, then process by process.
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { migrate } from '../../src/runtime/migrate.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { until } from '../support/until.ts';
import { addressOf, signUpOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 240_000;
const LANES = 4;
const PAUSE_MS = 120;
/** People who sign up before the first process goes, and after each has come. */
const FEW = 20;

const world = testWorld();

type Place = { role: 'api' | 'worker'; service: Service };
const places: Place[] = [];
const apis = (): Service[] =>
  places.filter(({ role }) => role === 'api').map(({ service }) => service);

const told = { stored: [] as string[], refused: [] as string[], lost: 0 };

/** Somebody's backend: when a connection is closed on it, it asks the next process, with the same message id. */
const signUp = async (person: string, at: number): Promise<void> => {
  for (let tries = 0; ; tries += 1) {
    const live = apis();
    const port = live[(at + tries) % live.length]?.port;
    try {
      const response = await fetch(`http://127.0.0.1:${port}/v1/events`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${world.project.server_key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ ...signUpOf(person), message_id: person }),
      });
      const body = await response.text();
      if (response.status === 202) told.stored.push(person);
      else told.refused.push(`${response.status} ${body}`);
      return;
    } catch {
      told.lost += 1;
      await wait(PAUSE_MS);
    }
  }
};

const startLoad = () => {
  let isOver = false;
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let at = 0; !isOver; at += 1) {
      await signUp(`deployed-${lane}-${at}`, at);
      await wait(PAUSE_MS);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(lanes);
  };
};

/** What the process says of its readiness, until it is gone: a status, or that nobody listens. */
const watchReadiness = async ({ port, child }: Service): Promise<(number | 'gone')[]> => {
  const said: (number | 'gone')[] = [];
  while (child.exitCode === null && child.signalCode === null) {
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 'gone' as const,
    );
    said.push(status);
    await wait(5);
  }
  return said;
};

/** As an operator does it: SIGTERM to one, and another comes in its place. */
const replace = async (place: Place): Promise<void> => {
  const old = place.service;
  const watching = watchReadiness(old);
  const [code, next] = await Promise.all([old.stop('SIGTERM'), world.start(place.role)]);
  place.service = next;
  expect(code).toBe(0);
  const said = await watching;
  // Once it drains it never wants a request again.
  const isLeaving = said.findIndex((status) => status !== 200);
  if (isLeaving >= 0) expect(said.slice(isLeaving)).not.toContain(200);
  for (const status of said) expect([200, 503, 'gone']).toContain(status);
};

/** What the next version's migration may do: it adds, and takes nothing away that is in use. */
const EXPAND = [
  `set lock_timeout = '10s'`,
  ...[
    'ingest.events',
    'ingest.pending',
    'identity.identities',
    'profiles.profiles',
    'automations.runs',
    'delivery.sends',
    'delivery.attempts',
    'providers.paces',
    'suppression.addresses',
  ].map((table) => `alter table ${table} add column of_the_next_version text`),
  'create table delivery.of_the_next_version (project_id uuid primary key)',
  `select base.isolate_table('delivery.of_the_next_version')`,
  `insert into graphile_migrate.migrations (hash, previous_hash, filename)
    select 'sha1:next', hash, '999999-the_next_version.sql' from graphile_migrate.migrations
    order by filename desc limit 1`,
];

const expandSchema = async (): Promise<void> => {
  await migrate(world.deps);
  for (const statement of EXPAND) await world.owner.query(statement);
  await world.owner.query(
    'create index concurrently sends_of_the_next_version on delivery.sends (project_id, of_the_next_version)',
  );
};

const isReady = async ({ port }: Service): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200;

test(
  'a rolling deploy under load: nobody is refused, nothing is unknown, and every mail goes out once',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const roles = ['api', 'api', 'worker', 'worker'] as const;
    places.push(
      ...(await Promise.all(
        roles.map(async (role) => ({ role, service: await world.start(role) })),
      )),
    );
    const stop = startLoad();
    const stored = (more: number) => {
      const wanted = told.stored.length + more;
      return until(`${more} more sign-ups`, () => told.stored.length >= wanted);
    };
    await stored(FEW);
    await expandSchema();
    // The old version goes on with the new schema.
    for (const api of apis()) expect(await isReady(api)).toBe(true);
    await stored(FEW);
    for (const place of places) {
      await replace(place);
      await stored(FEW);
    }
    for (const api of apis()) expect(await isReady(api)).toBe(true);
    await stop();

    expect(told.refused).toEqual([]);
    await until('everybody is mailed', async () => {
      const { rows } = await world.owner.query<{ status: string; count: number }>(
        `select status, count(*)::int from delivery.sends group by status`,
      );
      const [one, ...others] = rows;
      return others.length === 0 && one?.status === 'accepted' && one.count === told.stored.length;
    });
    const mailed = world.sink.mails.flatMap(({ to }) => to).toSorted();
    expect(mailed).toEqual(told.stored.map(addressOf).toSorted());
    const { rows: events } = await world.owner.query<{ count: number }>(
      `select count(*)::int from ingest.events where name = 'user_signed_up'`,
    );
    expect(events).toEqual([{ count: told.stored.length }]);
    // A hand-off that seconds of waiting hold up, for a migration's lock or a machine, is not begun, and goes again.
    const { rows: attempts } = await world.owner.query(
      `select distinct outcome, reason from delivery.attempts
      where (outcome, reason) is distinct from ('not_started', 'too_slow')`,
    );
    expect(attempts).toEqual([{ outcome: 'accepted', reason: null }]);
    console.log(`${told.stored.length} sign-ups, ${told.lost} connections closed on their client`);
  },
);
