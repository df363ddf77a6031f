import { expect, test } from 'vitest';
import { testShop } from './shop.ts';

const shop = testShop();

const pathsOf = async (count: number): Promise<unknown[]> =>
  (await shop.storedOf('page_viewed', count)).map(({ properties }) => properties['path']);

test('a single-page app is followed through its history, each page once', async () => {
  const { page, complaints } = await shop.visit();
  shop.putPage('/', '<a href="#/cart?coupon=1">Cart</a> <a href="#top">Top</a>', {
    autocapture: { clicks: false, pageLeave: false },
  });
  await page.goto(shop.site.url);
  /** Routers change the history several times in one go, and do the rest when that is done. */
  const go = (script: string) =>
    page.evaluate(`${script}; new Promise((resolve) => setTimeout(resolve))`);
  await go(`history.pushState({}, '', '/a')`);
  await go(`history.pushState({}, '', '/b'); history.replaceState({ scroll: 1 }, '', '/b')`);
  await go(`history.pushState({}, '', '/old'); history.replaceState({}, '', '/new')`);
  await go(`history.replaceState({ scroll: 2 }, '', location.href)`);
  await go(`document.title = 'Search'; history.replaceState({}, '', '/new?page=2')`);
  await page.goBack();
  await page.waitForURL('**/b');
  await go(`trunkline.page()`);
  await page.click('text=Top');
  await page.click('text=Cart');
  // An app would not go on before the page has heard where it is.
  await pathsOf(8);
  await go(`location.hash = '#/pay'`);
  await page.evaluate(`trunkline.track('all_done')`);
  await shop.storedOf('all_done', 1);
  const paths = ['/', '/a', '/b', '/new', '/new', '/b', '/b', '/b#/cart', '/b#/pay'];
  expect(await pathsOf(paths.length)).toEqual(paths);
  expect((await shop.stored())[4]?.properties['title']).toBe('Search');
  expect(complaints).toEqual([]);
});

test.each([
  ['pageviews', ['element_clicked', 'form_submitted', 'page_left']],
  ['clicks', ['page_viewed', 'form_submitted', 'page_left']],
  ['forms', ['page_viewed', 'element_clicked', 'page_left']],
  ['pageLeave', ['page_viewed', 'element_clicked', 'form_submitted']],
])('without %s the rest is captured', async (option, names) => {
  const { page } = await shop.visit();
  shop.putPage('/', '<form action="/sent"><button>Send</button></form>', {
    autocapture: { [option]: false },
  });
  shop.site.put('/sent', 'Sent');
  await page.goto(shop.site.url);
  await page.click('button');
  await page.waitForURL('**/sent*');
  for (const name of names) await shop.storedOf(name, 1);
  expect((await shop.stored()).map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

test('under a strict content policy nothing is complained of', async () => {
  const { page, complaints } = await shop.visit();
  const policy = [
    "default-src 'none'",
    'img-src data:',
    `script-src 'self' ${shop.door.url}`,
    `connect-src ${shop.door.url}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const config = { apiKey: shop.project.publishable_key, flushIntervalMs: 50 };
  shop.site.put('/config.js', `trunklineConfig = ${JSON.stringify(config)}`);
  shop.site.put(
    '/',
    `<!doctype html><title>Strict</title><link rel="icon" href="data:,"><script src="/config.js"></script>
    <script src="${shop.door.url}/sdk/trunkline.js" crossorigin></script><button>Buy</button>`,
    {
      'content-security-policy': policy,
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-opener-policy': 'same-origin',
    },
  );
  await page.goto(shop.site.url);
  await page.click('button');
  await shop.storedOf('element_clicked', 1);
  expect(complaints).toEqual([]);
});

test('frames of one origin are one visitor; one that may store nothing is one of its own', async () => {
  const { page, complaints } = await shop.visit();
  shop.putPage('/inner', '<button>Buy</button>');
  shop.putPage(
    '/',
    `<iframe src="/inner" name="same"></iframe>
    <iframe src="/inner" name="apart" sandbox="allow-scripts"></iframe>`,
  );
  await page.goto(shop.site.url);
  for (const name of ['same', 'apart'])
    await page.frameLocator(`[name=${name}]`).locator('button').click();
  const clicks = await shop.storedOf('element_clicked', 2);
  const views = await shop.storedOf('page_viewed', 3);
  const viewsOf = Map.groupBy(views, ({ anonymous_id }) => anonymous_id);
  expect([...viewsOf.values()].map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([
    1, 2,
  ]);
  for (const { anonymous_id } of clicks) expect([...viewsOf.keys()]).toContain(anonymous_id);
  expect(complaints).toEqual([]);
});

test.each([
  [
    'refused',
    `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })`,
  ],
  ['missing', `Object.defineProperty(window, 'localStorage', { value: null })`],
  [
    'full',
    `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }`,
  ],
])('where storage is %s all arrives from memory, on one person', async (_, script) => {
  const { page, complaints } = await shop.visit();
  await page.addInitScript(script);
  shop.putPage('/', '<button>Buy</button>');
  await page.goto(shop.site.url);
  await page.click('button');
  await page.evaluate(`trunkline.identify('ann'); trunkline.track('order_completed')`);
  const [order] = await shop.storedOf('order_completed', 1);
  const events = await shop.stored();
  expect(events.map(({ name }) => name)).toEqual([
    'page_viewed',
    'element_clicked',
    'order_completed',
  ]);
  expect(new Set(events.map(({ anonymous_id }) => anonymous_id)).size).toBe(1);
  expect(order?.external_id).toBe('ann');
  await page.goto('about:blank');
  await shop.storedOf('page_left', 1);
  expect(complaints).toEqual([]);
});

test('a page that comes back out of the browser’s cache is viewed again', async () => {
  const { page } = await shop.visit();
  shop.putPage('/');
  await page.goto(shop.site.url);
  await page.evaluate(`
    for (const [type, persisted] of [['pagehide', true], ['pageshow', true], ['pageshow', false]])
      dispatchEvent(new PageTransitionEvent(type, { persisted }));
    trunkline.track('all_done');
  `);
  await shop.storedOf('all_done', 1);
  expect((await shop.stored()).map(({ name }) => name)).toEqual([
    'page_viewed',
    'page_left',
    'page_viewed',
    'all_done',
  ]);
});

test('a page that is made before anybody asks for it is viewed when somebody does', async () => {
  const { page } = await shop.visit();
  await page.addInitScript(`
    window.isEarly = true;
    Object.defineProperty(document, 'prerendering', { get: () => isEarly });
  `);
  shop.putPage('/');
  await page.goto(shop.site.url);
  await page.evaluate(`trunkline.track('still_early')`);
  await shop.storedOf('still_early', 1);
  await page.evaluate(`isEarly = false; document.dispatchEvent(new Event('prerenderingchange'))`);
  await shop.storedOf('page_viewed', 1);
  expect((await shop.stored()).map(({ name }) => name)).toEqual(['still_early', 'page_viewed']);
});

test('a page that is hidden hands over what waits: a phone may end it without another word', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', { autocapture: false, flushIntervalMs: 600_000 });
  await page.goto(shop.site.url);
  await page.evaluate(`
    trunkline.track('order_completed');
    Object.defineProperty(document, 'hidden', { value: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
  await shop.storedOf('order_completed', 1);
});

test('a click on a drawing is a click on the button, or the link, that it is in', async () => {
  const { page, complaints } = await shop.visit();
  const drawing = '<svg width="20" height="20"><path class="cross" d="M0 0h20v20H0z"/></svg>';
  shop.putPage(
    '/',
    `<button id="close">${drawing}</button><p>${drawing}</p>
    <svg width="20" height="20"><a href="#in"><path id="linked" d="M0 0h20v20H0z"/></a></svg>`,
  );
  await page.goto(shop.site.url);
  for (const where of ['#close path', 'p path', '#linked']) await page.click(where);
  await page.evaluate(`trunkline.track('all_done')`);
  await shop.storedOf('all_done', 1);
  const clicks = (await shop.stored()).filter(({ name }) => name === 'element_clicked');
  expect(clicks.map(({ properties: { path: _path, ...rest } }) => rest)).toEqual([
    { tag: 'button', id: 'close' },
    { tag: 'path', classes: 'cross' },
    { tag: 'a', href: `${shop.site.url}/` },
  ]);
  expect(complaints).toEqual([]);
});
