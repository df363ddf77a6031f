import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import {
  distrustAuthority,
  makeCertificate,
  trustAuthority,
} from '../../src/runtime/certificate.ts';
import { freePort, listensOn } from '../support/ports.ts';
import { until } from '../support/until.ts';

/** Debian's; where only root looks for programs. */
const PROGRAM = '/usr/sbin/dovecot';

/** Whether there is a Dovecot on this machine. */
export const hasDovecot = (): boolean => spawnSync(PROGRAM, ['--version']).status === 0;

const ACCOUNT = { username: 'bounces', password: 'mailbox-password' };
const IS_ROOT = process.getuid?.() === 0;

/** Root starts it as the users of the package, and no mailbox belongs to root. */
const usersOf = () => {
  const { username, uid, gid } = userInfo();
  if (!IS_ROOT) {
    const group = execFileSync('id', ['-gn']).toString().trim();
    return { internal: username, internalGroup: group, login: username, uid, gid };
  }
  const nobody = { uid: 65_534, gid: 65_534 };
  return { internal: 'dovecot', internalGroup: 'dovecot', login: 'dovenull', ...nobody };
};

type Ports = { plainPort: number; sslPort: number };

/** A folder with everything that Dovecot reads and writes. */
const furnish = async (ports: Ports) => {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-dovecot-'));
  const { cert, key, ca } = await makeCertificate(['localhost']);
  const users = usersOf();
  const values: Record<string, string | number> = {
    folder,
    ...ACCOUNT,
    ...ports,
    ...users,
  };
  const template = await readFile(new URL('dovecot.conf', import.meta.url), 'utf8');
  await chmod(folder, 0o755);
  for (const name of ['mail', 'mail/tmp', 'mail/new', 'mail/cur', 'home', 'run'])
    await mkdir(join(folder, name));
  for (const [name, text] of Object.entries({ 'cert.pem': cert, 'key.pem': key }))
    await writeFile(join(folder, name), text);
  const config = template.replaceAll(/@(\w+)@/g, (_, name: string) => String(values[name] ?? ''));
  await writeFile(join(folder, 'dovecot.conf'), config);
  const owned = ['mail', 'home'].map((name) => join(folder, name));
  if (IS_ROOT) execFileSync('chown', ['-R', `${users.uid}:${users.gid}`, ...owned]);
  return { folder, ca };
};

/** A real IMAP server on this machine, with one mailbox. */
export class Dovecot {
  readonly #folder: string;
  readonly #ca: string;
  readonly #child: ChildProcess;
  readonly #ports: Ports;
  #delivered = 0;

  private constructor(
    { folder, ca }: { folder: string; ca: string },
    child: ChildProcess,
    ports: Ports,
  ) {
    this.#folder = folder;
    this.#ca = ca;
    this.#child = child;
    this.#ports = ports;
  }

  static async start(): Promise<Dovecot> {
    const ports = { plainPort: await freePort(), sslPort: await freePort() };
    const furnished = await furnish(ports);
    trustAuthority(furnished.ca);
    const args = ['-F', '-c', join(furnished.folder, 'dovecot.conf')];
    const child = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const dovecot = new Dovecot(furnished, child, ports);
    await until('Dovecot answers', () => listensOn(ports.sslPort));
    return dovecot;
  }

  /** How to read its mailbox. */
  settings(secure: 'ssl' | 'starttls' = 'ssl') {
    const port = secure === 'ssl' ? this.#ports.sslPort : this.#ports.plainPort;
    return { host: 'localhost', port, secure, ...ACCOUNT };
  }

  /** Puts a message into INBOX, as a delivery agent does (maildir). */
  async deliver(raw: string): Promise<void> {
    this.#delivered += 1;
    const name = `${Math.floor(Date.now() / 1_000)}.${this.#delivered}.test`;
    const draft = join(this.#folder, 'mail', 'tmp', name);
    await writeFile(draft, raw, { mode: 0o644 });
    const { uid, gid } = usersOf();
    if (IS_ROOT) execFileSync('chown', [`${uid}:${gid}`, draft]);
    await rename(draft, join(this.#folder, 'mail', 'new', name));
  }

  /** The names of the messages of INBOX or another folder; those that are read end with `S`. */
  async list(folder = ''): Promise<string[]> {
    const own = join(this.#folder, 'mail', ...(folder === '' ? [] : [`.${folder}`]));
    const names = await Promise.all(['new', 'cur'].map((part) => readdir(join(own, part))));
    return names.flat();
  }

  async close(): Promise<void> {
    distrustAuthority(this.#ca);
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
