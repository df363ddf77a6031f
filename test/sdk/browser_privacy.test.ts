import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { testShop } from './shop.ts';

const shop = testShop();

/** Everything that left the page, as it was written on the wire. */
const wire = (): string => JSON.stringify(shop.door.received);

const SECRETS = `
  <form id="in" action="/in/?next=secret-query#secret-fragment">
    <input name="id" value="secret-id"><input name="action" value="secret-action">
    <input type="hidden" name="csrf" value="secret-hidden">
    <textarea name="note">secret-note</textarea>
    <select name="size"><option>secret-option</option></select>
    <input type="password" name="password" value="secret-password">
    <input type="submit" value="secret-label">
  </form>
  <div data-trunkline-ignore><button id="hidden">secret-button</button>
    <form id="secret-form"><button id="inner">secret-submit</button></form></div>
  <button id="card">Pay with <b data-trunkline-ignore>secret-card</b></button>
  <button id="mail">secret-ann@example.com</button>
  <button id="number">Card 4242 4242 4242 4242</button>
  <button id="long">${'secret-text '.repeat(20)}</button>
  <p id="text">secret-paragraph</p>
  <div id="editor" contenteditable>secret-draft <a id="link" href="#">secret-link</a></div>
  <a id="mailto" href="mailto:secret@example.com">Write</a>
  <a id="script" href="javascript:void 'secret-code'">Run</a>
  <a id="userinfo" href="https://secret-user:secret-word@shop.example/account?secret-key=1" target="x">Account</a>
  <label id="label">Size <input id="labelled" value="secret-size"></label>`;

const clickAll = async (page: Page, ids: readonly string[]): Promise<void> => {
  await page.evaluate(`
    addEventListener('submit', (event) => event.preventDefault());
    for (const link of document.querySelectorAll('a'))
      link.addEventListener('click', (event) => event.preventDefault());
  `);
  // At the edge: what is in the middle may be another element.
  for (const id of ids) await page.click(`#${id}`, { position: { x: 3, y: 3 } });
};

test('form values, passwords and ignored elements never leave the page, nor what addresses hide', async () => {
  const { page, complaints } = await shop.visit();
  shop.site.put('/from', `<a href="/?session=secret-session#secret-anchor">In</a>`);
  shop.putPage('/', SECRETS);
  await page.goto(`${shop.site.url}/from?secret-referrer`);
  await page.click('a');
  await clickAll(
    page,
    'hidden inner card mail number long text editor link mailto script userinfo labelled'.split(
      ' ',
    ),
  );
  for (const name of ['note', 'id', 'password']) {
    await page.click(`[name=${name}]`);
    await page.fill(`[name=${name}]`, 'secret-typed');
  }
  await page.selectOption('[name=size]', 'secret-option');
  await page.click('[type=submit]');
  await page.evaluate(
    `history.pushState({}, '', '/reset?token=secret-reset#access_token=secret-hash')`,
  );
  await page.evaluate(`trunkline.track('all_done'); trunkline.destroy()`);
  await shop.storedOf('all_done', 1);

  expect(wire()).not.toContain('secret');
  const events = await shop.stored();
  const clicked = events
    .filter(({ name }) => name === 'element_clicked')
    .map(({ properties: { path: _path, ...rest } }) => rest);
  expect(clicked).toEqual([
    { tag: 'button', id: 'card' },
    { tag: 'button', id: 'mail' },
    { tag: 'button', id: 'number' },
    { tag: 'button', id: 'long' },
    { tag: 'p', id: 'text' },
    { tag: 'div', id: 'editor' },
    { tag: 'a', id: 'link', href: `${shop.site.url}/` },
    { tag: 'a', id: 'mailto', text: 'Write', href: 'mailto:' },
    { tag: 'a', id: 'script', text: 'Run', href: 'javascript:' },
    { tag: 'a', id: 'userinfo', text: 'Account', href: 'https://shop.example/account' },
    { tag: 'input', id: 'labelled' },
    { tag: 'textarea' },
    { tag: 'input' },
    { tag: 'input' },
  ]);
  const submitted = events.filter(({ name }) => name === 'form_submitted');
  expect(submitted.map(({ properties }) => properties)).toEqual([
    { id: 'in', action: `${shop.site.url}/in/`, path: '/' },
  ]);
  expect(complaints).toEqual([]);
});

test('the shadow of an element is no way around being ignored', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '<div id="open"></div><div id="ignored" data-trunkline-ignore></div>');
  await page.goto(shop.site.url);
  await page.evaluate(`
    for (const id of ['open', 'ignored']) {
      const shadow = document.getElementById(id).attachShadow({ mode: 'open' });
      shadow.innerHTML = '<button>' + id + '</button><p data-trunkline-ignore><a>never</a></p>';
    }
  `);
  await page.locator('#open button').click();
  await page.locator('#open a').click();
  await page.locator('#ignored button').click();
  await page.evaluate(`trunkline.track('all_done')`);
  await shop.storedOf('all_done', 1);
  const clicks = (await shop.stored()).filter(({ name }) => name === 'element_clicked');
  expect(clicks.map(({ properties }) => properties['text'])).toEqual(['open']);
  expect(wire()).not.toMatch(/ignored|never/);
});

const DNT = `Object.defineProperty(navigator, 'doNotTrack', { get: () => '1' })`;
const GPC = `Object.defineProperty(navigator, 'globalPrivacyControl', { get: () => true })`;

test.each([
  ['Do-Not-Track', DNT, {}],
  ['Global Privacy Control', GPC, {}],
  ['no consent', '', { consent: false }],
])('with %s nothing is captured, stored or sent', async (_, wish, config) => {
  const { page } = await shop.visit();
  await page.addInitScript(wish);
  shop.putPage('/', '<button>Buy</button>', config);
  await page.goto(shop.site.url);
  await page.click('button');
  await page.evaluate(`
    trunkline.page();
    trunkline.track('order_completed');
    trunkline.identify('ann');
    trunkline.reset();
  `);
  expect(await page.evaluate('localStorage.length')).toBe(0);
  await page.evaluate('trunkline.destroy()');
  expect(shop.door.received).toEqual([]);
});

test('consent starts it, whatever the browser asks for, and its withdrawal forgets all', async () => {
  const { page } = await shop.visit();
  await page.addInitScript(DNT);
  shop.putPage('/', '<button>Buy</button>', { consent: false });
  await page.goto(shop.site.url);
  await page.click('button');
  await page.evaluate('trunkline.consent(true); trunkline.consent(true)');
  await page.click('button');
  await shop.storedOf('element_clicked', 1);
  shop.door.decide(() => 'cut');
  await page.click('button');
  await page.evaluate(`trunkline.consent(false)`);
  await page.click('button');
  expect(await page.evaluate('localStorage.length')).toBe(0);

  shop.door.decide(() => 'pass');
  await page.evaluate(`trunkline.consent(true), trunkline.track('all_done')`);
  const [done] = await shop.storedOf('all_done', 1);
  const events = await shop.stored();
  expect(events.map(({ name }) => name)).toEqual([
    'page_viewed',
    'element_clicked',
    'page_viewed',
    'all_done',
  ]);
  expect(done?.anonymous_id).not.toBe(events[0]?.anonymous_id);
});

/** A page with consent stores something, cannot send it, and goes. The next one may send at once. */
const leaveSomething = async (page: Page, config: object): Promise<void> => {
  shop.door.decide(() => 'cut');
  shop.putPage('/', '', { autocapture: false });
  shop.putPage('/next', '', config);
  await page.goto(shop.site.url);
  await page.evaluate(`trunkline.track('order_completed'), trunkline.destroy()`);
  shop.door.decide(() => 'pass');
  shop.door.received.length = 0;
  await page.goto(`${shop.site.url}/next`);
  await page.evaluate(`
    for (const name of Object.keys(localStorage))
      if (name.endsWith('paused_until')) localStorage.removeItem(name);
  `);
};

test('a page without consent sends nothing of what an earlier one has left', async () => {
  const { page } = await shop.visit();
  await leaveSomething(page, { consent: false });
  await page.evaluate(`trunkline.destroy()`);
  expect(shop.door.received).toEqual([]);
  await page.reload();
  await page.evaluate(`trunkline.consent(true)`);
  await shop.storedOf('order_completed', 1);
});

test('consent(false) removes what an earlier page has stored, whatever this one has begun with', async () => {
  const { page } = await shop.visit();
  await leaveSomething(page, { consent: false });
  expect(await page.evaluate('localStorage.length')).toBeGreaterThan(0);
  await page.evaluate(`trunkline.consent(false)`);
  expect(await page.evaluate('localStorage.length')).toBe(0);
});

test('what fails after consent is withdrawn stores nothing', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', { autocapture: false });
  let fail = (): void => {};
  const withdrawn = new Promise<void>((resolve) => (fail = resolve));
  shop.door.decide(() => withdrawn.then(() => ({ status: 500 })));
  await page.goto(shop.site.url);
  await page.evaluate(`trunkline.track('order_completed')`);
  await until('a try', () => shop.door.received.length > 0);
  await page.evaluate(`trunkline.consent(false)`);
  fail();
  // Whoever sends holds a lock until all is done that follows from the answer.
  await page.evaluate(
    `navigator.locks.request('trunkline ${shop.project.publishable_key}', () => true)`,
  );
  expect(await page.evaluate('localStorage.length')).toBe(0);
});
