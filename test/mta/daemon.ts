import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { listensOn } from '../support/ports.ts';
import { until } from '../support/until.ts';

/** `settings` are of its environment, as `NAME=value`. */
export type Command = { program: string; args: string[]; settings?: string[] };

/** A server in the foreground, in a process group of its own: what it forks ends with it. */
export class Daemon {
  readonly #command: Command;
  readonly #port: number;
  #child: ChildProcess | null = null;

  constructor(command: Command, port: number) {
    this.#command = command;
    this.#port = port;
  }

  async begin(): Promise<void> {
    const { program, args, settings = [] } = this.#command;
    const child = spawn('env', [...settings, program, ...args], {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.#child = child;
    await until(`${program} answers`, () => {
      if (child.exitCode !== null) throw new Error(`${program} ended (${child.exitCode})`);
      return listensOn(this.#port);
    });
  }

  /** Makes it read its configuration again. */
  reload(): void {
    this.#child?.kill('SIGHUP');
  }

  /** Ends the server and every process of its group; resolves when its port is closed. */
  async end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child?.pid) return;
    const ended = child.exitCode === null ? once(child, 'exit') : null;
    process.kill(-child.pid, 'SIGTERM');
    await ended;
    await until('its port is closed', async () => !(await listensOn(this.#port)));
  }
}
