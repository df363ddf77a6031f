// Templates in the Console: written, seen as somebody would get them, sent to try, and kept as versions.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { counterparts, fieldsOf } from '../providers/counterparts.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './axe.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const ask = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });
const inProject = (path: string) => `/v1/projects/${api.project.project_id}${path}`;

const openPage = async (rest = '') => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}/templates${rest}`);
  await page.getByRole('heading', { level: 1 }).and(page.locator('main *')).waitFor();
  return { page, complaints };
};

const HTML = `<p style="color: rgb(200, 0, 0)">Hello {{ profile.first_name | default: "there" }}</p>
<script>document.body.textContent = 'ran'</script>
<a href="{{ unsubscribe_url }}">Unsubscribe</a>`;

const made = async (): Promise<string> => {
  const given = { name: 'Hello', subject: 'Hello', html: HTML };
  return (await ask('POST', inProject('/templates'), given)).body.id;
};

/** Writes the body anew, as somebody does who takes away what is there. */
const write = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('textbox', { name: 'Body', exact: true }).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
};
const mail = (page: Page) => page.frameLocator('iframe[title="The mail"]');

type Element = {
  ownerDocument: { defaultView: { getComputedStyle: (one: unknown) => { color: string } } };
};
const colourOf = (one: Element): string =>
  one.ownerDocument.defaultView.getComputedStyle(one).color;

describe('templates in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test('a template is written, seen as Ann would get it, sent to try, and kept', async () => {
    await ask('POST', inProject('/email-providers'), fieldsOf(sinks, 'smtp'));
    const traits = { email: 'ann@example.test', first_name: 'Ann' };
    await ask('POST', '/v1/identify', { external_id: 'ann', traits });
    await api.processEvents();
    const { page, complaints } = await openPage();
    await page.getByText('No template yet').waitFor();
    await page.getByRole('link', { name: 'New template' }).last().click();
    await page.getByLabel('Name', { exact: true }).fill('Hello');
    await page.getByLabel('Subject').fill('Hello {{ profile.first_name }}');
    await write(page, HTML);
    await mail(page).getByText('Hello first name').waitFor();
    await page.getByRole('combobox', { name: 'As it looks for' }).fill('ann');
    await page.getByRole('option', { name: 'ann · ann@example.test' }).click();
    const line = mail(page).getByText('Hello Ann');
    await line.waitFor();
    expect(await line.evaluate(colourOf)).toBe('rgb(200, 0, 0)');
    await expectAccessible(page, 'a template being written');

    await page.getByLabel('To', { exact: true }).fill('me@example.test');
    await page.getByRole('button', { name: 'Send this mail to me' }).click();
    await page.getByText('The provider took it').waitFor();
    expect(sinks.smtp.mails[0]).toMatchObject({ to: ['me@example.test'], subject: 'Hello Ann' });
    expect(sinks.smtp.mails[0]?.html).toContain('Hello Ann');

    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Version 1').waitFor();
    await page.getByText('No active automation sends it.').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('what is wrong is said with its line, which is marked, and the last good mail stays', async () => {
    const id = await made();
    const { page, complaints } = await openPage(`/${id}`);
    await mail(page).getByText('Hello first name').waitFor();
    await write(page, '<p>Hello</p>\n<p>{{ profile.first_name | shout }}</p>');
    await page.getByText(/line 2, column \d+: undefined filter/).waitFor();
    await page.locator('.cm-line-wrong').getByText('shout').waitFor();
    await page.getByText('It cannot be rendered like this').waitFor();
    await page.getByText('As it was before what is wrong now.').waitFor();
    const save = page.getByRole('button', { name: 'Save as the next version' });
    expect(await save.isDisabled()).toBe(true);
    await expectAccessible(page, 'a fault');
    await write(page, '<p>Hello</p>\n<p>Mended</p>');
    await mail(page).getByText('Mended').waitFor();
    await save.click();
    await page.getByText('Version 2').waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'What it changed' }).first().click();
    await page.getByText('+ <p>Mended</p>').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('MJML is shown as the mail that it makes, at the width of a telephone, too', async () => {
    const { page, complaints } = await openPage('/new');
    await page.getByText('MJML', { exact: true }).click();
    await mail(page).getByText('Hello first name').waitFor();
    const frame = page.locator('iframe[title="The mail"]');
    const wide = await frame.boundingBox();
    await page.getByText('Phone', { exact: true }).click();
    await until(
      'the frame is narrow',
      async () => ((await frame.boundingBox())?.width ?? 0) < (wide?.width ?? 0),
    );
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a template is put away and brought back', async () => {
    const id = await made();
    const { page, complaints } = await openPage(`/${id}`);
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByText('nothing new may send it').waitFor();
    await page.getByRole('button', { name: 'Bring it back' }).click();
    await page.getByRole('button', { name: 'Archive' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);
});
