// What `npm pack` packs, installed into an empty folder as somebody would, and used: trunkline/server,
// trunkline/admin and the command line.
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { runProgram } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { segmentSnippet, serverSnippet } from '../../src/sdk/snippets.ts';
import { pack } from './packed.ts';
import { eventsOf } from './server_told.ts';

const PACK_TIMEOUT_MS = 180_000;
const COMPILE_TIMEOUT_MS = 90_000;
const ROOT = join(import.meta.dirname, '..', '..');

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const run = promisify(execFile);

/** Somebody's folder, with nothing in it but the package. */
let app: string;
const inApp = (...names: string[]) => join(app, ...names);
const installed = (...names: string[]) => inApp('node_modules', 'trunkline', ...names);
beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'trunkline-server-app-'));
  const tarball = await pack();
  await writeFile(inApp('package.json'), '{ "private": true, "type": "module" }');
  // Offline: whatever it needed would be missing.
  const install = ['install', '--offline', '--no-audit', '--no-fund', tarball];
  execFileSync('npm', install, { cwd: app, encoding: 'utf8', stdio: 'pipe' });
}, PACK_TIMEOUT_MS);
afterAll(() => rm(app, { recursive: true, force: true }));

/** What the reader of a snippet fills in. */
const filled = () => ({ key: api.project.server_key, apiHost: api.url });

/** Lets the app find packages that its owner would have installed beside. */
const addPackages = async (scope: string): Promise<void> => {
  await mkdir(inApp('node_modules'), { recursive: true });
  await symlink(join(ROOT, 'node_modules', scope), inApp('node_modules', scope)).catch(() => {});
};

describe('the package', () => {
  test('needs nothing, and runs nothing when it is installed', async () => {
    const manifest = JSON.parse(await readFile(installed('package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ name: 'trunkline', engines: { node: '>=18' } });
    for (const name of ['dependencies', 'optionalDependencies', 'devDependencies', 'scripts'])
      expect(manifest).not.toHaveProperty(name);
  });

  test('the server SDK asks nothing of Node: fetch, crypto and timers are everywhere', async () => {
    const code = await readFile(installed('dist', 'sdk', 'server', 'server.js'), 'utf8');
    expect(code).not.toMatch(/\bimport\s|\brequire\(|['"]node:|\bprocess\.|\bBuffer\b|\bglobal\./);
  });
});

describe('trunkline/server', () => {
  test('does what the snippet of the README says, and the process ends by itself', async () => {
    await writeFile(inApp('server.js'), serverSnippet(filled()));
    const { stderr } = await run(process.execPath, ['server.js'], { cwd: app });
    expect(stderr).toBe('');
    expect(await eventsOf(database, api)).toMatchObject([
      { name: 'order_completed', external_id: 'ann', properties: { total: 12.5 } },
    ]);
    const { body } = await api.call('GET', '/v1/profiles/external_id:ann', {
      key: api.project.server_key,
    });
    expect(body.traits).toEqual({ plan: 'pro' });
  });

  test('runs where there is no Web Crypto by itself, as on Node 18', async () => {
    await writeFile(inApp('bare.js'), 'delete globalThis.crypto;');
    const script = serverSnippet(filled()).replaceAll('order_completed', 'bare_order_completed');
    await writeFile(inApp('without_crypto.js'), `import './bare.js';\n${script}`);
    await run(process.execPath, ['without_crypto.js'], { cwd: app });
    const events = await eventsOf(database, api);
    expect(events.filter(({ name }) => name === 'bare_order_completed')).toHaveLength(1);
  });

  test('CommonJS has it by require, and by import()', async () => {
    const script = `
      const { Trunkline, TrunklineError } = require('trunkline/server');
      import('trunkline/server').then((module) => {
        console.log(module.Trunkline === Trunkline && module.TrunklineError === TrunklineError);
      });`;
    await writeFile(inApp('common.cjs'), script);
    const { stdout, stderr } = await run(process.execPath, ['common.cjs'], { cwd: app });
    expect([stdout, stderr]).toEqual(['true\n', '']);
  });

  test('close keeps the process until all is sent, also while it waits to try again', async () => {
    const script = `
      import { createServer } from 'node:http';
      import { Trunkline } from 'trunkline/server';
      let asked = 0;
      const down = createServer((request, response) => {
        request.resume().on('end', () => {
          asked += 1;
          if (asked < 3) return response.writeHead(503).end();
          response.end('{"accepted":1}', () => down.close());
        });
      }).listen(0, () => {
        down.unref();
        const trunkline = new Trunkline({
          token: 'svc_secret_live_x',
          apiHost: 'http://127.0.0.1:' + down.address().port,
          retryBaseMs: 200,
        });
        trunkline.track('order_completed', { userId: 'ann' });
        trunkline.close().then(() => console.log('asked ' + asked));
      });`;
    await writeFile(inApp('outage.js'), script);
    const { stdout } = await run(process.execPath, ['outage.js'], { cwd: app });
    expect(stdout).toBe('asked 3\n');
  });
});

describe('trunkline/admin', () => {
  test('calls the admin API', async () => {
    await addPackages('@trpc');
    const script = `
      import { createAdminClient } from 'trunkline/admin';
      const client = createAdminClient({ url: '${api.url}' });
      console.log(JSON.stringify(await client.session.current.query()));`;
    await writeFile(inApp('admin.js'), script);
    const { stdout } = await run(process.execPath, ['admin.js'], { cwd: app });
    expect(JSON.parse(stdout)).toEqual({ person: null });
  });
});

describe('npx trunkline', () => {
  const asking = (input = '') => ({
    input,
    cwd: app,
    env: { XDG_CONFIG_HOME: inApp('config'), TRUNKLINE_URL: api.url, HOME: app },
  });
  const npx = (args: string[]) => runProgram('npx', ['trunkline', ...args], asking());
  /** What npx finds, without npm being started each time. */
  const trunkline = (args: string[], input = '') =>
    runProgram(inApp('node_modules', '.bin', 'trunkline'), args, asking(input));

  test('is there, signs in and asks the admin API, with nothing installed beside it', async () => {
    expect(await npx(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
    const login = ['login', '--email', OWNER.email, '--password-stdin'];
    const signedIn = await trunkline(login, OWNER.password);
    expect(signedIn).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Signed in/) as string,
    });
    expect((await trunkline(['projects'])).stdout).toContain(api.project.project_id);
    expect(await trunkline(['projcts'])).toMatchObject({ code: 2 });
    expect((await trunkline(['export', inApp('crm')])).stdout).toMatch(/^\d+ files in /);
    const code = await readFile(installed('dist', 'sdk', 'cli', 'trunkline.js'), 'utf8');
    const imported = [...code.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, from]) => from);
    expect(imported.filter((from) => !from?.startsWith('node:'))).toEqual([]);
  });
});

describe('Segment’s library', () => {
  test('does what the snippet of the README says', async () => {
    await addPackages('@segment');
    await writeFile(inApp('segment.js'), segmentSnippet(filled()));
    const { stderr } = await run(process.execPath, ['segment.js'], { cwd: app });
    expect(stderr).toBe('');
    const names = (await eventsOf(database, api)).map(({ name }) => name);
    expect(names).toContain('order_completed');
  });
});

const SERVER_TYPED = `
  import { Trunkline, TrunklineError } from 'trunkline/server';
  import type { TrackOptions, TrunklineOptions } from 'trunkline/server';
  const options: TrunklineOptions = { token: 'svc_secret_live_x', apiHost: 'https://a.test', flushSize: 10 };
  const trunkline = new Trunkline({ ...options, onError: (error: TrunklineError) => void error.call });
  const who: TrackOptions = { userId: 'ann', properties: { total: 1, coupon: undefined, isFirst: true } };
  trunkline.track('order_completed', who);
  trunkline.identify({ anonymousId: 'a', userId: 'b', traits: { nested: { any: [1] }, gone: null } });
  trunkline.alias({ anonymousId: 'a', userId: 'b' });
  interface Order { total: number; coupon?: string }
  const order: Order = { total: 1 };
  trunkline.track('order_completed', { userId: 'ann', properties: order });
  trunkline.identify({ userId: 'ann', traits: order });
  const done: Promise<void> = trunkline.flush({ timeoutMs: 10 });
  // @ts-expect-error a name is needed
  trunkline.track({ userId: 'ann' });
  interface Cart { items: Order[] }
  // @ts-expect-error nothing nested in it either
  trunkline.track('a', { userId: 'ann', properties: { items: [order] } as Cart });
  // @ts-expect-error nothing nested
  trunkline.track('a', { userId: 'ann', properties: { items: [] } });
  // @ts-expect-error no such option
  new Trunkline({ ...options, flushAt: 1 });
  export { done };
`;

const ADMIN_TYPED = `
  import { createAdminClient } from 'trunkline/admin';
  const client = createAdminClient({ url: 'https://a.test' });
  const current = await client.session.current.query();
  const email: string | undefined = current.person?.email;
  // @ts-expect-error a number is no address
  const wrong: number | undefined = current.person?.email;
  // @ts-expect-error there is no such procedure
  await client.session.dance.query();
  // @ts-expect-error its input is known
  await client.session.signIn.mutate({ email: 1 });
  export { email, wrong };
`;

const check = async (file: string, text: string, options: string[]): Promise<void> => {
  await writeFile(inApp(file), text);
  const { resolve } = createRequire(import.meta.url);
  const tsc = join(dirname(resolve('typescript/package.json')), 'bin', 'tsc');
  const always = ['--strict', '--noEmit', '--target', 'es2022', '--types', ''];
  const compiled = await run(process.execPath, [tsc, ...always, ...options, file], {
    cwd: app,
  }).catch((failed: { stdout: string }) => failed);
  expect(compiled.stdout).toBe('');
};

describe('types are included', () => {
  test.each([
    ['bundler', 'esnext'],
    ['nodenext', 'nodenext'],
  ])('for %s', { timeout: COMPILE_TIMEOUT_MS }, async (moduleResolution, module) => {
    await addPackages('@trpc');
    const options = ['--module', module, '--moduleResolution', moduleResolution];
    await check('server.mts', SERVER_TYPED, [
      ...options,
      '--skipLibCheck',
      'false',
      '--lib',
      'es2022',
    ]);
    await check('admin.mts', ADMIN_TYPED, [...options, '--skipLibCheck', '--lib', 'es2022,dom']);
  });
});
