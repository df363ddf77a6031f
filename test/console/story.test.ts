// What the Console is for, told once as a whole: from the first sign-in to a mail, its bounce, a link that is undone,
// and somebody who is let in and can change nothing.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepBrowserSdk } from '../../src/runtime/browser_sdk_build.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testSite } from '../sdk/door.ts';
import { testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { fillLogin, NO_BROWSER, testBrowser } from './in_browser.ts';
import {
  addProvider,
  buildAutomation,
  findSuppressed,
  followMail,
  goTo,
  readPreview,
  readSnippet,
  readWebhook,
  simulateAndActivate,
  testCatcher,
  writeTemplate,
} from './story_chapters.ts';
import { accept, approve, lookAround, requestAccess, tryEverything } from './story_let_in.ts';

const database = testDatabase();
const catcher = testCatcher();
const api = testApi(database);
testAdmin(database, api);
testWorker(database);
const site = testSite();
const chromium = testBrowser();

const post = async (path: string, key: string, body: object): Promise<void> => {
  const answer = await api.call('POST', path, { key, body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
};
const ask = async (query: string, ...values: unknown[]) =>
  (await database.owner.query(query, [api.project.project_id, ...values])).rows[0];

/** Bea signed up before there was an automation. */
const makePast = async (): Promise<void> => {
  const { server_key: key } = api.project;
  const traits = { email: 'bea@example.test', first_name: 'Bea' };
  await post('/v1/identify', key, { external_id: 'bea', traits });
  await post('/v1/events', key, { event: 'user_signed_up', external_id: 'bea' });
};

/** Ann looks at the customer's shop, whose pages have the text of the Console, then signs up. */
const signUp = async (page: Page): Promise<void> => {
  site.put(
    '/',
    `<!doctype html><title>Shop</title>${await readSnippet(page, api.project.publishable_key)}`,
  );
  const { page: shop, complaints } = await chromium.openPage();
  await shop.goto(site.url);
  await page.getByRole('listitem').filter({ hasText: 'page_viewed' }).waitFor();
  await shop.evaluate(`(() => {
    trunkline.identify('ann', { email: 'ann@example.test', first_name: 'Ann' });
    trunkline.track('user_signed_up', { plan: 'free' });
  })()`);
  await goTo(page, 'Overview');
  await page.getByRole('listitem').filter({ hasText: 'ann' }).getByText('user_signed_up').waitFor();
  await shop.context().close();
  expect(complaints).toEqual([]);
};

/** The mail is in the catcher, where somebody reads it. */
const readMail = async (): Promise<void> => {
  const [mail] = await catcher.wait();
  expect(mail).toMatchObject({ to: ['ann@example.test'], subject: 'Welcome, Ann' });
  const { page } = await chromium.openPage();
  await page.goto(catcher.now.url);
  await page.getByText('Welcome, Ann').first().waitFor();
  await page.context().close();
};

/** The relay posts, as any program does, where it was told to. */
const bounce = async ({ url, token }: { url: string; token: string }): Promise<void> => {
  const [mail] = await catcher.wait();
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      event: 'bounce',
      bounce_type: 'hard',
      recipient: 'ann@example.test',
      message_id: mail?.message_id,
      reason: '550 5.1.1 user unknown',
    }),
  });
  expect(answer.status).toBe(200);
};

/** What the database holds of the link between Ann's browser and Ann. */
const readLink = () =>
  ask(
    `select anonymous.profile_id as device, external.profile_id as person, links.status,
      (select count(*)::int from ingest.events
        where project_id = $1 and anonymous_id = links.anonymous_id and external_id is null) as events,
      (select count(*)::int from profiles.traits
        where project_id = $1 and identity_id = links.anonymous_identity_id) as traits,
      (select count(*)::int from automations.runs
        where project_id = $1 and identity_id = links.external_identity_id and status = 'active') as runs
     from identity.links
     join identity.identities as anonymous
       on anonymous.project_id = $1 and anonymous.identity_id = links.anonymous_identity_id
     join identity.identities as external
       on external.project_id = $1 and external.identity_id = links.external_identity_id
     where links.project_id = $1 and links.external_id = 'ann'`,
  );

/** What the preview says is what is there before, and what has moved afterwards. */
const undoLink = async (page: Page): Promise<void> => {
  await goTo(page, 'Identity links');
  await page.getByRole('row').filter({ hasText: 'ann' }).getByRole('link').click();
  const told = await readPreview(page);
  const before = await readLink();
  const { events, traits, runs } = before;
  expect(told).toEqual({ leaving: 1, events, traits, runs });
  expect(events).toBeGreaterThan(0);
  expect(runs).toBe(1);
  expect(before.device).toBe(before.person);

  await page.getByRole('button', { name: 'Undo this link' }).click();
  await page.getByRole('button', { name: 'Yes, undo this link' }).click();
  await page.getByRole('status').getByText('The link is undone').waitFor();
  const after = await readLink();
  expect(after).toMatchObject({ status: 'undone', person: before.person, events, traits, runs });
  expect(after.device).not.toBe(before.person);
  const { body } = await api.call('GET', `/v1/profiles/${after.device}/events`, {
    key: api.project.server_key,
  });
  expect(body.items).toHaveLength(events);
  const suppressed = `select suppressed_at is not null as held from suppression.addresses
    where project_id = $1 and email = 'ann@example.test'`;
  expect(await ask(suppressed)).toEqual({ held: true });
};

describe('the Console, from the first sign-in on', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (!chromium.isThere) return;
    await keepConsole();
    await keepBrowserSdk();
  }, 120_000);

  test('an event leads to a mail, its bounce to silence; a link is undone; who is let in changes nothing', async () => {
    const { page, complaints } = await chromium.openPage();
    await page.goto(`${api.url}/console`);
    await fillLogin(page);
    await page.getByText('No event has arrived yet').waitFor();
    await addProvider(page, catcher.now);
    await writeTemplate(page, 'Welcome', 'Welcome, {{ profile.first_name }}');
    await writeTemplate(page, 'First steps', 'Three first steps');
    await makePast();
    await until('Bea is known', () => ask('select from profiles.traits where project_id = $1'));
    await buildAutomation(page);
    await simulateAndActivate(page);
    await signUp(page);
    await readMail();
    await followMail(page);
    await bounce(await readWebhook(page));
    await findSuppressed(page);
    await undoLink(page);
    expect(await catcher.wait()).toHaveLength(1);

    await requestAccess({ api, chromium });
    const link = await approve(page);
    const newcomer = await chromium.openPage();
    await accept(newcomer.page, link);
    await lookAround(newcomer.page);
    expect(await tryEverything(newcomer.page, api)).toEqual([]);
    await newcomer.page.goto(link);
    await newcomer.page.getByText('This invitation is over').waitFor();
    expect([...complaints, ...newcomer.complaints]).toEqual([]);
  }, 300_000);
});
