import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { Keys } from '../base/keys.ts';
import { MASTER_KEY_FORM, readMasterKey } from '../config/master_key.ts';
import { readSetting } from './read_setting.ts';
import { keepPrivateFolder } from './own_folder.ts';
import { dataFolder } from './local_postgres.ts';
import { newPassword } from './postgres_password.ts';

/** Where a local installation keeps what must outlive it: data, secrets, and the facts for scripts. */
export type Home = {
  folder: string;
  /** The api's port; mail page, mail catcher and Postgres take the next three. */
  port: number;
  mailPort: number;
  smtpPort: number;
  postgresPort: number;
};

const PORT_DEFAULT = 3000;
const PORTS_NEEDED = 4;
const PORT_MAX = 65_535;

/** Reads PORT and TRUNKLINE_HOME. Throws when PORT leaves no room for the other three. */
export const readHome = (env: NodeJS.ProcessEnv = process.env): Home => {
  const port = env['PORT'] === undefined ? PORT_DEFAULT : Number(env['PORT']);
  if (!Number.isInteger(port) || port < 1 || port > PORT_MAX - PORTS_NEEDED + 1) {
    throw new Error(
      `PORT must be a whole number from 1 to ${PORT_MAX - PORTS_NEEDED + 1}: the three after it are used too.`,
    );
  }
  return {
    folder: resolve(env['TRUNKLINE_HOME'] ?? '.trunkline'),
    port,
    mailPort: port + 1,
    smtpPort: port + 2,
    postgresPort: port + 3,
  };
};

/** The facts of a local installation, for scripts: `.trunkline/dev.json`. */
export const DevFacts = z.object({
  base_url: z.url(),
  console_url: z.url(),
  console_login: z.object({ email: z.string(), password: z.string() }),
  project_id: z.uuid(),
  publishable_key: z.string(),
  server_key: z.string(),
  hook_token: z.string(),
  mail_url: z.url(),
  database_url: z.string(),
});
export type DevFacts = z.output<typeof DevFacts>;

const Secrets = z.object({
  master_key: z.string().regex(MASTER_KEY_FORM),
  master_key_previous: z.string().regex(MASTER_KEY_FORM).optional(),
  mail_username: z.string(),
  mail_password: z.string(),
  console_password: z.string(),
  postgres_password: z.string(),
});
export type Secrets = z.output<typeof Secrets>;
/** As an installation wrote them whose Postgres required no password. */
const StoredSecrets = Secrets.partial({ postgres_password: true });

const SECRET_FILE_MODE = 0o600;

const readJson = async (file: string, advice: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`${file} cannot be read: ${advice}`, {
      cause: error,
    });
  }
};

/** Writes a file whole or not at all, readable by its owner only: both files hold secrets. */
const writeJson = async (file: string, value: unknown): Promise<void> => {
  try {
    await writeWhole(file, value);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${file} cannot be written (TRUNKLINE_HOME): ${why}`, { cause });
  }
};

const writeWhole = async (file: string, value: unknown): Promise<void> => {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  const options = { mode: SECRET_FILE_MODE, flag: 'wx', flush: true };
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, options);
  await rename(draft, file);
};

const LOST_SECRETS =
  'restore it. Without it nothing sealed in the database opens; "make db-reset" and removing it start anew.';

const secretsFile = ({ folder }: Pick<Home, 'folder'>): string => join(folder, 'secrets.json');

/** Returns where the local Postgres has its data, unless its account cannot reach that folder. */
export const postgresFolder = ({ folder }: Pick<Home, 'folder'>): string =>
  join(folder, 'postgres');

/** Whether there is an installation, as far as secrets make one. */
export const hasSecrets = (home: Home): boolean => existsSync(secretsFile(home));

/** Creates the folder of an installation, and closes it to other users. */
export const keepFolder = ({ folder }: Pick<Home, 'folder'>): Promise<void> =>
  keepPrivateFolder(folder).catch((cause: Error) => {
    throw new Error(`TRUNKLINE_HOME (${folder}) cannot be used: ${cause.message}`, { cause });
  });

const newSecrets = (): Secrets => ({
  master_key: randomBytes(32).toString('hex'),
  mail_username: 'trunkline',
  mail_password: randomBytes(12).toString('base64url'),
  console_password: randomBytes(12).toString('base64url'),
  postgres_password: newPassword(),
});

/** Data without its secrets is an installation that lost the file: new secrets would hide that. */
const refuseLostSecrets = (home: Pick<Home, 'folder'>): void => {
  const data = dataFolder(postgresFolder(home));
  if (readSetting('MASTER_KEY') !== undefined || !existsSync(join(data, 'PG_VERSION'))) return;
  throw new Error(
    `${secretsFile(home)} is missing, but ${data} has data. Restore the file from your backup. Without it, ` +
      'the credentials in the database cannot be decrypted: "make db-reset" deletes the data and starts anew.',
  );
};

/** The installation's secrets, made at the first start. Losing the file loses every sealed credential. */
export const keepSecrets = async ({ folder }: Pick<Home, 'folder'>): Promise<Secrets> => {
  await keepFolder({ folder });
  const file = secretsFile({ folder });
  const known = await readJson(file, LOST_SECRETS);
  if (known === null) {
    refuseLostSecrets({ folder });
    const secrets = newSecrets();
    await writeJson(file, secrets);
    return secrets;
  }
  // Copied back from a backup, it may be readable by others.
  await chmod(file, SECRET_FILE_MODE);
  const parsed = StoredSecrets.safeParse(known);
  if (!parsed.success) throw new Error(`${file} lacks what it must hold: ${LOST_SECRETS}`);
  const { postgres_password } = parsed.data;
  if (postgres_password !== undefined) return { ...parsed.data, postgres_password };
  // Before the server gets it: after a crash in between, the next start sets the same one.
  const completed = { ...parsed.data, postgres_password: newPassword() };
  await writeJson(file, completed);
  return completed;
};

/** The settings of the service that hold its master key: the user's own, or else the installation's. */
export const masterKeysOf = (secrets: Secrets | null): Record<string, string> => {
  const now = readSetting('MASTER_KEY');
  const before =
    now === undefined ? secrets?.master_key_previous : readSetting('MASTER_KEY_PREVIOUS');
  return {
    MASTER_KEY: now ?? secrets?.master_key ?? '',
    ...(before === undefined ? {} : { MASTER_KEY_PREVIOUS: before }),
  };
};

/** The same, whichever of the two it is. */
export const readMasterKeys = async (): Promise<Record<string, string>> =>
  masterKeysOf(readSetting('MASTER_KEY') === undefined ? await keepSecrets(readHome()) : null);

/** The installation's keys, from MASTER_KEY or its secrets. */
export const readKeys = async (): Promise<Keys> => {
  const { MASTER_KEY = '', MASTER_KEY_PREVIOUS: before } = await readMasterKeys();
  const { root, outer } = readMasterKey(MASTER_KEY);
  return new Keys(root, before === undefined ? [outer] : [outer, readMasterKey(before).outer]);
};

/** Writes the secrets anew, after a rotation. */
export const writeSecrets = (home: Home, secrets: Secrets): Promise<void> =>
  writeJson(secretsFile(home), secrets);

const factsFile = ({ folder }: Home): string => join(folder, 'dev.json');

/** What the last start wrote, or null before the first. */
export const findFacts = async (home: Home): Promise<DevFacts | null> => {
  const known = DevFacts.safeParse(
    await readJson(factsFile(home), 'remove it; the next start writes it anew.'),
  );
  return known.success ? known.data : null;
};

export const writeFacts = (home: Home, facts: DevFacts): Promise<void> =>
  writeJson(factsFile(home), facts);
