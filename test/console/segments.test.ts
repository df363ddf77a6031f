// Segments in the Console: built with a live count, filled, explained, and made of lists that can be taken back.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { newId } from '../../src/base/ids.ts';
import { SYSTEM_EVENTS } from '../../src/ingest/ingest.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { newEvent } from '../ingest/some_events.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './axe.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
testWorker(database);
const chromium = testBrowser();

const ask = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });

const pathOf = (rest: string): string =>
  `${api.url}/console/p/${api.project.project_id}/segments${rest}`;
const openPage = async (rest = '') => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(pathOf(rest));
  await page.getByRole('heading', { level: 1 }).and(page.locator('main *')).waitFor();
  return { page, complaints };
};

const people = async (): Promise<void> => {
  for (const [name, plan] of [
    ['ann', 'pro'],
    ['bob', 'pro'],
    ['cem', 'free'],
  ])
    await ask('POST', '/v1/identify', {
      external_id: name,
      traits: { plan, email: `${name}@example.test` },
    });
  await ask('POST', '/v1/events', { event: 'order_placed', external_id: 'ann' });
  await until('ann is known', async () => {
    const { body } = await ask('GET', '/v1/profiles/external_id:ann/events');
    return body.items.length > 0;
  });
};

const add = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: 'Add a condition' }).last().click();
  await page.getByRole('menuitem', { name }).click();
};
const count = (page: Page) => page.getByRole('status', { name: 'People in it' });
const becomes = (page: Page, members: string) =>
  until(`${members} people`, async () => (await count(page).textContent()) === members);

describe('segments in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test('the events to choose from are those that came, and all that the service records', async () => {
    await people();
    // As a client could send it before the name was reserved.
    const forged = newEvent({ name: 'email_made_up', source: 'server' });
    await acceptEvents(database.deps.db, api.project.project_id, newId(), [forged]);
    const { page } = await openPage('/new');
    await add(page, 'Events they did');
    const field = page.getByRole('combobox', { name: 'Event' });
    await field.click();
    await page.getByRole('option', { name: 'order_placed' }).waitFor();
    const offered = await page.getByRole('option').allTextContents();
    expect(offered).toEqual(['order_placed', ...Object.keys(SYSTEM_EVENTS)]);
    await field.fill('email_op');
    await page.getByRole('option', { name: 'email_opened' }).click();
    expect(await field.inputValue()).toBe('email_opened');
  });

  test('a segment is built with its count, filled, and its members, history and reasons are seen', async () => {
    await people();
    const { page, complaints } = await openPage();
    await page.getByText('No segment yet').waitFor();
    await page.getByRole('link', { name: 'New segment' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Buyers on Pro');
    await becomes(page, '3');
    await add(page, 'A trait');
    await page.getByLabel('Trait', { exact: true }).fill('plan');
    await page.getByLabel('Value', { exact: true }).fill('pro');
    await becomes(page, '2');
    await add(page, 'Events they did');
    await page.getByRole('combobox', { name: 'Event' }).fill('order_placed');
    await becomes(page, '1');
    await page.getByRole('link', { name: 'ann' }).waitFor();
    await page.getByLabel('Not: Events they did, or did not').setChecked(true, { force: true });
    await page.getByRole('link', { name: 'bob' }).waitFor();
    await page.getByLabel('Not: Events they did, or did not').setChecked(false, { force: true });
    await page.getByRole('link', { name: 'ann' }).waitFor();
    await expectAccessible(page, 'a segment being built');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Kept up to date').waitFor();
    await page.getByRole('status', { name: 'Members' }).getByText('1 person').waitFor();
    await page.getByRole('tab', { name: 'Members' }).click();
    await page.getByRole('row').filter({ hasText: 'ann' }).waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('row').filter({ hasText: 'entered' }).waitFor();
    await page.getByRole('figure').waitFor();
    await expectAccessible(page, 'history');
    await page.getByRole('tab', { name: 'Why not?' }).click();
    await page.getByRole('combobox', { name: 'Person' }).fill('bob');
    await page.getByRole('option', { name: 'bob · bob@example.test' }).click();
    await page.getByText('bob is not in it.').waitFor();
    const clause = page.getByRole('listitem').filter({ hasText: 'order_placed' }).last();
    await clause.getByLabel('does not hold').first().waitFor();
    await expectAccessible(page, 'reasons');
    expect(complaints).toEqual([]);
  }, 60_000);

  test('what is wrong is said at its condition, and nothing wrong can be kept', async () => {
    const { page } = await openPage('/new');
    await page.getByLabel('Name', { exact: true }).fill('Wrong');
    await add(page, 'Events they did');
    await page
      .getByText('must be 1 to 100')
      .or(page.getByText(/snake_case/))
      .first()
      .waitFor();
    await page.getByText('It cannot be counted like this').waitFor();
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Remove: Events they did, or did not' }).click();
    await becomes(page, '0');
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(false);
  }, 60_000);

  test('a list makes a static segment, and is taken back by who says so twice', async () => {
    await people();
    const { page, complaints } = await openPage('/new');
    await page.getByLabel('Name', { exact: true }).fill('Guests');
    await page.getByText('By lists', { exact: true }).click();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByLabel('Or the list itself').fill('external_id\nann\nbob\nnobody');
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText('2 people are on the list now. 1 are nobody whom we know.').waitFor();
    await page.getByRole('status', { name: 'Members' }).getByText('2 people').waitFor();
    await page.getByRole('button', { name: 'Take it back' }).click();
    await page.getByRole('button', { name: 'Yes, take it back' }).click();
    await page.getByText('taken back').waitFor();
    await page.getByRole('status', { name: 'Members' }).getByText('0 people').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Yes, delete it with its history' }).click();
    await page.getByText('No segment yet').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);
});
