import { openDb, inProject } from '../../src/base/db.ts';
import type { Deps } from '../../src/base/deps.ts';
import { Keys } from '../../src/base/keys.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { readConfig } from '../../src/config.ts';
import { createProject } from '../../src/projects/projects.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import { databaseUrl } from '../../src/runtime/scratch_postgres.ts';
import { makeSeed } from '../../src/runtime/seed/make.ts';
import type { SeedEvent } from '../../src/runtime/seed/past.ts';
import { makePerson } from '../../src/runtime/seed/people.ts';
import { Random } from '../../src/runtime/seed/random.ts';
import { insertEvents, insertPeople } from '../../src/runtime/seed/store.ts';
import type { SeedIdentity } from '../../src/runtime/seed/store.ts';
import { startService } from '../../src/runtime/start_service.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';

/** How many people a figure is taken of, so that nobody's pages are the only ones in memory. */
export const SUBJECTS = 20;
const DAYS = 360;
const DAY_MS = 86_400_000;
const until = new Date();

/** What everybody else makes of a database, and how many events each of the measured people has. */
export type Size = { people: number; events: number; ownEvents: number[] };

/** Somebody who is measured: a known id and a device, each with half of the events. */
export type Subject = { externalId: string; anonymousId: string };

export const subjectsOf = (ownEvents: number): Subject[] =>
  Array.from({ length: SUBJECTS }, (_, number) => ({
    externalId: `subject-${ownEvents}-${number}`,
    anonymousId: `device-${ownEvents}-${number}`,
  }));

const makeEvents = (subject: Subject, count: number, random: Random): SeedEvent[] =>
  Array.from({ length: count }, (_, at) => {
    const time = Math.floor(until.getTime() - ((at + random.unit()) / count) * DAYS * DAY_MS);
    return {
      eventId: random.idAt(time),
      name: 'page_viewed',
      externalId: at % 2 === 0 ? subject.externalId : null,
      anonymousId: at % 2 === 0 ? null : subject.anonymousId,
      properties: JSON.stringify({ path: '/pricing', at }),
      occurredAt: time,
      receivedAt: time,
      source: 'browser',
    };
  });

const makeIdentity = (
  kind: SeedIdentity['kind'],
  value: string,
  { events, random }: { events: SeedEvent[]; random: Random },
): SeedIdentity => {
  const times = events.map(({ occurredAt }) => occurredAt);
  return {
    identityId: random.idAt(Math.min(...times)),
    profileId: random.idAt(Math.min(...times)),
    kind,
    value,
    firstSeenAt: Math.min(...times),
    lastSeenAt: Math.max(...times),
    told: kind === 'external' ? { traits: makePerson(1, 0).traits, at: Math.min(...times) } : null,
  };
};

const addSubjects = async (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
  ownEvents: number,
): Promise<void> => {
  const random = new Random(ownEvents, SUBJECTS, 7);
  for (const subject of subjectsOf(ownEvents)) {
    const events = makeEvents(subject, ownEvents, random);
    await inProject(deps, projectId, async (scope) => {
      await insertEvents(scope, events);
      await insertPeople(scope, [
        makeIdentity('external', subject.externalId, { events, random }),
        makeIdentity('anonymous', subject.anonymousId, { events, random }),
      ]);
    });
  }
};

/** A service over a database of its own that holds so much of others and of the measured. */
export const openGrown = async (
  serverUrl: string,
  name: string,
  size: Size,
  role: 'api' | 'all' = 'api',
) => {
  await withClient(serverUrl, (client) => client.query(`create database ${name}`));
  const env = {
    DATABASE_URL: databaseUrl(serverUrl, name),
    MASTER_KEY: TEST_MASTER_KEY,
    PORT: '0',
    ROLE: role,
    LOG_LEVEL: 'warn',
    RATE_LIMIT_SERVER: '0',
    UNIT_LIMIT_SERVER: '0',
  };
  const config = readConfig(env);
  const keys = new Keys(config.masterKey, config.outerKeys);
  await migrate({ config, keys });
  const db = await openDb(runtimeUrl(config.databaseUrl, keys), 3);
  const project = await createProject({ db, keys }, name);
  const { people, events, ownEvents } = size;
  await makeSeed({ db, keys }, project.project_id, { people, events, days: DAYS, seed: 1, until });
  for (const count of ownEvents) await addSubjects({ db, keys }, project.project_id, count);
  await db.end();
  await withClient(config.ownerDatabaseUrl, (client) => client.query('vacuum analyze'));
  const service = await startService({ env });
  return {
    base: `http://127.0.0.1:${service.port}`,
    key: project.server_key,
    close: () => service.stop(),
  };
};

export type Grown = Awaited<ReturnType<typeof openGrown>>;

type Answer = {
  link?: { id: string };
  items?: unknown[];
  erasure?: { id: string };
  status?: string;
};

/** Asks a grown installation as a server would: a POST when there is a body. */
export const ask = async ({ base, key }: Grown, path: string, body?: object): Promise<Answer> => {
  const response = await fetch(base + path, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json() as Promise<Answer>;
};
