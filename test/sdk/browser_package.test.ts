import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SDK_FOLDER, SDK_SCRIPT } from '../../src/base/sdk_folder.ts';
import { moduleSnippet, scriptTagSnippet } from '../../src/sdk/snippets.ts';
import { pack } from './packed.ts';
import { BUILD_TIMEOUT_MS, profilesBy, testShop, timelineOf } from './shop.ts';

const SCRIPT_GZIP_BYTES_MAX = 5_000;
const PACK_TIMEOUT_MS = 120_000;

const shop = testShop();
/** What the reader of a snippet fills in. */
const filled = () => ({ key: shop.project.publishable_key, apiHost: shop.door.url });

/** Somebody's app, which has the package from its tarball. */
let app: string;
beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'trunkline-app-'));
  const tarball = await pack();
  execFileSync('tar', ['-xf', tarball, '-C', app]);
  await mkdir(join(app, 'node_modules'));
  await rename(join(app, 'package'), join(app, 'node_modules', 'trunkline'));
}, PACK_TIMEOUT_MS);
afterAll(() => rm(app, { recursive: true, force: true }));

test(`the script is at most ${SCRIPT_GZIP_BYTES_MAX} bytes zipped, and needs nothing else`, async () => {
  const script = await readFile(join(SDK_FOLDER, SDK_SCRIPT));
  const bytes = gzipSync(script).length;
  console.log(`/sdk/${SDK_SCRIPT}: ${script.length} bytes, ${bytes} zipped`);
  expect(bytes).toBeLessThanOrEqual(SCRIPT_GZIP_BYTES_MAX);
  expect(script.toString()).not.toMatch(
    /\b(?:import|require|eval)\s*[({]|\bnew Function\b|\.style\b/,
  );
});

const BUNDLED = `
  import { onOrder, onSignIn, onSignOut } from './single_page_app.js';
  const go = (path) => { history.pushState({}, '', path); document.title = path; };
  document.body.append(...['in', 'buy', 'out'].map((id) => Object.assign(document.createElement('button'), { id })));
  document.querySelector('#in').onclick = () => { onSignIn({ id: 'ann', email: 'ann@example.com' }); go('/account'); };
  document.querySelector('#buy').onclick = () => onOrder({ total: 12.5 });
  document.querySelector('#out').onclick = () => { onSignOut(); go('/'); };
`;

test(
  'the module works in a bundled single-page app: what the README says',
  { timeout: BUILD_TIMEOUT_MS },
  async () => {
    await writeFile(join(app, 'single_page_app.js'), moduleSnippet(filled()));
    await writeFile(join(app, 'main.js'), BUNDLED);
    const [built] = (await build({
      configFile: false,
      root: app,
      logLevel: 'error',
      build: { write: false, lib: { entry: join(app, 'main.js'), formats: ['es'] } },
    })) as { output: { code: string }[] }[];
    shop.site.put('/app.js', String(built?.output[0]?.code));
    shop.site.put(
      '/',
      `<!doctype html><title>App</title><body><script type="module" src="/app.js"></script>`,
    );
    const { page, complaints } = await shop.visit();
    await page.goto(shop.site.url);
    for (const id of ['in', 'buy', 'out']) await page.click(`#${id}`);
    await page.evaluate(`new Promise((resolve) => setTimeout(resolve))`);
    await page.close();
    const [order] = await shop.storedOf('order_completed', 1);
    await shop.storedOf('page_left', 1);
    expect(order).toMatchObject({ external_id: 'ann', properties: { total: 12.5 } });
    await shop.process();
    const [ann] = await profilesBy(shop, 'external_id', 'ann');
    expect(ann?.traits).toMatchObject({ email: 'ann@example.com' });
    const did = await timelineOf(shop, String(ann?.id));
    expect(did.filter((event) => event === 'page_viewed').length).toBe(2);
    const [, , visit] = (await shop.stored()).filter(({ name }) => name === 'page_viewed');
    expect(visit).toMatchObject({ external_id: null, properties: { path: '/', title: '/' } });
    expect(visit?.anonymous_id).not.toBe(order?.anonymous_id);
    expect(complaints).toEqual([]);
  },
);

test('the script tag of the README works as it is', async () => {
  const { page } = await shop.visit();
  const tag = scriptTagSnippet(filled());
  shop.site.put('/', `<!doctype html><title>A shop</title>${tag}<button>Buy</button>`);
  await page.goto(shop.site.url);
  await page.click('button');
  await page.close();
  await shop.storedOf('element_clicked', 1);
  await shop.storedOf('page_viewed', 1);
});

const TYPED = `
  import { init } from 'trunkline/browser';
  import type { Client, Config } from 'trunkline/browser';
  const config: Config = { apiKey: 'svc_pub_live_x', autocapture: { clicks: false }, maxRetries: 1 };
  const client: Client = init(config);
  client.track('order_completed', { total: 1, coupon: undefined, isFirst: true });
  client.identify('ann', { plan: null });
  interface Order { total: number; coupon?: string }
  const order: Order = { total: 1 };
  client.track('order_completed', order);
  client.identify('ann', order);
  const done: Promise<void> = client.destroy();
  // @ts-expect-error apiKey is required
  init({});
  interface Cart { items: Order[] }
  // @ts-expect-error nothing nested in it either
  client.track('order_completed', { items: [order] } as Cart);
  // @ts-expect-error nothing nested
  client.track('order_completed', { items: [] });
  export { done };
`;

test.each(['bundler', 'nodenext'])(
  'its types are included, for %s',
  { timeout: BUILD_TIMEOUT_MS },
  async (moduleResolution) => {
    await writeFile(join(app, 'typed.mts'), TYPED);
    const tsc = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin',
      'tsc',
    );
    const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
    const options = [
      '--strict',
      '--noEmit',
      '--skipLibCheck',
      'false',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom',
    ];
    const args = [
      tsc,
      ...options,
      '--module',
      module,
      '--moduleResolution',
      moduleResolution,
      '--types',
      '',
      'typed.mts',
    ];
    expect(() =>
      execFileSync(process.execPath, args, { cwd: app, encoding: 'utf8' }),
    ).not.toThrow();
  },
);
