import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { findFreePort } from '../../src/runtime/scratch_postgres.ts';

/** What of the server is on the small disk: its data, or its log of what was committed. */
export type Part = 'data' | 'log';
export type Ask = { id: number; act: 'start' | 'fill' | 'free' | 'stop' };
export type Told = { id: number; url: string; pid: number; error: string | null };

export type SmallDisk = {
  url: string;
  /** Starts the server again over what is there, whatever became of it. */
  restart: () => Promise<void>;
  /** Takes all the space that is left. */
  fill: () => Promise<void>;
  free: () => Promise<void>;
  close: () => Promise<void>;
};

const SERVER = join(import.meta.dirname, 'small_disk_server.ts');
const SIZES: Record<Part, string> = { data: '128m', log: '128m' };

/**
 * A shell that mounts a disk nobody else sees, and runs a command over it. The mount goes with its processes, also
 * when they are killed. Root makes a namespace of mounts; anybody else needs one of users, too, in which the command
 * is who we are again: Postgres would refuse to be root, and to be somebody who has no name.
 */
const within = (size: string, disk: string, command: readonly string[]): string[] => {
  const mount = 'mount -t tmpfs -o "size=$1,mode=1777" none "$2" && shift 2 && exec';
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const isRoot = uid === 0;
  const own = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  const back = isRoot ? '' : `unshare --user --map-user=${uid} --map-group=${gid} `;
  return [...own, 'sh', '-c', `${mount} ${back}"$@"`, 'sh', size, disk, ...command];
};

/** Why there can be no small disk on this machine, or null. */
export const whyNoSmallDisk = (): string | null => {
  const { status, error, stderr } = spawnSync('unshare', within('1m', tmpdir(), ['true']), {
    encoding: 'utf8',
  });
  if (status === 0) return null;
  return `no disk of its own can be mounted here: ${error?.message ?? stderr.trim()}`;
};

/** A Postgres of which a part is on a small disk, which can be filled. */
export const openSmallDisk = async (part: Part): Promise<SmallDisk> => {
  const folder = await mkdtemp(join(tmpdir(), 'small-disk-'));
  await chmod(folder, 0o755);
  const port = await findFreePort();
  const disk = await mkdtemp(join(tmpdir(), 'small-disk-'));
  await chmod(disk, 0o755);
  const command = [process.execPath, SERVER, disk, join(folder, 'rest'), String(port), part];
  const child = spawn('unshare', within(SIZES[part], disk, command), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const heard = async (id: number): Promise<Told> => {
    for (;;) {
      const [told] = (await Promise.race([
        once(child, 'message'),
        ended.then(() => [{ id, error: 'it ended' }]),
      ])) as [Told];
      if (told.id !== id) continue;
      if (told.error !== null) throw new Error(told.error);
      return told;
    }
  };
  let asked = 0;
  const ask = (act: Ask['act']): Promise<Told> => {
    asked += 1;
    const answer = heard(asked);
    child.send({ id: asked, act } satisfies Ask);
    return answer;
  };
  await heard(0);
  const { url } = await ask('start');
  return {
    url,
    restart: async () => {
      await ask('stop');
      await ask('start');
    },
    fill: async () => void (await ask('fill')),
    free: async () => void (await ask('free')),
    close: async () => {
      await ask('stop');
      child.disconnect();
      await ended;
      for (const made of [folder, disk]) await rm(made, { recursive: true, force: true });
    },
  };
};
