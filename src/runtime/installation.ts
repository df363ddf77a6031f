import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { keepAdministrator } from '../admin/admin.ts';
import { readConfig, SETTING_NAMES } from '../config.ts';
import { readSettingFiles } from '../config/setting_files.ts';
import { readSetting } from './read_setting.ts';
import { asOperator } from '../base/audit.ts';
import { openDb } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Keys } from '../base/keys.ts';
import { openLog } from '../base/log.ts';
import { Resources } from '../base/resources.ts';
import { readSending } from '../base/sending.ts';
import type { Sending } from '../base/sending.ts';
import { runtimeUrl } from '../base/roles.ts';
import type { NewProject } from '../projects/projects.ts';
import { keepCertificate } from './certificate.ts';
import { EXAMPLE_EVENT, keepExample } from './example.ts';
import { findFacts, keepSecrets, masterKeysOf, writeFacts } from './home.ts';
import type { DevFacts, Home, Secrets } from './home.ts';
import { openDatabase } from './local_database.ts';
import { startMailCatcher } from './mail_catcher/mail_catcher.ts';
import { migrate } from './migrate.ts';
import { LOOPBACK, requireLoopback } from './loopback_allowed.ts';
import { checkPorts } from './ports.ts';

const CONSOLE_EMAIL = 'owner@trunkline.test';

/** A local installation, up to the service itself: database, mail catcher, example project. */
export type Installation = {
  facts: DevFacts;
  /** The settings of this installation. `startService` passes on what the service's process needs. */
  env: Record<string, string>;
  /** One line that makes the example mail appear. */
  curl: string;
  /** Why nothing is sent, and what to do about it; null while mail leaves the house. */
  held: string | null;
  /** Starts again what the service needs and may have lost. */
  revive: () => Promise<void>;
  close: () => Promise<void>;
};

type Say = (step: string) => void;
type Closers = (() => Promise<void>)[];

const closeAll = async (closers: Closers): Promise<void> => {
  for (const close of closers.toReversed()) await close();
};

const openCatcher = async (home: Home, secrets: Secrets, closers: Closers) => {
  const certificate = await keepCertificate(join(home.folder, 'mail'), ['localhost', LOOPBACK]);
  // So that the provider's preflight, which runs here, trusts the catcher as the service will.
  setDefaultCACertificates([...getCACertificates('default'), certificate.ca]);
  const catcher = await startMailCatcher({
    httpPort: home.mailPort,
    smtpPort: home.smtpPort,
    username: secrets.mail_username,
    password: secrets.mail_password,
    certificate,
  });
  closers.push(() => catcher.close());
  return catcher;
};

/** The service's settings that the user gave; the installation makes the others. */
const givenSettings = (): Record<string, string> => {
  const given = readSettingFiles(process.env);
  return Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const value = given[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
};

const openDeps = async (env: Record<string, string>): Promise<Deps> => {
  const config = readConfig(env);
  const keys = new Keys(config.masterKey, config.outerKeys);
  await migrate({ config, keys });
  const db = await openDb(runtimeUrl(config.databaseUrl, keys), 2);
  const deps = { config, keys, db, log: openLog('silent'), resources: new Resources() };
  return asOperator(deps, 'make start');
};

const providerOf = (home: Home, { mail_username, mail_password }: Secrets) => ({
  display_name: 'Local mail catcher',
  from_email: 'hello@example.test',
  from_name: 'Example',
  reply_to: null,
  provider: 'smtp' as const,
  smtp_host: LOOPBACK,
  smtp_port: home.smtpPort,
  smtp_secure: 'starttls' as const,
  username: mail_username,
  password: mail_password,
});

const curlOf = ({ base_url, server_key }: DevFacts): string => {
  const event = {
    event: EXAMPLE_EVENT,
    external_id: 'ann',
    properties: { email: 'ann@example.test', first_name: 'Ann' },
  };
  return (
    `curl -s ${base_url}/v1/events -H 'Authorization: Bearer ${server_key}' ` +
    `-H 'Content-Type: application/json' -d '${JSON.stringify(event)}'`
  );
};

/** What an operator does about it is the same as in the Console. */
const sayHeld = ({ is_held, is_elsewhere }: Sending): string | null => {
  if (!is_held) return null;
  const why = is_elsewhere
    ? 'this database was restored from a backup. First `make erasures-replay`, then `make resume-sending`.'
    : 'somebody held sending. To go on: `make resume-sending`.';
  return `Nothing is sent: ${why}`;
};

const toFacts = (
  home: Home,
  secrets: Secrets,
  parts: { project: NewProject; mailUrl: string; ownerUrl: string },
): DevFacts => {
  const base_url = `http://${LOOPBACK}:${home.port}`;
  return {
    base_url,
    console_url: `${base_url}/console`,
    console_login: { email: CONSOLE_EMAIL, password: secrets.console_password },
    ...parts.project,
    mail_url: parts.mailUrl,
    database_url: parts.ownerUrl,
  };
};

const open = async (home: Home, say: Say, closers: Closers): Promise<Installation> => {
  const secrets = await keepSecrets(home);
  await checkPorts(home);
  say('postgres');
  const database = await openDatabase(home, secrets.postgres_password, say);
  closers.push(database.close);
  const { ownerUrl } = database;
  say('mail catcher');
  const catcher = await openCatcher(home, secrets, closers);
  const env = {
    ...givenSettings(),
    DATABASE_URL: readSetting('DATABASE_URL') ?? ownerUrl,
    OWNER_DATABASE_URL: ownerUrl,
    ...(database.isLocal ? { DATABASE_AUTH: 'scram-sha-256' } : {}),
    ...masterKeysOf(secrets),
    PORT: String(home.port),
    EGRESS_ALLOW_NETWORKS: process.env['EGRESS_ALLOW_NETWORKS'] ?? '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: join(home.folder, 'mail', 'ca.pem'),
  };
  say('schema');
  const deps = await openDeps(env);
  try {
    await requireLoopback(deps.config.egressAllowNetworks);
    say('example project');
    const project = await keepExample(deps, await findFacts(home), providerOf(home, secrets));
    await keepAdministrator(deps, { email: CONSOLE_EMAIL, password: secrets.console_password });
    const facts = toFacts(home, secrets, { project, mailUrl: catcher.url, ownerUrl });
    await writeFacts(home, facts);
    const held = sayHeld(await readSending(deps.db));
    const close = () => closeAll(closers);
    return { facts, env, curl: curlOf(facts), held, revive: database.revive, close };
  } finally {
    await deps.db.end();
  }
};

/** Opens a local installation, making at first what is missing. What was opened is closed again when a step fails. */
export const openInstallation = async (home: Home, say: Say): Promise<Installation> => {
  const closers: Closers = [];
  try {
    return await open(home, say, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
};
