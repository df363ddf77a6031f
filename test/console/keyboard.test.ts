// The Console without a pointer: what somebody comes for is done with keys alone, and the focus is always seen.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { counterparts, fieldsOf } from '../providers/counterparts.ts';
import { OWNER, testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { arrive, bringSession, loaded, NO_BROWSER, shown, testBrowser } from './in_browser.ts';
import { handsOn } from './keyboard_hands.ts';
import type { Hands } from './keyboard_hands.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const admin = testAdmin(database, api);
testWorker(database);
const chromium = testBrowser();

const ask = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });
const inProject = (path: string): string => `/v1/projects/${api.project.project_id}${path}`;

const SKIP = 'Skip to the page';

type Work = { page: Page; hands: Hands };

const load = async (page: Page, path: string): Promise<void> => {
  await page.goto(`${api.url}/console/p/${api.project.project_id}${path}`);
  await arrive(page);
};

/** A page of the project, somebody being signed in. */
const open = async (path: string): Promise<Work & { complaints: string[] }> => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await load(page, path);
  return { page, hands: handsOn(page), complaints };
};

const goTo = async ({ page, hands }: Work, name: string): Promise<void> => {
  await hands.enter(page.getByRole('link', { name, exact: true }));
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  await loaded(page);
};

/** Types into a field that has a name. */
const fill = async ({ page, hands }: Work, label: string, text: string): Promise<void> => {
  await hands.to(page.getByLabel(label, { exact: true }).and(page.locator('input')));
  await hands.press('Control+a');
  await hands.type(text);
};

const signIn = async ({ page, hands }: Work): Promise<void> => {
  await page.goto(`${api.url}/console/p/${api.project.project_id}`);
  await hands.has(page.getByLabel('E-mail address'));
  await hands.type(OWNER.email);
  await hands.to(page.getByLabel('Password', { exact: true }));
  await hands.type(OWNER.password);
  await hands.press('Enter');
  await arrive(page);
};

const addProvider = async (work: Work): Promise<void> => {
  const { page, hands } = work;
  const { smtp_host, smtp_port, username, password } = sinks.smtp.settings;
  await goTo(work, 'Email providers');
  await hands.enter(page.getByRole('link', { name: 'Add provider' }));
  await page.getByRole('heading', { level: 1, name: 'Add provider' }).waitFor();
  for (const [label, text] of [
    ['Name', 'Onboarding'],
    ['From address', 'hello@acme.test'],
    ['Host', smtp_host],
    ['Port', String(smtp_port)],
    ['User name', username],
    ['Password', password],
  ] as const)
    await fill(work, label, text);
  await hands.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Onboarding' }).waitFor();
};

const writeTemplate = async (work: Work): Promise<void> => {
  const { page, hands } = work;
  await goTo(work, 'Templates');
  await hands.enter(page.getByRole('link', { name: 'New template' }));
  await page.getByRole('heading', { level: 1, name: 'New template' }).waitFor();
  await fill(work, 'Name', 'Hello');
  await fill(work, 'Subject', 'Hello');
  // The editor of code takes no Tab for itself: it is gone through, there and back.
  const body = page.getByRole('textbox', { name: 'Body', exact: true });
  await hands.to(body);
  await hands.press('Control+End');
  await hands.type('<p>By keys.</p>');
  await hands.to(page.getByRole('textbox', { name: 'Text', exact: true }));
  await hands.to(page.getByLabel('Subject', { exact: true }), 'Shift+Tab');
  // What is gone back to is not left under the header.
  const name = await page.getByLabel('Name', { exact: true }).boundingBox();
  await page.evaluate(`scrollBy(0, ${name?.y} - 10)`);
  await hands.to(page.getByRole('button', { name: 'Save', exact: true }), 'Shift+Tab');
  await hands.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Hello' }).waitFor();
};

/** Goes down an open menu until something is there, and takes it. */
const choose = async ({ page, hands }: Work, name: string): Promise<void> => {
  const item = page.getByRole('menuitem', { name });
  await item.waitFor();
  await until(name, async () => {
    if ((await item.and(page.locator(':focus')).count()) > 0) return true;
    await hands.press('ArrowDown');
    return false;
  });
  await hands.press('Enter');
};

const buildAutomation = async (work: Work): Promise<void> => {
  const { page, hands } = work;
  await goTo(work, 'Automations');
  await hands.enter(page.getByRole('link', { name: 'New automation' }));
  await page.locator('[data-step]').first().waitFor();
  await fill(work, 'Name', 'By keys');
  await hands.to(page.getByRole('combobox', { name: 'Event' }));
  await hands.type('user_signed_up');
  await hands.press('Escape');
  await hands.enter(page.getByRole('button', { name: 'Add a step after the trigger' }));
  await choose(work, 'Send a mail');
  await page.locator('[data-step="mail"]').waitFor();
  await hands.to(page.getByRole('combobox', { name: 'Template' }));
  await hands.type('Hello');
  await page.getByRole('option', { name: 'Hello' }).waitFor();
  await hands.press('ArrowDown', 'Enter', 'Escape', 'Escape');
  // The panel is closed, and who opened it goes on where they were.
  await hands.has(page.locator('[data-step="mail"]'));
  await hands.enter(page.getByRole('button', { name: 'Add a step after mail' }));
  await choose(work, 'So many hours or days');
  await page.locator('[data-step="delay"]').waitFor();
  await hands.press('Escape');
  await hands.has(page.locator('[data-step="delay"]'));
  await hands.press('Delete');
  await page.locator('[data-step="delay"]').waitFor({ state: 'detached' });
  await page.getByText('Nothing is wrong').waitFor();
  await hands.enter(page.getByRole('button', { name: 'Save as a draft' }));
  await page.getByRole('heading', { level: 1, name: 'By keys' }).waitFor();
  await hands.enter(page.getByRole('button', { name: 'Activate version 1' }));
  await page.getByText('Active', { exact: true }).waitFor();
};

/** Ann signs up on her phone, which is found to be hers. */
const signUp = async (): Promise<void> => {
  await ask('POST', '/v1/events', { event: 'cart_filled', anonymous_id: 'phone' });
  const traits = { email: 'ann@example.test', first_name: 'Ann' };
  await ask('POST', '/v1/identify', { external_id: 'ann', traits });
  await ask('POST', '/v1/identify/alias', { anonymous_id: 'phone', external_id: 'ann' });
  await ask('POST', '/v1/events', { event: 'user_signed_up', external_id: 'ann' });
  await sinks.smtp.waitFor(1);
};

const findAnn = async (work: Work): Promise<void> => {
  const { page, hands } = work;
  await goTo(work, 'Profiles');
  await hands.has(page.getByRole('searchbox'));
  await hands.type('ann');
  await hands.press('Enter');
  await hands.enter(page.getByRole('link', { name: 'ann', exact: true }));
  await page.getByRole('heading', { level: 1, name: 'ann', exact: true }).waitFor();
};

const readLog = async (work: Work): Promise<void> => {
  const { page, hands } = work;
  await goTo(work, 'Send log');
  await shown(page.getByText('Accepted', { exact: true })).waitFor();
  await hands.enter(page.getByRole('link', { name: 'ann@example.test' }));
  await page.getByRole('heading', { level: 1, name: 'Hello' }).waitFor();
};

const undoLink = async (work: Work): Promise<void> => {
  const { page, hands } = work;
  await goTo(work, 'Identity links');
  await hands.enter(page.getByRole('link', { name: 'phone' }));
  // What the preview says stands above the button, and moves it down when it comes.
  await page.locator('[data-number]').first().waitFor();
  await hands.enter(page.getByRole('button', { name: 'Undo this link' }));
  await hands.enter(page.getByRole('button', { name: 'Keep it' }));
  await hands.has(page.getByRole('button', { name: 'Undo this link' }));
  await hands.press('Enter', 'Enter');
  await page.getByRole('status').getByText('The link is undone').waitFor();
};

describe('the Console by the keyboard', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 120_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test('from the sign-in to a mail and an undone link, nothing needs a pointer', async () => {
    const { page, complaints } = await chromium.openFresh();
    const work = { page, hands: handsOn(page) };
    await signIn(work);
    await addProvider(work);
    await writeTemplate(work);
    await buildAutomation(work);
    await signUp();
    await findAnn(work);
    await readLog(work);
    await undoLink(work);
    expect(complaints).toEqual([]);
  }, 240_000);

  test('the first key on a page leads past the navigation', async () => {
    const { page, hands, complaints } = await open('/suppressions');
    await hands.press('Tab');
    await hands.has(page.getByRole('link', { name: SKIP }));
    await hands.press('Enter');
    await hands.has(page.getByRole('main'));
    await hands.press('Tab');
    await hands.has(page.getByRole('main').getByRole('button', { name: 'Add address' }));
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a page is gone through to its end and left: nothing holds the focus, and all of it is seen', async () => {
    const provider = await ask('POST', inProject('/email-providers'), fieldsOf(sinks, 'smtp'));
    const template = await ask('POST', inProject('/templates'), {
      name: 'Hello',
      subject: 'Hello',
      html: '<p>Hello</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>',
    });
    const { page, hands, complaints } = await open('/');
    for (const [path, there] of [
      ['/', 'Pause'],
      ['/automations/new', 'Save as a draft'],
      [`/templates/${template.body.id}`, 'Archive'],
      ['/segments/new', 'Add a condition'],
      [`/settings/providers/${provider.body.id}`, 'Try and save'],
      ['/settings/audit', 'Who'],
    ] as const) {
      await load(page, path);
      await shown(page.getByText(there, { exact: true }))
        .first()
        .waitFor();
      // Some pages begin where there is something to do: gone on from there, they begin anew.
      const begun = await hands.walk();
      const names = begun[0] === SKIP ? begun : await hands.walk();
      expect(names[0], path).toBe(SKIP);
      expect(names.length, path).toBeGreaterThan(15);
      expect(complaints, path).toEqual([]);
    }
  }, 120_000);

  test('dialogs and menus keep the focus while they are open, and give it back', async () => {
    const { page, hands, complaints } = await open('/suppressions');
    const add = page.getByRole('button', { name: 'Add address' });
    await hands.enter(add);
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const inside = dialog.locator(':focus');
    for (let presses = 0; presses < 8; presses += 1) {
      await expect.poll(() => inside.count()).toBe(1);
      await hands.press('Tab');
    }
    await hands.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await hands.has(add);

    await load(page, '/settings/keys');
    const make = page.getByRole('button', { name: 'Make a new server key' });
    await hands.enter(make);
    await hands.has(dialog.getByLabel('Your password'));
    await hands.type('not the password');
    await hands.press('Enter');
    await dialog.getByText('This is not your password.').waitFor();
    await hands.enter(dialog.getByRole('button', { name: 'Cancel' }));
    await dialog.waitFor({ state: 'detached' });
    await hands.has(make);

    await load(page, '/automations/new');
    const plus = page.getByRole('button', { name: 'Add a step after the trigger' });
    await hands.enter(plus);
    // The focus comes to it a moment after it is there.
    await hands.has(page.getByRole('menu').locator('*'));
    await hands.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await hands.has(plus);
    expect(complaints).toEqual([]);
  }, 90_000);
});
