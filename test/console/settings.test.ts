// Endpoints of webhook steps, and how long what is kept, as people meet them; from a person to why, and back.
import { readRetention } from '../../src/delivery/delivery.ts';
import { takePicture } from './pictures.ts';
import { inProject } from '../../src/base/db.ts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listKept } from '../../src/admin/retention.ts';
import { AUDIT_MONTHS } from '../../src/admin/audit_log.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { makeWelcome, testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { until } from '../support/until.ts';
import { expectAccessible } from './axe.ts';
import { bringSession, expectNames, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
testWorker(database);
const chromium = testBrowser();

const make = (role: 'viewer' | 'editor') =>
  makePerson(database, { projectId: api.project.project_id, role });
const openAs = async ({ cookie }: SignedInPerson, path: string, width = 1280) => {
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, cookie);
  await page.goto(`${api.url}/console/p/${api.project.project_id}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints };
};

describe('settings in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('an endpoint is added, its secrets are shown once, and it is changed, disabled and deleted', async () => {
    const { page, complaints } = await openAs(await make('editor'), '/settings/endpoints');
    await page.getByText('No endpoint yet').waitFor();
    await page.getByLabel('Name').fill('CRM');
    await page.getByLabel('Address').fill('http://example.com/hooks');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('must be https').waitFor();
    await page.getByLabel('Address').fill('https://example.com/hooks');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const first = await page.getByRole('status').locator('pre').textContent();
    expect(first).toMatch(/^whsec_/);
    const card = page.getByRole('listitem').filter({ hasText: 'CRM' });
    await card.getByText('Active').waitFor();

    await card.getByRole('button', { name: 'New secret: CRM' }).click();
    await card.getByRole('button', { name: 'Yes, make a new one: CRM' }).click();
    const second = await card.getByRole('status').locator('pre').textContent();
    expect(second).toMatch(/^whsec_/);
    expect(second).not.toBe(first);

    await card.getByRole('button', { name: 'Edit CRM' }).click();
    await page.getByRole('listitem').getByLabel('Name').fill('Our CRM');
    await page.getByRole('listitem').getByRole('button', { name: 'Save' }).click();
    const renamed = page.getByRole('listitem').filter({ hasText: 'Our CRM' });
    await renamed.getByRole('button', { name: 'Disable Our CRM' }).click();
    await renamed.getByText('Disabled').waitFor();
    await renamed.getByRole('button', { name: 'Enable Our CRM' }).click();
    await renamed.getByText('Active').waitFor();

    await page.reload();
    await renamed.waitFor();
    expect(await page.getByText('whsec_').count()).toBe(0);
    await expectNames(page);
    await expectAccessible(page, 'settings');
    await renamed.getByRole('button', { name: 'Delete: Our CRM' }).click();
    await renamed.getByRole('button', { name: 'Yes, steps that tell it fail' }).click();
    await page.getByText('No endpoint yet').waitFor();
    expect(complaints).toEqual([]);
  }, 90_000);

  test('a viewer sees endpoints and is offered no change of them', async () => {
    await api.call('POST', '/v1/webhook-endpoints', {
      key: api.project.server_key,
      body: { name: 'Seen', url: 'https://example.com/hooks' },
    });
    const { page } = await openAs(await make('viewer'), '/settings/endpoints', 360);
    await page.getByRole('listitem').filter({ hasText: 'Seen' }).waitFor();
    await page.getByText('ask an editor to add an endpoint').waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    expect(await overflows(page)).toBe(false);
  }, 60_000);

  test('retention is told by the numbers that the jobs go by', async () => {
    const { config } = database.deps;
    const { page, complaints } = await openAs(await make('viewer'), '/settings/retention', 360);
    const events = page.getByRole('row').filter({ hasText: 'Events and timelines' });
    await events.getByText(`${config.retentionMonths} months`).waitFor();
    const audit = page.getByRole('row').filter({ hasText: 'Audit log' });
    await audit.getByText(`${AUDIT_MONTHS} months`).waitFor();
    const kept = listKept(config, {
      content_days: 90,
      sends_months: null,
      runs_months: null,
      anonymous_months: null,
    });
    expect(await page.getByRole('row').count()).toBe(kept.length + 1);
    await page.getByText('same for every project').waitFor();
    expect(await overflows(page)).toBe(false);
    await expectAccessible(page, 'settings');
    expect(complaints).toEqual([]);
  }, 60_000);

  test('an owner chooses how long sends are kept, and others read it', async () => {
    const owner = await makePerson(database, { projectId: api.project.project_id, role: 'owner' });
    const { page, complaints } = await openAs(owner, '/settings/retention');
    const days = page.getByLabel('Days to keep what emails said');
    const months = page.getByLabel('Months to keep sends');
    expect([await days.inputValue(), await months.inputValue()]).toEqual(['90', '']);
    const change = () => page.getByRole('button', { name: 'Change retention' }).click();
    await days.fill('');
    await change();
    await page.getByText('Enter a whole number.').waitFor();
    await days.fill('0');
    await months.fill('121');
    await change();
    await page.getByText('at least 1').waitFor();
    await page.getByText('at most 120').waitFor();
    await days.fill('30');
    await months.fill('12');
    await change();
    await page
      .getByText(
        'Within a day Trunkline removes the content of emails that is older than 30 days, and sends that are older ' +
          'than 12 months, with their feedback. This cannot be undone.',
      )
      .waitFor();
    const stored = () => inProject(database.deps, api.project.project_id, readRetention);
    expect(await stored()).toMatchObject({ content_days: 90 });
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      // The menu slides away.
      await expect.poll(() => overflows(page)).toBe(false);
      await takePicture(page, 'retention_loss', width);
    }
    await days.fill('20');
    await page.getByText('This cannot be undone').waitFor({ state: 'detached' });
    await days.fill('30');
    await change();
    await page.getByRole('button', { name: 'Yes, remove what is older' }).click();
    await page.getByText('Changed.').waitFor();
    expect(await stored()).toEqual({
      content_days: 30,
      sends_months: 12,
      runs_months: null,
      anonymous_months: null,
    });
    const content = page.getByRole('row').filter({ hasText: 'What emails said' });
    await content.getByText('30 days').waitFor();
    await months.fill('');
    await change();
    const sends = page.getByRole('row').filter({ hasText: 'Sends, feedback events' });
    await sends.getByText(`${database.deps.config.retentionMonths} months`).waitFor();
    await page.getByLabel('Months to keep ended runs').fill('6');
    await page.getByLabel('Months to keep anonymous people').fill('12');
    await change();
    await page
      .getByText(
        'Within a week Trunkline removes runs that ended more than 6 months ago, and anonymous people who had no ' +
          'event for 12 months. This cannot be undone.',
      )
      .waitFor();
    await page.getByRole('button', { name: 'Yes, remove what is older' }).click();
    const runs = page.getByRole('row').filter({ hasText: 'Ended runs' });
    await runs.getByText('6 months').waitFor();
    const people = page.getByRole('row').filter({ hasText: 'Anonymous people' });
    await people.getByText('12 months').waitFor();
    expect(await stored()).toMatchObject({ runs_months: 6, anonymous_months: 12 });
    expect(complaints).toEqual([]);
    const viewer = await openAs(await make('viewer'), '/settings/retention');
    await viewer.page.getByText('Owners change this.').waitFor();
    expect(await viewer.page.getByLabel('Days to keep').getAttribute('readonly')).not.toBeNull();
  }, 60_000);

  test('from a person one comes to why they are in a segment and why they got a mail, and back', async () => {
    await makeWelcome(database, api.project.project_id);
    const ask = (path: string, body: object) =>
      api.call('POST', path, { key: api.project.server_key, body });
    await ask('/v1/identify', { external_id: 'ann', traits: { plan: 'pro' } });
    await ask('/v1/segments', {
      name: 'On Pro',
      definition: { version: 1, where: { kind: 'trait', trait: 'plan', test: { is: 'exists' } } },
    });
    const path = '/v1/profiles/external_id:ann';
    const { body } = await api.call('GET', path, { key: api.project.server_key });
    await until('the segment is filled', async () => {
      const { rows } = await database.owner.query('select status from segments.segments');
      return rows.every(({ status }) => status === 'ready');
    });
    const { page, complaints } = await openAs(await make('viewer'), `/profiles/${body.id}`);

    await page.getByRole('link', { name: 'Why in a segment, or not' }).click();
    await page.getByText('Choose one to see why they are in it').waitFor();
    await page.getByRole('link', { name: 'On Pro' }).click();
    await page.getByText('ann is in it.').waitFor();
    expect(new URL(page.url()).searchParams.get('person')).toContain(body.id);
    await page.reload();
    await page.getByText('ann is in it.').waitFor();
    await page.getByRole('link', { name: '← ann' }).click();
    await page.getByRole('heading', { name: 'ann' }).waitFor();

    await page.getByRole('link', { name: 'Why a mail came, or not' }).click();
    await page.getByRole('link', { name: 'Welcome' }).click();
    await page.getByText('ann in this automation').waitFor();
    await page.getByRole('heading', { name: 'Runs of ann' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: '← ann' }).click();
    await page.getByRole('heading', { name: 'ann' }).waitFor();
    expect(complaints).toEqual([]);
  }, 90_000);
});
