import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sayEnd, sayWaiting, startEverything } from '../../src/runtime/everything.ts';
import { keepSecrets, postgresFolder, readHome } from '../../src/runtime/home.ts';
import { findLocalPostgres } from '../../src/runtime/local_postgres.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { until } from '../support/until.ts';

const TEST_TIMEOUT_MS = 180_000;
/** Four ports in a row, below those that the system gives away. */
const findPort = (): number => 20_000 + Math.floor(Math.random() * 10_000);

const modeOf = (...path: string[]): string => (statSync(join(...path)).mode & 0o777).toString(8);

/** Where the system shows a secret of ours: the arguments of processes are for every user, environments for theirs. */
const findInProcesses = async (secret: string): Promise<string[]> => {
  const shown: string[] = [];
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)))
    for (const file of ['cmdline', 'environ']) {
      const text = await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
      if (text.includes(secret)) shown.push(`/proc/${pid}/${file}`);
    }
  return shown;
};

test('a secret in the arguments or the environment of a process is found', async ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux has /proc');
  const env = { SECRET: 'of this environment' };
  const child = spawn(
    process.execPath,
    ['-e', 'setInterval(() => {}, 1000)', 'of these arguments'],
    { env },
  );
  await once(child, 'spawn');
  await expect
    .poll(() => findInProcesses('of these arguments'))
    .toEqual([`/proc/${child.pid}/cmdline`]);
  expect(await findInProcesses(env.SECRET)).toEqual([`/proc/${child.pid}/environ`]);
  child.kill();
});

test('a service that ended is said to have ended how it did, and what it said last', () => {
  expect(sayEnd(null, 'SIGKILL', null)).toBe(
    'the service stopped by itself (killed by SIGKILL; it did not say why)',
  );
  expect(sayEnd(1, null, 'queue stopped by itself')).toBe(
    'the service stopped by itself (exit code 1; queue stopped by itself)',
  );
});

test('what a service that stops waits for is said, and for how long at most', () => {
  expect(sayWaiting({ hand_offs: 1, seconds_left: 97 })).toBe(
    'waiting for 1 mail, for which its provider has not answered yet, 97 s at most: ' +
      'what has no answer then ends as unknown',
  );
  expect(sayWaiting({ hand_offs: 2, seconds_left: 5 })).toContain('for 2 mails, for which their');
});

test(
  'no process has the superuser’s password; a lost Postgres comes back; held sending is said',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-start-'));
    const home = readHome({ TRUNKLINE_HOME: folder, PORT: String(findPort()) });
    const said: string[] = [];
    const everything = await startEverything(home, (line) => said.push(line));
    const { base_url, server_key } = everything.facts;
    const post = () =>
      fetch(`${base_url}/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ event: 'seen', external_id: 'ann' }),
      }).then(
        ({ status }) => status,
        () => null,
      );
    expect(await post()).toBe(202);
    const { postgres_password: password } = await keepSecrets(home);
    expect(everything.facts.database_url).toContain(`:${password}@`);
    expect(await findInProcesses(password)).toEqual([]);
    expect([modeOf(folder, 'dev.json'), modeOf(folder, 'mail')]).toEqual(['600', '700']);
    const lost = await findLocalPostgres(postgresFolder(home));
    await lost?.stop('immediate');
    await until('events are taken again', async () => (await post()) === 202);
    expect(said).toContain('postgres is gone; starting it again');
    expect(everything.held).toBeNull();
    await withClient(everything.facts.database_url, (client) =>
      client.query('update base.sending set held_at = now()'),
    );
    await everything.stop();

    // Who starts it again is told why the mail does not come.
    const again = await startEverything(home, (line) => said.push(line));
    expect(again.held).toBe(
      'Nothing is sent: somebody held sending. To go on: `make resume-sending`.',
    );
    await withClient(again.facts.database_url, (client) =>
      client.query("update base.sending set home = 'another'"),
    );
    await again.stop();
    const restored = await startEverything(home, (line) => said.push(line));
    expect(restored.held).toContain('restored from a backup');
    await restored.stop();
    await rm(folder, { recursive: true });
  },
);
