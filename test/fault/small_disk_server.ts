// Run in a mount namespace of its own, over a disk that only it sees: a Postgres with its data, or its log, there.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { chmod, cp, mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { findAccount } from '../../src/runtime/postgres_account.ts';
import { newPassword } from '../../src/runtime/postgres_password.ts';
import { startLocalPostgres } from '../../src/runtime/local_postgres.ts';
import type { LocalPostgres } from '../../src/runtime/local_postgres.ts';
import type { Ask, Part, Told } from './small_disk.ts';

const [disk = '', folder = '', port = '', part = 'data'] = process.argv.slice(2);
const dir = join(part === 'data' ? disk : folder, 'data');
const filler = join(disk, 'filler');
const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // A checkpoint that finds no room ends the server. Over a disk of data, only a test asks for one.
  ...(part === 'data'
    ? { max_wal_size: '4GB', checkpoint_timeout: '1d' }
    : // A log of a few files, each of them new: one that is used again needs no space.
      { min_wal_size: '32MB', max_wal_size: '48MB', wal_recycle: 'off' }),
};
const options = { dir, port: Number(port), password: newPassword(), settings };
/** The server, once it was started. */
const running: LocalPostgres[] = [];

/** The part that is not to be on the small disk is elsewhere. */
const moveLog = async (to: string): Promise<void> => {
  const log = join(dir, 'pg_wal');
  await cp(log, to, { recursive: true, preserveTimestamps: true });
  await rm(log, { recursive: true });
  await symlink(to, log);
  const { uid, gid } = findAccount();
  if (uid === undefined || gid === undefined) return;
  execFileSync('chown', ['-R', `${uid}:${gid}`, to]);
};

const PIECES = [1 << 20, 1 << 12, 1];

/** Takes all the space there is, to the last byte; said again, what came free meanwhile. */
const fill = (): void => {
  const file = openSync(filler, 'a');
  for (const bytes of PIECES) {
    const piece = Buffer.alloc(bytes);
    try {
      for (;;) if (writeSync(file, piece) < bytes) break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  closeSync(file);
};

const start = async (): Promise<void> => {
  running[0] = await startLocalPostgres(options);
};

const acts: Record<Ask['act'], () => Promise<void> | void> = {
  start,
  fill,
  free: () => rmSync(filler, { force: true }),
  stop: async () => {
    await running[0]?.stop('immediate');
  },
};

await mkdir(folder, { recursive: true });
await chmod(folder, 0o755);
await start();
await running[0]?.stop('fast');
await moveLog(join((part as Part) === 'data' ? folder : disk, 'log'));

process.on('message', ({ id, act }: Ask) => {
  void Promise.resolve()
    .then(acts[act])
    .then(
      () => ({ id, url: running[0]?.url ?? '', pid: running[0]?.pid ?? 0, error: null }),
      (error: unknown) => ({ id, url: '', pid: 0, error: String(error) }),
    )
    .then((told: Told) => process.send?.(told));
});
process.on('disconnect', () => {
  void Promise.resolve(running[0]?.stop('immediate')).finally(() => process.exit());
});
process.send?.({ id: 0, url: '', pid: 0, error: null } satisfies Told);
