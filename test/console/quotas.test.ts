// Daily quotas of publishable keys, as an owner sees and changes them.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { expectAccessible } from './axe.ts';
import { bringSession, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const chromium = testBrowser();

const openKeys = async (width: number) => {
  const { project_id: projectId } = api.project;
  const { cookie } = await makePerson(database, { projectId, role: 'owner' });
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, cookie);
  await page.goto(`${api.url}/console/p/${projectId}/settings/keys`);
  const section = page.getByRole('region', { name: 'Daily quotas' });
  await section.waitFor();
  return { page, section, complaints };
};

describe('daily quotas in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test.each([1280, 360])(
    'an owner sees the use of each key today, and changes the quotas, at %i pixels',
    async (width) => {
      await database.owner.query('delete from quotas.settings');
      const key = api.project.publishable_key;
      await api.call('POST', '/v1/identify', { key, body: { external_id: `user-${width}` } });
      const { page, section, complaints } = await openKeys(width);
      const use = section.getByRole('listitem', {
        name: `Use of the key that ends in ${key.slice(-4)}`,
      });
      await use.getByText(/of 100,000/).waitFor();
      await use.getByText(/of 5,000 MB/).waitFor();

      await section.getByLabel('New profiles a day').fill('many');
      await section.getByRole('button', { name: 'Save quotas' }).click();
      await section
        .getByText('Enter a whole number, or leave the field empty for no quota.')
        .waitFor();
      await section.getByLabel('New profiles a day').fill('0');
      await section.getByRole('button', { name: 'Save quotas' }).click();
      await use.getByText('This quota allows nothing.').waitFor();
      await section.getByLabel('New profiles a day').fill('1');
      await section.getByLabel('Stored data a day, in MB').fill('');
      await section.getByRole('button', { name: 'Save quotas' }).click();
      await section.getByText('Saved. The quotas apply within seconds.').waitFor();
      await use.getByText('Used up until midnight UTC.').waitFor();
      await use.getByText('(no quota)').waitFor();
      const refused = await api.call('POST', '/v1/identify', {
        key,
        body: { external_id: `other-${width}` },
      });
      expect([refused.status, refused.body.reason]).toEqual([429, 'new_profiles']);
      expect(await overflows(page)).toBe(false);
      await expectAccessible(page, 'quotas');

      await page.reload();
      await section.waitFor();
      expect(await section.getByLabel('New profiles a day').inputValue()).toBe('1');
      expect(await section.getByLabel('Stored data a day, in MB').inputValue()).toBe('');
      expect(complaints).toEqual([]);
    },
    90_000,
  );
});
