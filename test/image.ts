// `make test-image`: the image's steps, taken by Docker where there is one, and one by one in an empty folder.
// What comes of them is started over a Postgres of its own, migrated, asked, and stopped.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutCredentials } from '../src/config/database_url.ts';
import { findFreePort, startScratchPostgres } from '../src/runtime/scratch_postgres.ts';
import { TEST_MASTER_KEY } from './support/secrets.ts';
import { until } from './support/until.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCKERFILE = join(ROOT, '.deploy', 'Dockerfile');

const run = (command: string, args: string[], options: { cwd: string }): void => {
  console.log(`  ${command} ${args.join(' ')}`);
  const { status } = spawnSync(command, args, {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
};

/** The steps of the first stage, without what is about the image alone. */
const readSteps = (): { name: string; rest: string }[] => {
  const [, stage = ''] = readFileSync(DOCKERFILE, 'utf8').split(/^FROM .*$/m);
  return stage
    .split('\n')
    .map((line) => /^([A-Z]+) (.*)$/.exec(line))
    .flatMap((found) => (found ? [{ name: found[1]!, rest: found[2]! }] : []))
    .filter(({ name }) => name !== 'WORKDIR');
};

/** As Docker copies: files into a folder keep their names, one folder becomes the other. */
const copy = (rest: string, folder: string): void => {
  const words = rest.split(' ');
  const to = join(folder, words.at(-1)!);
  for (const name of words.slice(0, -1)) {
    const from = join(ROOT, name);
    cpSync(from, statSync(from).isDirectory() ? to : join(to, name), { recursive: true });
  }
};

/** The folder that the image would hold. */
const buildFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-image-'));
  for (const { name, rest } of readSteps()) {
    if (name === 'COPY') {
      console.log(`  COPY ${rest}`);
      copy(rest, folder);
    } else if (name === 'RUN' && !rest.startsWith('case "$NODE_IMAGE"'))
      run('sh', ['-c', rest], { cwd: folder });
    else throw new Error(`${DOCKERFILE}: the script does not know ${name}`);
  }
  return folder;
};

const expectOk = async (url: string, text: string): Promise<void> => {
  const answer = await fetch(url);
  const body = await answer.text();
  if (answer.status !== 200 || !body.includes(text))
    throw new Error(`${url} answered ${answer.status}: ${body.slice(0, 200)}`);
  console.log(`  ${url.replace(/:\d+/, '')} answers`);
};

/** Migrates and starts what the folder holds, asks it what an operator would, and stops it. */
const tryFolder = async (folder: string): Promise<void> => {
  const server = await startScratchPostgres();
  const port = await findFreePort();
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: withoutCredentials(server.url),
    MASTER_KEY: TEST_MASTER_KEY,
    PORT: String(port),
  };
  const node = (args: string[], more: Record<string, string> = {}) =>
    spawn(process.execPath, args, {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const ended = (child: ReturnType<typeof node>): Promise<number | null> =>
    new Promise((resolve) => child.once('exit', resolve));
  try {
    const migration = node(['src/runtime/database.ts', 'migrate'], {
      OWNER_DATABASE_URL: server.url,
    });
    if ((await ended(migration)) !== 0) throw new Error('it does not migrate');
    const service = node(['src/main.ts']);
    const exit = ended(service);
    const url = `http://127.0.0.1:${port}`;
    await until('it is ready', () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    await expectOk(`${url}/console`, '<div id=');
    await expectOk(`${url}/docs`, 'Trunkline');
    await expectOk(`${url}/sdk/trunkline.js`, 'trunkline');
    await expectOk(`${url}/metrics`, 'trunkline_pool_connections');
    service.kill('SIGTERM');
    if ((await exit) !== 0) throw new Error('it does not end well');
  } finally {
    await server.stop();
  }
};

const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0;
if (hasDocker)
  run(
    'sh',
    [
      '-c',
      [
        'test -f .deploy/.env || { echo \'Run "make image-digests" first.\' >&2; exit 1; }',
        '. .deploy/.env',
        'docker build --file "$1" --build-arg NODE_IMAGE="$NODE_IMAGE" --tag trunkline .',
      ].join('\n'),
      'sh',
      DOCKERFILE,
    ],
    { cwd: ROOT },
  );
else console.log('There is no Docker here: the steps of the image are taken without it.');
const folder = buildFolder();
try {
  await tryFolder(folder);
  console.log('The image works.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
