import { expect, test } from 'vitest';
import { scriptTagSnippet } from '../../src/sdk/snippets.ts';
import { profilesBy, testShop, timelineOf } from './shop.ts';

const shop = testShop();

const PAGE = `
  <button id="buy" class="big green">Buy now</button>
  <form id="news" name="newsletter" action="/subscribe?list=secret-list">
    <input name="email"><button>Join</button>
  </form>
  <a id="next" href="/next?token=secret-token">Next</a>`;

test('a script tag on a static page is enough: views, clicks, submits and leaving arrive on one profile', async () => {
  const { page, complaints } = await shop.visit();
  shop.putPage('/', PAGE);
  shop.putPage('/next');
  await page.goto(`${shop.site.url}/?coupon=secret-coupon`);
  await page.evaluate(`addEventListener('submit', (event) => event.preventDefault())`);
  await page.click('#buy');
  await page.fill('input', 'ann@example.com');
  await page.press('input', 'Enter');
  await page.click('#next');
  await page.waitForURL('**/next*');
  const views = await shop.storedOf('page_viewed', 2);
  await shop.storedOf('page_left', 1);

  const device = String(views[0]?.anonymous_id);
  const events = await shop.stored();
  expect(new Set(events.map(({ anonymous_id }) => anonymous_id))).toEqual(new Set([device]));
  expect(views.map(({ properties }) => properties)).toEqual([
    { url: `${shop.site.url}/`, path: '/', title: 'A shop' },
    { url: `${shop.site.url}/next`, path: '/next', title: 'A shop', referrer: `${shop.site.url}/` },
  ]);
  const clicks = events.filter(({ name }) => name === 'element_clicked');
  expect(clicks.map(({ properties }) => properties)).toEqual([
    { tag: 'button', id: 'buy', classes: 'big green', text: 'Buy now', path: '/' },
    { tag: 'button', text: 'Join', path: '/' },
    { tag: 'a', id: 'next', text: 'Next', href: `${shop.site.url}/next`, path: '/' },
  ]);
  expect(events.find(({ name }) => name === 'form_submitted')?.properties).toEqual({
    id: 'news',
    name: 'newsletter',
    action: `${shop.site.url}/subscribe`,
    path: '/',
  });
  const left = events.find(({ name }) => name === 'page_left');
  expect(left?.properties).toMatchObject({ path: '/', seconds: expect.any(Number) });

  await shop.process();
  const [profile, ...others] = await profilesBy(shop, 'anonymous_id', device);
  expect(others).toEqual([]);
  expect((await timelineOf(shop, String(profile?.id))).toSorted()).toEqual(
    [
      'page_viewed',
      'element_clicked',
      'element_clicked',
      'form_submitted',
      'element_clicked',
      'page_left',
      'page_viewed',
    ].toSorted(),
  );
  expect(complaints).toEqual([]);
});

test('identify stitches what was done before onto the person, in the order of the calls', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '<button>Buy</button>', { flushIntervalMs: 600_000 });
  await page.goto(shop.site.url);
  await page.click('button');
  await page.evaluate(`
    trunkline.identify('ann', { email: 'ann@example.com', plan: 'pro' });
    trunkline.track('user_signed_up', { seats: 3 });
    trunkline.destroy();
  `);
  const [signUp] = await shop.storedOf('user_signed_up', 1);
  expect(signUp).toMatchObject({ external_id: 'ann', properties: { seats: 3 } });
  const posted = shop.door.received.map(({ path, body }) => [
    path,
    body.includes('user_signed_up'),
  ]);
  expect(posted).toEqual([
    ['/v1/events/batch', false],
    ['/v1/identify', false],
    ['/v1/events/batch', true],
  ]);
  await shop.process();
  const [ann] = await profilesBy(shop, 'external_id', 'ann');
  expect(ann?.traits).toMatchObject({ email: 'ann@example.com', plan: 'pro' });
  expect(await timelineOf(shop, String(ann?.id))).toEqual([
    'page_viewed',
    'element_clicked',
    'user_signed_up',
  ]);
  const [device] = await profilesBy(shop, 'anonymous_id', String(signUp?.anonymous_id));
  expect(device?.id).toBe(ann?.id);
});

test('reset separates two people on one device, also over a reload', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', { autocapture: false });
  const actAs = async (person: string) => {
    await page.goto(shop.site.url);
    await page.evaluate(`
      trunkline.track('menu_opened', { person: '${person}' });
      trunkline.identify('${person}');
    `);
    await page.reload();
    await page.evaluate(`
      trunkline.track('order_completed', { person: '${person}' });
      trunkline.reset();
    `);
  };
  await actAs('ann');
  await actAs('bob');
  await page.evaluate(`trunkline.track('page_closed')`);
  const [closed] = await shop.storedOf('page_closed', 1);
  await shop.process();

  const devices = new Set<string | null>();
  for (const person of ['ann', 'bob']) {
    const [profile] = await profilesBy(shop, 'external_id', person);
    expect(await timelineOf(shop, String(profile?.id))).toEqual(['menu_opened', 'order_completed']);
    const ofPerson = (await shop.stored()).filter(
      ({ properties }) => properties['person'] === person,
    );
    expect(ofPerson.map(({ external_id }) => external_id)).toEqual([null, person]);
    devices.add(ofPerson[0]?.anonymous_id ?? null).add(ofPerson[1]?.anonymous_id ?? null);
  }
  devices.add(closed?.anonymous_id ?? null);
  expect(closed?.external_id).toBeNull();
  expect(devices.size).toBe(3);
});

test('the script starts on DOMContentLoaded with what the page has said by then, and takes calls before', async () => {
  const { page, complaints } = await shop.visit();
  const [, script] = shop.tags().split('\n');
  shop.site.put(
    '/',
    `<!doctype html><title>First</title>${script}
    <script>trunkline.track('page_begun'); document.title = 'Then';</script>
    <script>trunklineConfig = ${JSON.stringify({ apiKey: shop.project.publishable_key, flushIntervalMs: 50 })}</script>
    <script>document.title = 'Last'</script>`,
  );
  await page.goto(shop.site.url);
  await shop.storedOf('page_begun', 1);
  const events = await shop.stored();
  expect(events.map(({ name }) => name)).toEqual(['page_viewed', 'page_begun']);
  expect(events[0]?.properties).toMatchObject({ title: 'Last' });
  expect(complaints).toEqual([]);
});

test('destroy sends what waits and listens to nothing any more', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '<button>Buy</button>', { flushIntervalMs: 600_000 });
  await page.goto(shop.site.url);
  await page.evaluate(`
    trunkline.track('cart_emptied');
    window.before = history.pushState;
    trunkline.destroy();
  `);
  await shop.storedOf('cart_emptied', 1);
  const isRestored = await page.evaluate(`history.pushState === History.prototype.pushState`);
  expect(isRestored).toBe(true);
  await page.click('button');
  await page.evaluate(`trunkline.track('too_late'); history.pushState({}, '', '/other')`);
  await page.goto('about:blank');
  expect((await shop.stored()).map(({ name }) => name)).toEqual(['page_viewed', 'cart_emptied']);
  expect(await page.evaluate(`1 + 1`)).toBe(2);
});

test('a second start answers the first client, and says so', async () => {
  const { page } = await shop.visit();
  const warnings: string[] = [];
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
  shop.site.put('/', `<!doctype html><title>A shop</title>${shop.tags()}${shop.tags()}`);
  await page.goto(shop.site.url);
  await page.evaluate(`trunkline.track('order_completed')`);
  await shop.storedOf('order_completed', 1);
  expect((await shop.stored()).map(({ name }) => name)).toEqual(['page_viewed', 'order_completed']);
  expect(warnings).toEqual(['[trunkline] loaded already']);
});

test('a server key never leaves the page', async () => {
  const { page } = await shop.visit();
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  shop.putPage('/', '', { apiKey: shop.project.server_key });
  await page.goto(shop.site.url);
  await page.evaluate(`trunkline.track('order_completed'), trunkline.destroy()`);
  expect(shop.door.received).toEqual([]);
  expect(said).toEqual([expect.stringContaining('revoke it')]);
});

test.each([['svc_pub_live_…'], [''], ['two words'], [7]])(
  'a key that is none (%s) is said at once, and nothing is captured',
  async (apiKey) => {
    const { page } = await shop.visit();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    shop.putPage('/', '', { apiKey });
    await page.goto(shop.site.url);
    await page.evaluate(`trunkline.track('order_completed'), trunkline.destroy()`);
    expect(await page.evaluate('localStorage.length')).toBe(0);
    expect(shop.door.received).toEqual([]);
    expect(said).toEqual([`[trunkline] no publishable key: ${apiKey}`]);
  },
);

test('an element of the page that is called trunkline does not keep it from starting', async () => {
  const { page } = await shop.visit();
  const tags = shop.tags().replace('<script src', '<script id="trunkline" src');
  shop.site.put('/', `<!doctype html><title>A shop</title>${tags}<button>Buy</button>`);
  await page.goto(shop.site.url);
  await page.click('button');
  await shop.storedOf('element_clicked', 1);
});

test('what is deferred after the script of the README finds it, and modules do', async () => {
  const { page, complaints } = await shop.visit();
  const tag = scriptTagSnippet({ key: shop.project.publishable_key, apiHost: shop.door.url });
  shop.site.put('/deferred.js', `trunkline.track('it_happened', { n: 1 })`);
  shop.site.put('/module.js', `trunkline.track('it_happened', { n: 2 }); trunkline.destroy()`);
  shop.site.put(
    '/',
    `<!doctype html><title>A shop</title><link rel="icon" href="data:,">${tag}
    <script src="/deferred.js" defer></script><script type="module" src="/module.js"></script>`,
  );
  await page.goto(shop.site.url);
  const events = await shop.storedOf('it_happened', 2);
  expect(events.map(({ properties }) => properties['n'])).toEqual([1, 2]);
  expect(complaints).toEqual([]);
});
