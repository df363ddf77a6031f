// Settings → Email providers → Domain: a domain is checked, mended and checked again, and what has changed stays.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { makeProvider, mend, withNameServer } from '../providers/domain_health/named.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { lookAt } from './every_page_look.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const named = withNameServer(database);
const api = testApi(named);
const admin = testAdmin(named, api);
const chromium = testBrowser();

/** The page of a provider with its domain open. */
const openDomain = async (cookie?: string) => {
  const { provider_id } = await makeProvider(named, api.project.project_id);
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, cookie ?? (await admin.openSession()));
  await page.goto(
    `${api.url}/console/p/${api.project.project_id}/settings/providers/${provider_id}`,
  );
  await page.getByRole('tab', { name: 'Domain' }).click();
  const check = async () => {
    await page.getByRole('button', { name: 'Check domain' }).click();
    await page
      .getByRole('button', { name: 'Check domain' })
      .and(page.locator(':enabled'))
      .waitFor();
  };
  const card = (name: string) => page.getByRole('region', { name, exact: true });
  const entries = page.getByRole('region', { name: 'History' }).getByRole('listitem');
  return { page, complaints, check, card, entries };
};

describe('the domain of a sender in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    mend(named);
    api.project = await createProject(named.deps, 'of its own');
  });

  test('is checked on request: findings, records to publish, and what changed since', async () => {
    const { page, complaints, check, card, entries } = await openDomain();
    await page.getByText('The domain has not been checked yet').waitFor();
    await page.getByText('Changes appear here. The domain is checked every day.').waitFor();
    await page.getByLabel('DKIM selectors (optional)').fill('s1 s2');
    await check();
    await card('DKIM s2').getByText('Needs a fix').waitFor();
    await card('SPF').getByText('There is one SPF record. It needs 0 of 10 DNS lookups.').waitFor();
    expect(await entries.count()).toBe(1);
    await entries.getByText('First check').waitFor();

    await page.getByLabel('DKIM selectors (optional)').fill('s1');
    named.zone['shop.test'] = {
      TXT: ['v=spf1 ip4:192.0.2.25 -all', 'v=spf1 include:_spf.crm.test ~all'],
      MX: [[10, 'mx.shop.test']],
    };
    named.zone['_spf.crm.test'] = { TXT: ['v=spf1 ip4:198.51.100.7 -all'] };
    await check();
    await card('SPF').getByText('There are 2 SPF records at shop.test').waitFor();
    await card('SPF').getByText('Publish this TXT record').waitFor();
    await card('SPF')
      .getByText('v=spf1 ip4:192.0.2.25 include:_spf.crm.test -all', { exact: true })
      .waitFor();
    await expect.poll(() => entries.count()).toBe(2);
    const newest = entries.first();
    await newest.getByText('Worse').waitFor();
    await newest.getByText('v=spf1 include:_spf.crm.test ~all').waitFor();
    await lookAt(page, 'domain worse');

    named.zone['shop.test'] = {
      TXT: ['v=spf1 ip4:192.0.2.25 include:_spf.crm.test -all'],
      MX: [[10, 'mx.shop.test']],
    };
    await check();
    await card('SPF').getByText('Good').waitFor();
    await expect.poll(() => entries.count()).toBe(3);
    await lookAt(page, 'domain mended');
    // What was typed is stored.
    await page.reload();
    await page.getByRole('tab', { name: 'Domain' }).click();
    expect(await page.getByLabel('DKIM selectors (optional)').inputValue()).toBe('s1');
    expect(complaints).toEqual([]);
  }, 120_000);

  test('says at its field what is no selector and no domain', async () => {
    const { page, check } = await openDomain();
    await page.getByLabel('DKIM selectors (optional)').fill('s1;s2');
    await page.getByLabel('MAIL FROM domain (optional)').fill('bounce');
    await check();
    await page.getByText('must be names of selectors, such as s1').waitFor();
    await page.getByText('must be a domain, such as bounce.example.com').waitFor();
  }, 60_000);

  test('is shown to a viewer, who cannot check it', async () => {
    const viewer = await makePerson(named, {
      projectId: api.project.project_id,
      role: 'viewer',
    });
    const { page } = await openDomain(viewer.cookie);
    await page.getByText('ask an editor to check the domain now').waitFor();
    await page.getByText('The domain has not been checked yet').waitFor();
    expect(await page.getByRole('button', { name: 'Check domain' }).count()).toBe(0);
  }, 60_000);
});
