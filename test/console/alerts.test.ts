// Alerts as people meet them: a banner on every page, a page with those of the past, and endpoints that subscribe.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAlert, resolveAlert } from '../../src/alerts/alerts.ts';
import type { NewAlert } from '../../src/alerts/alerts.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { makePerson } from '../support/people.ts';
import { expectAccessible } from './axe.ts';
import { alertFailing } from '../../src/automations/endpoint_alerts.ts';
import { insertEndpoint } from '../../src/automations/endpoint_queries.ts';
import { ENDPOINT_REFUSALS_MAX } from '../../src/automations/subscriptions/delivery_limits.ts';
import { addRefusal } from '../../src/automations/subscriptions/health_queries.ts';
import { takePicture } from './pictures.ts';
import { bringSession, expectNames, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
testWorker(database);
const sink = httpsSink({ usually: () => ({ status: 204 }) });
const chromium = testBrowser();

/** A third of a phone that is 740 px high. */
const BANNER_NARROW_PX = 247;

let providerId = '';
const within = <T>(work: (scope: Scope) => Promise<T>) =>
  inProject(database.deps, api.project.project_id, work);
const alertOf = (kind: NewAlert['kind'], given: Partial<NewAlert> = {}): NewAlert => ({
  kind,
  subject: providerId,
  subjectName: 'Relay',
  summary: 'Nothing is sent through Relay (hello@shop.test) until you change something.',
  fix: 'Create the credentials again at the relay.',
  details: {},
  ...given,
});
const open = (kind: NewAlert['kind'], given: Partial<NewAlert> = {}) =>
  within((scope) => openAlert(scope, alertOf(kind, given)));

const openAs = async (role: 'viewer' | 'editor' | 'owner', path: string, width = 1280) => {
  const { project_id: projectId } = api.project;
  const person = await makePerson(database, { projectId, role });
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, person.cookie);
  await page.goto(`${api.url}/console/p/${projectId}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints };
};

describe('alerts in a browser', () => {
  beforeEach(async ({ skip }) => {
    skip(!chromium.isThere, NO_BROWSER);
    api.project = await createProject(database.deps, 'its own');
    providerId = newId();
    await keepProvider(database, api.project.project_id, providerId);
  });
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test.each([1280, 360])(
    'the banner says on every page what is wrong and what to do, at %i pixels',
    async (width) => {
      await open('provider_parked');
      const { page, complaints } = await openAs('editor', '/segments', width);
      const banner = page.getByRole('status').filter({ hasText: 'Email provider parked' });
      if (width === 1280) {
        await banner.getByText('Nothing is sent through Relay').waitFor();
        await banner.getByText('Create the credentials again').waitFor();
      } else {
        // A phone shows what it is about; the page of the alert says the rest.
        await banner.getByText('Relay', { exact: true }).waitFor();
        expect(await banner.getByText('Create the credentials again').isVisible()).toBe(false);
        expect((await banner.boundingBox())?.height).toBeLessThan(BANNER_NARROW_PX);
      }
      await takePicture(page, 'alert_banner', width);
      expect(await overflows(page)).toBe(false);
      await expectAccessible(page, 'segments');
      await expectNames(page);
      await banner.getByRole('link', { name: 'Open Relay' }).click();
      await page.getByLabel('Host').waitFor();
      expect(new URL(page.url()).pathname).toBe(
        `/console/p/${api.project.project_id}/settings/providers/${providerId}`,
      );
      await banner.getByText('See below what is wrong').waitFor();
      await within((scope) => resolveAlert(scope, providerId, 'provider_parked'));
      await page.reload();
      await page.getByLabel('Host').waitFor();
      await banner.waitFor({ state: 'detached' });
      expect(complaints).toEqual([]);
    },
    90_000,
  );

  test('a dismissed banner stays away in the tab, and comes back with a new alert', async () => {
    await open('provider_parked');
    const { page } = await openAs('editor', '/segments', 360);
    const dismiss = page.getByRole('button', { name: 'Dismiss alerts' });
    await dismiss.click();
    await page.getByRole('status').waitFor({ state: 'detached' });
    const read = page.waitForResponse(/alerts\.list/);
    await page.reload();
    await read;
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await dismiss.count()).toBe(0);

    await open('provider_held');
    await page.reload();
    const banner = page.getByRole('status').filter({ hasText: '2 alerts' });
    await banner.getByText('Email provider held: Relay').waitFor();
    expect(await banner.getByRole('listitem').count()).toBe(2);
    expect(await overflows(page)).toBe(false);
    await banner.getByRole('link', { name: 'All alerts' }).click();
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
    expect(await dismiss.count()).toBe(0);
  }, 90_000);

  test('a viewer sees the alert, and which role can act', async () => {
    await open('topic_pending', { subject: 'amazon-ses', subjectName: 'Amazon SES' });
    const { page } = await openAs('viewer', '/segments');
    const banner = page.getByRole('status').filter({ hasText: 'Amazon SNS topics wait' });
    await banner.getByText('ask an owner to act on this').waitFor();
    await banner.getByRole('link', { name: 'Open Webhooks' }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  }, 60_000);

  test('the page lists alerts of the past too, and an owner changes the thresholds', async () => {
    await open('provider_parked');
    await within((scope) => resolveAlert(scope, providerId, 'provider_parked'));
    await open('domain_worse');
    const { page, complaints } = await openAs('owner', '/alerts', 360);
    const items = page.getByRole('main').getByRole('listitem');
    await items.filter({ hasText: 'Email provider parked' }).getByText('Resolved').waitFor();
    await items.getByText('Trunkline said then: Nothing is sent through Relay').waitFor();
    await items
      .filter({ hasText: 'Domain health got worse' })
      .getByText('Open', { exact: true })
      .waitFor();
    const bounces = page.getByLabel('Bounces, in percent');
    expect(await bounces.inputValue()).toBe('2');
    await bounces.fill('much');
    await page.getByRole('button', { name: 'Save thresholds' }).click();
    await page.getByText('A number from 0.01 to 100').waitFor();
    await bounces.fill('3.5');
    await page.getByRole('button', { name: 'Save thresholds' }).click();
    await page.getByText('Saved.').waitFor();
    await page.reload();
    await bounces.waitFor();
    expect(await bounces.inputValue()).toBe('3.5');
    expect(await overflows(page)).toBe(false);
    await expectAccessible(page, 'alerts');
    expect(complaints).toEqual([]);
  }, 90_000);

  test('an endpoint subscribes, is sent a test event, and shows what came of it', async () => {
    const { page, complaints } = await openAs('editor', '/settings/endpoints');
    await page.getByLabel('Name').fill('CRM');
    await page.getByLabel('Address').fill(`${sink.url}/hooks`);
    const subscriptions = page.getByRole('combobox', { name: 'Subscriptions' });
    await subscriptions.click();
    await page.getByRole('option', { name: 'All alerts' }).click();
    await page.getByRole('option', { name: 'Email bounced' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'CRM' });
    await card.getByText('Subscribes to: All alerts, Email bounced.').waitFor();
    await card.getByText('Nothing was sent by subscription').waitFor();
    await card.getByRole('button', { name: 'Send test event to CRM' }).click();
    const delivery = card.getByRole('listitem').filter({ hasText: 'Test event' });
    await delivery.getByText('Delivered').waitFor();
    await delivery.getByText('HTTP 204, 1 attempt').waitFor();
    expect(JSON.parse(sink.requests.at(-1)?.body.toString() ?? '')).toMatchObject({
      type: 'system.test',
    });
    await open('provider_parked');
    await card.getByText('Alert: email provider parked').waitFor();
    await expectAccessible(page, 'endpoints');
    expect(complaints).toEqual([]);
  }, 90_000);

  test.each([1280, 360])(
    'an endpoint that refuses everything is failing, at %i pixels',
    async (width) => {
      const { project_id: projectId } = api.project;
      await within(async (scope) => {
        const endpointId = newId();
        await insertEndpoint(scope, { endpointId, name: 'CRM', url: `${sink.url}/hooks` });
        for (let refused = 0; refused < ENDPOINT_REFUSALS_MAX; refused += 1)
          await addRefusal(scope, endpointId, new Date());
        const endpoint = { endpoint_id: endpointId, name: 'CRM' };
        await alertFailing(scope, endpoint, { reason: 'refused', httpStatus: 404 });
      });
      const { page, complaints } = await openAs('editor', '/segments', width);
      const banner = page.getByRole('status').filter({ hasText: 'Webhook endpoint takes nothing' });
      await banner.getByRole('link', { name: 'Open Webhook endpoints' }).click();
      const card = page.getByRole('listitem').filter({ hasText: 'CRM' });
      await card.getByText('Failing', { exact: true }).waitFor();
      await card.getByText('It takes no deliveries').waitFor();
      expect(new URL(page.url()).pathname).toBe(`/console/p/${projectId}/settings/endpoints`);
      expect(await overflows(page)).toBe(false);
      await expectAccessible(page, 'a failing endpoint');
      await takePicture(page, 'failing_endpoint', width);
      expect(complaints).toEqual([]);
    },
    60_000,
  );
});
