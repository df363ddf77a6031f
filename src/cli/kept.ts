import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fromDisk, makeFolder, onDisk } from '../admin/folder/disk.ts';
import type { World } from './terminal.ts';

/** A session as it is kept: in a file of its own for each installation. */
export type Session = { url: string; email: string; session: string; expires_at: string };

export type Chosen = { id: string; name: string };
type Choices = {
  /** The installation of the last login. */
  url?: string;
  /** Which project is worked on, by the address of the installation. */
  projects?: Record<string, Chosen>;
};

type Env = Pick<World, 'env'>;

/** Where people's programs keep what they keep. */
const folderOf = ({ env }: Env): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'trunkline');

const choicesFile = (world: Env): string => join(folderOf(world), 'config.json');
const sessionFile = (world: Env, url: string): string =>
  join(folderOf(world), 'sessions', `${encodeURIComponent(url)}.json`);
const deviceFile = (world: Env, url: string): string =>
  join(folderOf(world), 'devices', `${encodeURIComponent(url)}.json`);

const isMissing = (error: unknown): boolean =>
  error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';

const read = (file: string): unknown => {
  try {
    return JSON.parse(fromDisk(() => readFileSync(file, 'utf8')));
  } catch (error) {
    // What was cut or written by somebody else counts as if it was not there.
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw error;
  }
};

/** Writes a file that nobody else may read, whole at every moment. */
const write = (file: string, value: object): void =>
  onDisk(() => {
    makeFolder(dirname(file), 0o700);
    const made = `${file}.${randomUUID()}`;
    try {
      writeFileSync(made, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
      renameSync(made, file);
    } catch (error) {
      // There may be a session in it.
      rmSync(made, { force: true });
      throw error;
    }
  });

const TEXTS = ['url', 'email', 'session', 'expires_at'] as const;
const isSession = (value: unknown): value is Session =>
  typeof value === 'object' &&
  value !== null &&
  TEXTS.every((name) => typeof (value as Record<string, unknown>)[name] === 'string');

/** The session that is kept for an installation. */
export const findSession = (world: Env, url: string): Session | null => {
  const kept = read(sessionFile(world, url));
  return isSession(kept) && kept.url === url ? kept : null;
};

export const readChoices = (world: Env): Choices => {
  const kept = read(choicesFile(world));
  return typeof kept === 'object' && kept !== null ? (kept as Choices) : {};
};

/** Keeps a session, and the installation as the one that is meant from now on. */
export const keepSession = (world: Env, session: Session): void => {
  write(sessionFile(world, session.url), session);
  write(choicesFile(world), { ...readChoices(world), url: session.url });
};

export const forgetSession = (world: Env, url: string): void =>
  onDisk(() => rmSync(sessionFile(world, url), { force: true }));

/** Returns the device token of this machine at an installation: it signed in there before. */
export const findDevice = (world: Env, url: string): string | null => {
  const kept = read(deviceFile(world, url)) as { device?: unknown } | null;
  return typeof kept?.device === 'string' ? kept.device : null;
};

/** Keeps the device token of this machine, also after a logout. */
export const keepDevice = (world: Env, url: string, device: string): void =>
  write(deviceFile(world, url), { url, device });

/** Keeps which project of an installation is worked on. */
export const keepProject = (world: Env, url: string, chosen: Chosen): void => {
  const choices = readChoices(world);
  write(choicesFile(world), { ...choices, projects: { ...choices.projects, [url]: chosen } });
};
