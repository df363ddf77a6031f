import { readFileSync } from 'node:fs';

/** Settings that hold a secret. Each may come from a file instead, which `<SETTING>_FILE` names. */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_POOL_URL',
  'OWNER_DATABASE_URL',
  'MASTER_KEY',
  'MASTER_KEY_PREVIOUS',
  'METRICS_TOKEN',
] as const;

const readFile = (setting: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new Error(`${setting}_FILE (${file}) cannot be read: ${why}`, { cause });
  }
};

/**
 * Reads the secret settings that a file holds: a secret of Docker Compose, or a credential of systemd. Child processes
 * inherit an environment, and tools show it; a file stays where it is. Throws when a setting has both.
 */
export const readSettingFiles = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const read = { ...env };
  for (const setting of SECRET_SETTINGS) {
    const file = env[`${setting}_FILE`];
    if (file === undefined) continue;
    if (env[setting] !== undefined) {
      throw new Error(`${setting} and ${setting}_FILE are both set. Remove one of them.`);
    }
    read[setting] = readFile(setting, file);
  }
  return read;
};

/** Returns an environment without the names of files, for a caller that has read them already. */
export const withoutFiles = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !SECRET_SETTINGS.some((setting) => name === `${setting}_FILE`),
    ),
  );
