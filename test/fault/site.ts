import { checkLogin, keepAdministrator } from '../../src/admin/people.ts';
import { openSession } from '../../src/admin/sessions.ts';
import { openDb } from '../../src/base/db.ts';
import { Keys } from '../../src/base/keys.ts';
import { openLog } from '../../src/base/log.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { readConfig } from '../../src/config.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';
import type { Owner } from './decisions.ts';
import type { Evidence } from './evidence.ts';
import { makeProject } from './make_project.ts';
import { FaultProxy } from './proxy.ts';
import { openRelays } from './relays.ts';
import type { Relays } from './relays.ts';
import { openServer } from './server.ts';
import type { Server } from './server.ts';
import { SIGNING_KEY } from './signed.ts';
import { Slot } from './slot.ts';

const ANSWER_TIMEOUT_SECONDS = 10;
const OWNER = { email: 'owner@shop.test', password: 'the password of the harness' };

export type Site = {
  /** Straight to Postgres, wherever it is by now; processes go by way of the proxies. */
  readonly url: string;
  server: Server;
  /** Between the api and Postgres, and between the workers and Postgres. */
  proxies: { api: FaultProxy; worker: FaultProxy };
  apis: Slot[];
  workers: Slot[];
  relays: Relays;
  projects: Record<'calm' | 'wild' | 'relay' | 'cloud', NewProject>;
  /** Who may do everything in the Console. */
  owner: Owner;
  addressKey: Evidence['addressKey'];
  secrets: Record<string, string>;
  /** Until when somebody may be answered by a process whose clock is wrong, of `performance.now()`. */
  clockOffUntil: number;
  /** What was answered, while a fault lasted or after it, otherwise than it must be. */
  wrong: string[];
  /** When processes were replaced in order, in milliseconds since 1970. */
  deploys: { from: number; until: number }[];
  /** Lines of logs in which something was read that must be read nowhere. */
  leaks: string[];
  /** What processes complained of, by how often. */
  complaints: Map<string, number>;
  close: () => Promise<void>;
};

const makeProjects = async (
  env: Record<string, string>,
  { providers }: Relays,
): Promise<Pick<Site, 'projects' | 'owner' | 'addressKey'>> => {
  const config = readConfig(env);
  const keys = new Keys(config.masterKey, config.outerKeys);
  await migrate({ config, keys });
  const db = await openDb(runtimeUrl(config.databaseUrl, keys), 2);
  const deps = { config, keys, db, log: openLog('silent'), resources: new Resources() };
  const calm = await makeProject(deps, 'calm', providers.calm);
  const wild = await makeProject(deps, 'wild', providers.wild);
  const relay = await makeProject(deps, 'relay', providers.relay);
  const cloud = await makeProject(deps, 'cloud', providers.cloud);
  await keepAdministrator(deps, OWNER);
  const personId = (await checkLogin(deps, OWNER)) ?? '';
  const { token, proof } = await openSession(deps, personId);
  const cookie = `trunkline_session=${token}.${proof}`;
  await db.end();
  return {
    projects: { calm, wild, relay, cloud },
    owner: { ...OWNER, cookie },
    addressKey: (projectId, email) => addressKey({ keys, projectId }, email),
  };
};

const ERROR_LEVEL = 50;

/** Looks through every line that a process says. */
const listen = (secrets: Record<string, string>) => {
  const leaks: string[] = [];
  const complaints = new Map<string, number>();
  const onLine = (line: string): void => {
    for (const [name, secret] of Object.entries(secrets))
      if (line.includes(secret)) leaks.push(`${name} in a log: ${line.replaceAll(secret, '…')}`);
    const [, level, words] = /"level":(\d+).*"msg":"([^"]*)"/.exec(line) ?? [];
    const isBad = level === undefined || Number(level) >= ERROR_LEVEL;
    const said = words ?? line.slice(0, 200);
    if (isBad) complaints.set(said, (complaints.get(said) ?? 0) + 1);
  };
  return { leaks, complaints, onLine };
};

const tokenOf = (cookie: string): string =>
  cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf('.'));

const secretsOf = (
  { projects, owner }: Pick<Site, 'projects' | 'owner'>,
  relays: Relays,
): Record<string, string> => ({
  ...relays.secrets,
  'the password of the owner': owner.password,
  'the session of the owner': tokenOf(owner.cookie),
  'the proof of that session': owner.cookie.slice(owner.cookie.indexOf('.') + 1),
  'the key that relays sign with': SIGNING_KEY,
  'the master key': TEST_MASTER_KEY,
  ...Object.fromEntries(
    Object.entries(projects).flatMap(([name, project]) => [
      [`the server key of ${name}`, project.server_key],
      [`the webhook token of ${name}`, project.hook_token],
    ]),
  ),
});

/** The whole service as an operator runs it: two of each process, a durable Postgres, four providers. */
export const openSite = async (): Promise<Site> => {
  const relays = await openRelays();
  const server = await openServer();
  const env = {
    DATABASE_URL: server.url,
    MASTER_KEY: TEST_MASTER_KEY,
    PORT: '0',
    LOG_LEVEL: 'info',
    NODE_ENV: 'test',
    EGRESS_ALLOW_NETWORKS: '127.0.0.0/8',
    DNS_SERVERS: '127.0.0.1:9',
    RATE_LIMIT_SERVER: '0',
    RATE_LIMIT_PUBLISHABLE: '0',
    RATE_LIMIT_ADDRESS: '0',
    RATE_LIMIT_UNSUBSCRIBE: '0',
    RATE_LIMIT_UNKNOWN_KEYS: '0',
    UNIT_LIMIT_SERVER: '0',
    UNIT_LIMIT_PUBLISHABLE: '0',
    UNIT_LIMIT_ADDRESS: '0',
    UNIT_LIMIT_ANONYMOUS: '0',
    ANSWER_TIMEOUT_SECONDS: String(ANSWER_TIMEOUT_SECONDS),
    ...relays.env,
  };
  const { projects, owner, addressKey: keyOf } = await makeProjects(env, relays);
  const secrets = secretsOf({ projects, owner }, relays);
  const { leaks, complaints, onLine } = listen(secrets);
  const api = await new FaultProxy(server.url).start();
  const worker = await new FaultProxy(server.url).start();
  const open = (role: 'api' | 'worker', number: number) => {
    const { url } = { api, worker }[role];
    const of = { ...env, DATABASE_URL: url, ROLE: role };
    return new Slot({ name: `${role} ${number}`, env: of, onLine }).open();
  };
  const apis = [await open('api', 1), await open('api', 2)];
  const workers = [await open('worker', 1), await open('worker', 2)];
  const close = async (): Promise<void> => {
    await Promise.all([...apis, ...workers].map((slot) => slot.close()));
    for (const proxy of [api, worker]) proxy.close();
    await relays.close();
    await server.stop();
  };
  const proxies = { api, worker };
  return {
    get url() {
      return server.url;
    },
    server,
    proxies,
    apis,
    workers,
    relays,
    projects,
    owner,
    addressKey: keyOf,
    secrets,
    clockOffUntil: 0,
    wrong: [],
    deploys: [],
    leaks,
    complaints,
    close,
  };
};
