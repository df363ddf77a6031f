import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import {
  distrustAuthority,
  makeCertificate,
  trustAuthority,
} from '../../src/runtime/certificate.ts';
import { freePort, listensOn } from '../support/ports.ts';
import { until } from '../support/until.ts';

/** Debian's; where only root looks for programs. */
export const PROGRAM = '/usr/sbin/exim4';

/** Whether there is an Exim on this machine. */
export const hasExim = (): boolean => spawnSync(PROGRAM, ['-bV']).status === 0;

const ACCOUNT = { username: 'shop', password: 'relay password' };
const HOST = 'localhost';
/** Whom Debian made for it; Exim gives up root for nobody else. Without root it runs as we do. */
export const USER = process.getuid?.() === 0 ? 'Debian-exim' : userInfo().username;
/** What Exim writes to. */
const OWN = ['spool', 'log', 'mailbox'];

/** A folder with everything that Exim reads and writes. */
const furnish = async (ports: Record<SmtpSettings['smtp_secure'], number>) => {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-exim-'));
  const { cert, key, ca } = await makeCertificate([HOST]);
  const values: Record<string, string> = { folder, user: USER, ...ACCOUNT };
  for (const [name, port] of Object.entries(ports)) values[name] = String(port);
  const template = await readFile(new URL('exim.conf', import.meta.url), 'utf8');
  const config = template.replaceAll(/@(\w+)@/g, (_, name: string) => values[name] ?? '');
  await chmod(folder, 0o755);
  for (const name of OWN) await mkdir(join(folder, name));
  for (const [name, text] of Object.entries({ 'cert.pem': cert, 'key.pem': key }))
    await writeFile(join(folder, name), text);
  await writeFile(join(folder, 'exim.conf'), config);
  const owned = [...OWN, 'cert.pem', 'key.pem'].map((name) => join(folder, name));
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${USER}:`, ...owned]);
  return { folder, ca };
};

/** A real relay on this machine, with a mailbox. */
export class Exim {
  readonly #folder: string;
  readonly #ca: string;
  readonly #child: ChildProcess;
  readonly #ports: Record<SmtpSettings['smtp_secure'], number>;

  private constructor(
    { folder, ca }: { folder: string; ca: string },
    child: ChildProcess,
    ports: Record<SmtpSettings['smtp_secure'], number>,
  ) {
    this.#folder = folder;
    this.#ca = ca;
    this.#child = child;
    this.#ports = ports;
  }

  static async start(): Promise<Exim> {
    const ports = { starttls: await freePort(), ssl: await freePort(), none: await freePort() };
    const furnished = await furnish(ports);
    trustAuthority(furnished.ca);
    const args = ['-C', join(furnished.folder, 'exim.conf'), '-bdf'];
    const child = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const exim = new Exim(furnished, child, ports);
    await until('Exim answers', () => listensOn(ports.none));
    return exim;
  }

  /** How to reach it, by each of its three ways. */
  settings(smtp_secure: SmtpSettings['smtp_secure'] = 'starttls'): SmtpSettings {
    const place = { smtp_host: HOST, smtp_port: this.#ports[smtp_secure], smtp_secure };
    return { provider: 'smtp', ...place, ...ACCOUNT };
  }

  /** The message to a recipient as it lies in the mailbox, once it does. */
  delivered(to: string): Promise<string> {
    return until(`a message to ${to}`, async () => {
      const box = join(this.#folder, 'mailbox', 'new');
      for (const name of await readdir(box).catch(() => [])) {
        const raw = await readFile(join(box, name), 'latin1');
        if (raw.includes(`\nEnvelope-to: ${to}\n`) || raw.startsWith(`Envelope-to: ${to}\n`))
          return raw;
      }
      return null;
    });
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    distrustAuthority(this.#ca);
    await rm(this.#folder, { recursive: true, force: true });
  }
}
