import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { SDK_FOLDER, SDK_SCRIPT } from '../../src/base/sdk_folder.ts';
import { createProject } from '../../src/projects/projects.ts';
import { keepBrowserSdk } from '../../src/runtime/browser_sdk_build.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { findBrowser, launch } from '../support/browser.ts';
import { openInstallation } from './installation.ts';
import type { Comparison } from './measure.ts';

const ROUNDS = 5;
const CLICKS = 2_000;
const ROWS = 100;
const GZIP_BYTES_MAX = 5_000;
/** A fraction of a millisecond for each: no frame is missed for it. */
const ADDED_MS_MAX = 1_000;
const MS_PER_SECOND = 1_000;

/** A list with a button in each row, whose page does a little for each click. */
const PAGE = (head: string): string => `<!doctype html><title>Shop</title>${head}<body><main>
${'<section><ul><li><p><button class="buy now">Buy <b>this</b></button> <i>0</i></p></li></ul></section>'.repeat(ROWS)}
<script>for (const button of document.querySelectorAll('button'))
  button.onclick = () => { button.nextElementSibling.textContent = String(performance.now()); };</script>`;

/** Some clicks in each frame: sooner than anybody can, and not so soon that the network cannot follow. */
const CLICK_ALL = `(async () => {
  const buttons = [...document.querySelectorAll('button')];
  for (let n = 0; n < ${CLICKS}; n += 1) {
    if (n % 10 === 0) await new Promise(requestAnimationFrame);
    buttons[n % buttons.length].firstElementChild.click();
  }
  await window.trunkline?.destroy();
})()`;

/** How long the page's thread was busy with all the clicks, and with sending what they were. */
const clickAll = async (browser: Browser, url: string): Promise<number> => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  const session = await context.newCDPSession(page);
  // Its own time, whatever else runs on this machine.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busySeconds = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
  const before = await busySeconds();
  await page.evaluate(CLICK_ALL);
  const busyMs = ((await busySeconds()) - before) * MS_PER_SECOND;
  await context.close();
  return busyMs;
};

const measureClicks = async (browser: Browser): Promise<Comparison> => {
  const installation = await openInstallation();
  const { publishable_key: apiKey } = await createProject(installation.deps, 'shop');
  const { port } = await installation.start('api');
  const head = `<script>trunklineConfig = ${JSON.stringify({ apiKey })}</script>
    <script src="http://127.0.0.1:${port}/sdk/${SDK_SCRIPT}"></script>`;
  const site = createServer((request, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' });
    answer.end(PAGE(request.url === '/with' ? head : ''));
  });
  await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const [measured, comparison]: [number[], number[]] = [[], []];
  await clickAll(browser, `${url}/with`);
  for (let round = 0; round < ROUNDS; round += 1) {
    comparison.push(await clickAll(browser, `${url}/without`));
    measured.push(await clickAll(browser, `${url}/with`));
  }
  site.close();
  site.closeAllConnections();
  await withClient(installation.url, async (client) => {
    const { rows } = await client.query<{ sent: number }>(
      `select count(*)::int as sent from ingest.events where name = 'element_clicked'`,
    );
    const ought = (ROUNDS + 1) * CLICKS;
    if (rows[0]?.sent !== ought) throw new Error(`${rows[0]?.sent} clicks arrived, not ${ought}`);
  });
  await installation.close();
  return {
    name: `added by the SDK to the main thread of a page with ${CLICKS} clicks, all of them sent`,
    unit: 'ms',
    measured: measured.map((busyMs, round) => busyMs - (comparison[round] ?? Number.NaN)),
    comparedWith: 'what the same clicks take without it',
    comparison,
    good: { atMost: 1.5 },
    bound: { atMost: ADDED_MS_MAX },
  };
};

/** What the browser SDK costs a page: bytes to load, and time of its only thread. */
export const sdk = async (): Promise<Comparison[]> => {
  await keepBrowserSdk();
  const size: Comparison = {
    name: `/sdk/${SDK_SCRIPT}, zipped`,
    unit: 'bytes',
    measured: [gzipSync(await readFile(join(SDK_FOLDER, SDK_SCRIPT))).length],
    comparedWith: 'what is promised',
    comparison: [GZIP_BYTES_MAX],
    good: { atMost: 1 },
  };
  const found = await findBrowser();
  if (!found) return [size];
  const browser = await launch(found);
  try {
    return [size, await measureClicks(browser)];
  } finally {
    await browser.close();
  }
};
