// Who reads the environment of the service must not become the owner of the database.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../src/runtime/start_service.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

test('a service that is started with the owner’s credentials gets none of them, and works', async ({
  skip,
}) => {
  skip(process.platform !== 'linux', 'only Linux shows the environment of a process');
  const { password } = new URL(database.url);
  skip(password === '', 'the server of these tests requires no password');
  const env = {
    ...database.env,
    DATABASE_URL: database.url,
    DATABASE_POOL_URL: database.url,
    OWNER_DATABASE_URL: database.url,
  };
  const service = await startService({ env });
  onTestFinished(() => void service.stop());
  expect((await fetch(`http://127.0.0.1:${service.port}/readyz`)).status).toBe(200);
  const environment = readFileSync(`/proc/${service.pid}/environ`, 'utf8');
  expect(environment).toContain('DATABASE_URL=postgres://');
  expect(environment).not.toContain(password);
  expect(environment).not.toContain('OWNER_DATABASE_URL');
});

test('a service that an operator gave credentials it does not use names the settings, not the values', async ({
  skip,
}) => {
  skip(new URL(database.url).password === '', 'the server of these tests requires no password');
  const env = { ...database.ownerEnv, DATABASE_URL: database.url };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout })) {
    const { level, settings, msg } = JSON.parse(line) as Record<string, unknown>;
    if (settings === undefined) continue;
    expect([level, settings]).toEqual([40, ['OWNER_DATABASE_URL', 'DATABASE_URL']]);
    expect(msg).toContain('credentials that the service does not use');
    expect(line).not.toContain(database.url);
    return;
  }
  throw new Error('the service ended without a warning');
});
