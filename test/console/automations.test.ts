// Automations in the Console: built in the graph, simulated, switched on, followed; also by the keyboard alone.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { counterparts, fieldsOf } from '../providers/counterparts.ts';
import { testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './axe.ts';
import { addAfter, isInPane } from './graph_hands.ts';
import { bringSession, NO_BROWSER, overflows, shown, testBrowser } from './in_browser.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const admin = testAdmin(database, api);
testWorker(database);
const chromium = testBrowser();

const pathOf = (rest = ''): string =>
  `${api.url}/console/p/${api.project.project_id}/automations${rest}`;
const ask = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });
const inProject = (path: string) => `/v1/projects/${api.project.project_id}${path}`;

const openPage = async (rest = '', width = 1280) => {
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(pathOf(rest));
  await page.getByRole('heading', { level: 1 }).and(page.locator('main *')).waitFor();
  return { page, complaints };
};

const signUp = (name: string) =>
  ask('POST', '/v1/events', {
    event: 'user_signed_up',
    external_id: name,
    properties: { email: `${name}@example.test`, first_name: name },
  });

/** A sender and a template, as somebody who builds an automation has them. */
const prepare = async () => {
  const provider = await ask('POST', inProject('/email-providers'), fieldsOf(sinks, 'smtp'));
  const template = await ask('POST', inProject('/templates'), {
    name: 'Hello',
    subject: 'Welcome, {{ profile.first_name | default: "there" }}',
    html: '<p>Good to have you.</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>',
  });
  return { providerId: provider.body.id as string, templateId: template.body.id as string };
};

const definitionOf = ({ providerId, templateId }: Awaited<ReturnType<typeof prepare>>) => ({
  trigger: { kind: 'event', event: 'user_signed_up' },
  entry: 'wait',
  steps: {
    wait: {
      kind: 'wait_for_event',
      event: 'order_placed',
      timeout: 'P3D',
      next: null,
      on_timeout: 'mail',
    },
    mail: {
      kind: 'send_email',
      provider_id: providerId,
      template_id: templateId,
      template_version: 1,
      next: null,
    },
  },
});

const made = async (name = 'Made'): Promise<string> => {
  const definition = definitionOf(await prepare());
  const { status, body } = await ask('POST', '/v1/automations', { name, definition });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
};

const step = (page: Page, id: string) => page.locator(`[data-step="${id}"]`);

/** Goes down an open menu by the keys until something is there, and takes it. */
const choose = async (page: Page, name: string): Promise<void> => {
  const item = page.getByRole('menuitem', { name });
  await item.waitFor();
  await until(name, async () => {
    if (
      await item.evaluate((one: { matches: (selector: string) => boolean }) =>
        one.matches(':focus'),
      )
    )
      return true;
    await page.keyboard.press('ArrowDown');
    return false;
  });
  await page.keyboard.press('Enter');
};

describe('automations in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test('a welcome mail is built in the graph, simulated, switched on, and arrives', async () => {
    await prepare();
    await signUp('before');
    const { page, complaints } = await openPage();
    await page.getByText('No automation yet').waitFor();
    await page.getByRole('link', { name: 'New automation' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Welcome series');
    await page.getByRole('combobox', { name: 'Event' }).fill('user_signed_up');
    await addAfter(page, 'the trigger', 'Update the profile');
    await page.getByRole('button', { name: 'Add a trait' }).last().click();
    await page.getByLabel('Trait', { exact: true }).fill('email');
    await page.getByLabel('Property for email').fill('email');
    await addAfter(page, 'update', 'Send a mail');
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'Hello' }).click();
    await page.getByText('Nothing is wrong').waitFor();
    await expectAccessible(page, 'the graph with a step open');
    await page.getByRole('button', { name: 'Save as a draft' }).click();
    await page.getByRole('heading', { name: 'Welcome series' }).waitFor();

    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByRole('button', { name: 'Simulate' }).last().click();
    await page.getByText('1 would enter').waitFor();
    await step(page, 'mail').getByText('1 would come, 1 mail').waitFor();
    expect(sinks.smtp.mails).toHaveLength(0);

    await page.getByRole('button', { name: 'Activate version 1' }).click();
    await page.getByText('Active', { exact: true }).waitFor();
    await signUp('ann');
    const mail = await until('the mail', () => sinks.smtp.mails[0] ?? null);
    expect(mail.to).toEqual(['ann@example.test']);

    await page.getByRole('tab', { name: 'People' }).click();
    const run = page.getByRole('row').filter({ hasText: 'ann' });
    await shown(run.getByText('completed')).waitFor();
    await run.getByRole('button', { name: 'What happened' }).click();
    await page.getByText('The provider took the mail.').waitFor();
    await expectAccessible(page, 'people');
    await page.getByRole('link', { name: 'Send log' }).click();
    await page.getByRole('link', { name: 'ann@example.test' }).waitFor();
    expect(complaints).toEqual([]);
  }, 90_000);

  test('a menu of the graph scrolls by itself, and moves nothing else', async () => {
    const { page, complaints } = await openPage('/new');
    await page.setViewportSize({ width: 1280, height: 600 });
    const trigger = step(page, '/trigger');
    const before = await trigger.boundingBox();
    const name = 'Add a step after the trigger';
    await page.getByRole('button', { name, exact: true }).click();
    const menu = page.getByRole('menu', { name, exact: true });
    const last = menu.getByRole('menuitem').last();
    await last.scrollIntoViewIfNeeded();
    const scrolled = () => menu.evaluate((one: { scrollTop: number }) => one.scrollTop);
    await until('the menu has scrolled', async () => (await scrolled()) > 0);
    // Whoever takes a scroll back does so in the next frame.
    await page.evaluate(
      'new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))',
    );
    expect(await scrolled()).toBeGreaterThan(0);
    expect(await trigger.boundingBox()).toEqual(before);
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a graph longer than its pane shows the step that was added, and whatever has the focus', async () => {
    const { page, complaints } = await openPage('/new');
    const ids = ['delay', ...Array.from({ length: 5 }, (_, at) => `delay_${at + 2}`)];
    let last = 'the trigger';
    for (const id of ids) {
      await addAfter(page, last, 'So many hours or days');
      const next = page.getByRole('button', { name: `Add a step after ${id}`, exact: true });
      for (const what of [step(page, id), next])
        await until(`${id} is in sight`, () => isInPane(page, what));
      last = id;
    }
    expect(await isInPane(page, step(page, '/trigger'))).toBe(false);
    for (const [id, key] of [
      ['delay', 'Shift+Tab'],
      [ids.at(-1)!, 'Tab'],
    ] as const) {
      const hasFocus = () => step(page, id).and(page.locator(':focus')).count();
      await until(`${id} has the focus`, async () => {
        if ((await hasFocus()) > 0) return true;
        await page.keyboard.press(key);
        return false;
      });
      await until(`${id} is in sight by ${key}`, () => isInPane(page, step(page, id)));
    }
    expect(complaints).toEqual([]);
  }, 120_000);

  test('the same by the keyboard alone: steps are added, moved, taken out and brought back', async () => {
    await prepare();
    const { page, complaints } = await openPage('/new');
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    /** Goes on with Tab until something by that name has the focus. */
    const tabTo = async (name: string | RegExp): Promise<void> => {
      for (let count = 0; count < 60; count += 1) {
        const focused = page.locator(':focus');
        const said =
          (await focused.count()) === 0
            ? ''
            : await focused.evaluate(
                (one: {
                  ariaLabel: string | null;
                  textContent: string | null;
                  labels?: Iterable<{ textContent: string | null }>;
                }) =>
                  one.ariaLabel ??
                  [...(one.labels ?? [])].map(({ textContent }) => textContent).join(' ') ??
                  one.textContent ??
                  '',
              );
        const text = said === '' && (await focused.count()) > 0 ? await focused.innerText() : said;
        if (typeof name === 'string' ? text.startsWith(name) : name.test(text)) return;
        await press('Tab');
      }
      throw new Error(`nothing called ${String(name)} can be reached by Tab`);
    };
    await page.getByText('Trigger').first().waitFor();
    await page.locator('main').evaluate((main: { focus: () => void }) => main.focus());
    await tabTo('Name');
    await page.keyboard.type('By keys');
    await tabTo(/^Event/);
    await page.keyboard.type('user_signed_up');
    await press('Escape');
    await page.locator('main h1').click();
    await tabTo('Add a step after the trigger');
    await press('Enter');
    await choose(page, 'Send a mail');
    await step(page, 'mail').waitFor();
    await tabTo(/^Template/);
    await page.keyboard.type('Hello');
    await page.getByRole('option', { name: 'Hello' }).waitFor();
    await press('ArrowDown');
    await page.locator('[role=option][data-combobox-selected]').waitFor();
    await press('Enter');
    await page.getByText('Nothing is wrong').waitFor();

    await page.locator('main h1').click();
    await tabTo('Add a step after mail');
    await press('Enter');
    await choose(page, 'So many hours or days');
    await step(page, 'delay').waitFor();
    await page.locator('main h1').click();
    await tabTo(/^Wait · delay/);
    await press('Alt+ArrowUp');
    const names = () =>
      page
        .locator('[data-step]')
        .evaluateAll((all: { dataset: { step: string } }[]) => all.map((one) => one.dataset.step));
    await until(
      'the delay comes first',
      async () => (await names()).join() === '/trigger,delay,mail',
    );
    await tabTo(/^Wait · delay/);
    await press('Delete');
    await until('the delay is gone', async () => (await names()).join() === '/trigger,mail');
    await page.locator('main h1').click();
    await press('Control+z');
    await step(page, 'delay').waitFor();
    await press('Control+Shift+z');
    await until('the delay is gone again', async () => (await names()).length === 2);
    await tabTo('Save as a draft');
    await press('Enter');
    await page.getByRole('heading', { name: 'By keys' }).waitFor();
    await page.locator('main h1').click();
    await tabTo('Activate version 1');
    await press('Enter');
    await page.getByText('Active', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  }, 90_000);

  test('an automation is deleted once that is confirmed, and its page says that there is none', async () => {
    const id = await made('Old news');
    await ask('POST', `/v1/automations/${id}/archive`);
    const { page, complaints } = await openPage(`/${id}`);
    const begin = async () => {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('alertdialog').getByText('stay in the send log').waitFor();
      // It fades, without its items.
      await page.getByRole('menu').waitFor({ state: 'detached' });
    };
    await begin();
    await expectAccessible(page, 'the question before a deletion');
    await page.getByRole('button', { name: 'No', exact: true }).click();
    expect((await ask('GET', `/v1/automations/${id}`)).status).toBe(200);
    await begin();
    await page.getByRole('button', { name: 'Yes, delete it' }).click();
    await page.getByText('No automation yet').waitFor();
    expect((await ask('GET', `/v1/automations/${id}`)).status).toBe(404);
    await page.goto(pathOf(`/${id}`));
    await page.getByText('It may have been deleted').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a ready automation becomes a draft with one click, and can be given a name of its own', async () => {
    await prepare();
    const { page, complaints } = await openPage();
    await expectAccessible(page, 'the library');
    await page.getByRole('button', { name: 'Use it: Onboarding nudge' }).click();
    await page.getByRole('heading', { name: 'Onboarding nudge' }).waitFor();
    await page.getByText('Nothing is wrong').waitFor();
    await page.getByText('Draft', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('First steps');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('what is wrong is said at its step and its field, and nothing wrong is saved', async () => {
    const id = await made();
    const { page } = await openPage(`/${id}`);
    await page.getByText('Nothing is wrong').waitFor();
    await step(page, 'wait').click();
    await page.getByRole('combobox', { name: 'Event' }).fill('Order Placed');
    await page.getByText('must be snake_case: try "order_placed"').waitFor();
    expect(await step(page, 'wait').getAttribute('data-wrong')).toBe('true');
    expect(await step(page, 'mail').getAttribute('data-wrong')).toBeNull();
    await page.getByText('1 thing is wrong').waitFor();
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Nothing is wrong').waitFor();
  }, 60_000);

  test('whoever leaves with changes is asked; somebody else’s newer version is not overwritten unasked', async () => {
    const id = await made();
    const { page, complaints } = await openPage(`/${id}`);
    await step(page, 'mail').click();
    await page.getByRole('button', { name: 'Delete step' }).click();
    await page.getByRole('link', { name: 'Send log' }).click();
    await page.getByText('Leave without saving?').waitFor();
    await page.getByRole('button', { name: 'Stay here' }).click();
    const { body } = await ask('GET', `/v1/automations/${id}`);
    const settings = { ...body.definition.settings, re_entry: 'every_time' };
    await ask('POST', `/v1/automations/${id}/versions`, {
      after_version: 1,
      definition: { ...body.definition, settings },
    });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Somebody saved a newer version meanwhile').waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'What it changed' }).first().click();
    await page.getByText('+ "re_entry": "every_time"').waitFor();
    await expectAccessible(page, 'versions');
    await page.getByRole('tab', { name: 'Build' }).click();
    await page.getByRole('button', { name: 'Save mine as the version after it' }).click();
    await page.getByRole('button', { name: 'Activate version 3' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('code and graph are the same: what is typed into one is drawn in the other', async () => {
    const id = await made();
    const { page, complaints } = await openPage(`/${id}`);
    await page.getByText('Code', { exact: true }).click();
    const code = page.getByRole('textbox', { name: 'Definition as JSON' });
    await code.waitFor();
    await code.fill('{');
    await page.getByText('Not taken over yet').waitFor();
    await expectAccessible(page, 'code');
    const definition = {
      trigger: { kind: 'manual' },
      entry: 'stop',
      steps: { stop: { kind: 'exit', reason: 'done' } },
    };
    await code.fill(JSON.stringify(definition));
    await page.getByText('Graph', { exact: true }).click();
    await step(page, 'stop').getByText('Because of done').waitFor();
    await page.getByText('Started by hand').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('on a telephone of 360 px the graph is a list, whose steps open over it', async () => {
    const id = await made();
    const { page, complaints } = await openPage(`/${id}`, 360);
    await page.getByRole('list', { name: 'Steps in order' }).waitFor();
    await step(page, 'wait').click();
    await page.getByRole('heading', { name: 'Wait for an event' }).waitFor();
    expect(await overflows(page)).toBe(false);
    await expectAccessible(page, 'a step');
    expect(complaints).toEqual([]);
  }, 60_000);
});
