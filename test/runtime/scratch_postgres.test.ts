import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { isAlive } from '../../src/runtime/postgres_process.ts';
import { startScratchPostgres } from '../../src/runtime/scratch_postgres.ts';
import { until } from '../support/until.ts';

/** Each makes a database cluster or three. */
const DEADLINE_MS = 60_000;
const OWNER = join(import.meta.dirname, 'scratch_owner.ts');

/** Starts a process that owns a server; answers both when the server is there. */
const startOwner = async (ending: 'throw' | 'return' | 'wait') => {
  const child = spawn(process.execPath, [OWNER, ending], { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const server: { pid: number; dir: string } = JSON.parse(String(line));
  return { child, exited, server };
};

const expectGone = async ({ pid, dir }: { pid: number; dir: string }): Promise<void> => {
  await until('the server is gone', () => !isAlive(pid));
  expect(existsSync(dir)).toBe(false);
};

test.each(['throw', 'return'] as const)(
  'a server ends with its process when that ends by %s',
  async (ending) => {
    const { exited, server } = await startOwner(ending);
    await exited;
    await expectGone(server);
  },
  DEADLINE_MS,
);

test.each(['SIGINT', 'SIGTERM'] as const)(
  'a server ends with its process when that is ended by %s',
  async (signal) => {
    const { child, exited, server } = await startOwner('wait');
    child.kill(signal);
    expect(await exited).toEqual([null, signal]);
    await expectGone(server);
  },
  DEADLINE_MS,
);

test(
  'a server whose process was killed is ended when the next one starts; others are left alone',
  async () => {
    const killed = await startOwner('wait');
    const other = await startOwner('wait');
    killed.child.kill('SIGKILL');
    await killed.exited;
    expect(isAlive(killed.server.pid)).toBe(true);
    const next = await startScratchPostgres();
    await expectGone(killed.server);
    expect(isAlive(other.server.pid)).toBe(true);
    await next.stop();
    await expectGone(next);
    other.child.kill();
    await other.exited;
  },
  DEADLINE_MS,
);
