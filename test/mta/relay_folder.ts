import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  distrustAuthority,
  makeCertificate,
  trustAuthority,
} from '../../src/runtime/certificate.ts';
import { HOST } from './relay.ts';

export const isRoot = process.getuid?.() === 0;

/** A folder of one relay, with a certificate that this process trusts. */
export class RelayFolder {
  readonly path: string;
  readonly #ca: string;

  private constructor(path: string, ca: string) {
    this.path = path;
    this.#ca = ca;
  }

  static async make(name: string): Promise<RelayFolder> {
    const path = await mkdtemp(join(tmpdir(), `trunkline-${name}-`));
    await chmod(path, 0o755);
    const { cert, key, ca } = await makeCertificate([HOST]);
    const folder = new RelayFolder(path, ca);
    for (const [file, text] of Object.entries({ 'ca.pem': ca, 'cert.pem': cert, 'key.pem': key }))
      await folder.write(file, text);
    trustAuthority(ca);
    return folder;
  }

  of(...names: string[]): string {
    return join(this.path, ...names);
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(this.of(file), text);
  }

  /** Writes a file of this folder from a template, where each `@name@` stands for a value. */
  async fill(file: string, template: string, values: Record<string, string>): Promise<void> {
    const text = await readFile(new URL(template, import.meta.url), 'utf8');
    await this.write(
      file,
      text.replaceAll(/@(\w+)@/g, (_, name: string) => values[name] ?? ''),
    );
  }

  /** Makes a user the owner of files. Without root all belong to us. */
  give(user: string, ...names: string[]): void {
    if (!isRoot) return;
    execFileSync('chown', ['-R', user, ...names.map((name) => this.of(name))]);
  }

  async remove(): Promise<void> {
    distrustAuthority(this.#ca);
    await rm(this.path, { recursive: true, force: true });
  }
}
