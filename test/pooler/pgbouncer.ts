import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, listensOn } from '../support/ports.ts';
import { until } from '../support/until.ts';

/** Debian's; where only root looks for programs. */
const PROGRAM = '/usr/sbin/pgbouncer';
/** It does not run as root. */
const USER = 'nobody';
const isRoot = process.getuid?.() === 0;

export const NO_PGBOUNCER = 'PgBouncer is not here: `make test-pooler` installs it where apt is';

/** Whether there is a PgBouncer on this machine. */
export const hasPgbouncer = (): boolean => spawnSync(PROGRAM, ['--version']).status === 0;

/** Sessions of the server that all clients of one role share. */
export const SERVER_SESSIONS = 2;

/** As its documents tell people to set it up, with a pool so small that nobody has a session twice in a row. */
const configOf = (server: URL, { folder, port }: { folder: string; port: number }): string => `
[databases]
* = host=${server.hostname} port=${server.port} auth_user=${decodeURIComponent(server.username)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${SERVER_SESSIONS}
max_client_conn = 200
`;

/** A real transaction-pooling proxy before the server of the tests. */
export class Pgbouncer {
  readonly #folder: string;
  readonly #child: ChildProcess;
  /** Where the owner would reach a database through it. */
  readonly url: string;

  private constructor(folder: string, child: ChildProcess, url: string) {
    this.#folder = folder;
    this.#child = child;
    this.url = url;
  }

  /** Before a database, whose owner looks up the passwords of everybody else. */
  static async start(databaseUrl: string): Promise<Pgbouncer> {
    const server = new URL(databaseUrl);
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-pgbouncer-'));
    const port = await freePort();
    const config = join(folder, 'pgbouncer.ini');
    const users = join(folder, 'users.txt');
    await writeFile(config, configOf(server, { folder, port }));
    const [owner, password] = [server.username, server.password].map(decodeURIComponent);
    await writeFile(users, `"${owner}" "${password}"\n`, { mode: 0o600 });
    await chmod(folder, 0o755);
    if (isRoot) execFileSync('chown', ['-R', USER, folder]);
    const args = ['-q', ...(isRoot ? ['-u', USER] : []), config];
    const child = spawn(PROGRAM, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    const through = new URL(databaseUrl);
    through.hostname = '127.0.0.1';
    through.port = String(port);
    const pooler = new Pgbouncer(folder, child, through.href);
    await until('PgBouncer answers', () => listensOn(port));
    return pooler;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
