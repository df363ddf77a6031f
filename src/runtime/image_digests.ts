// `make image-digests`: pins the images of .deploy by their digests, which only a registry knows.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run_command.ts';

const FILE = join(import.meta.dirname, '..', '..', '.deploy', '.env');

/** The images by the setting that names them in `.deploy`. Docker Compose reads the file by itself. */
const IMAGES: Record<string, string> = {
  NODE_IMAGE: 'node:26-bookworm-slim',
  POSTGRES_IMAGE: 'postgres:18',
};
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Asks the registry which image a tag names now: the list of all platforms, so that each machine gets its own. */
const findDigest = (image: string): string => {
  const args = ['buildx', 'imagetools', 'inspect', image, '--format', '{{.Manifest.Digest}}'];
  const { error, status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8' });
  if (error || /unknown (?:flag|command)|is not a docker command/.test(stderr))
    throw new Error(`Docker with buildx is needed: ${error?.message ?? stderr.trim()}`);
  const digest = stdout.trim();
  if (status !== 0 || !DIGEST.test(digest))
    throw new Error(`The registry did not tell the digest of ${image}: ${stderr.trim() || digest}`);
  return digest;
};

const main = async (): Promise<void> => {
  const pins = Object.entries(IMAGES).map(
    ([setting, image]) => `${setting}=${image}@${findDigest(image)}`,
  );
  const before = existsSync(FILE) ? (await readFile(FILE, 'utf8')).trimEnd().split('\n') : [];
  const others = before.filter((line) => !Object.hasOwn(IMAGES, line.split('=', 1)[0] ?? ''));
  await writeFile(FILE, `${[...others, ...pins].filter(Boolean).join('\n')}\n`);
  for (const pin of pins) console.log(pin);
  console.log(
    '.deploy/.env has these digests. Commit it, and run this again to take newer images.',
  );
};

await runCommand(main);
