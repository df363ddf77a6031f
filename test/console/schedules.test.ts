// A schedule in the Console: its times are chosen, shown before anything is saved, and followed.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { expectAccessible } from './axe.ts';
import { bringSession, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';
import { takePicture } from './pictures.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();
const WIDTHS_PX = [1280, 360];

const ask = async (path: string, body?: unknown) => {
  const answer = await api.call('POST', path, { key: api.project.server_key, body });
  expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body]);
  return answer.body;
};
const openPage = async (id: string, width: number) => {
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}/automations/${id}`);
  await page.getByRole('heading', { level: 1 }).and(page.locator('main *')).waitFor();
  return { page, complaints };
};
const made = async (given: object): Promise<string> => {
  const where = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } };
  const segment = await ask('/v1/segments', { name: 'Pro', definition: { where } });
  const trigger = { kind: 'schedule', segment_id: segment.id, start: '2040-01-02T09:00', ...given };
  const steps = { note: { kind: 'update_profile', traits: { came: true }, next: null } };
  const definition = { trigger, entry: 'note', steps };
  return (await ask('/v1/automations', { name: 'News', definition })).id;
};

describe('a schedule in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test.each(WIDTHS_PX)(
    'says its next times, and that once is once, at %i px',
    async (width) => {
      const id = await made({ rule: 'FREQ=WEEKLY;BYDAY=MO' });
      const { page, complaints } = await openPage(id, width);
      await page
        .getByText('At 2040-01-02 09:00, then FREQ=WEEKLY;BYDAY=MO, for Pro')
        .first()
        .click();
      const next = page.getByRole('group', { name: 'Next times' });
      await next.getByText('2040-01-02 09:00').waitFor();
      expect(await next.getByRole('listitem').count()).toBe(5);
      await page.getByText('Each person starts only once').waitFor();
      await takePicture(page, 'schedule', width);
      expect(await overflows(page)).toBe(false);
      await expectAccessible(page, 'a schedule');
      await page.getByLabel('Rule').fill('FREQ=MINUTELY');
      await page.getByText('FREQ must be one of').first().waitFor();
      await page.getByLabel('Rule').fill('FREQ=MONTHLY;BYDAY=-1FR');
      await next.getByText('2040-01-27 09:00').waitFor();
      expect(complaints).toEqual([]);
    },
    60_000,
  );

  test.each(WIDTHS_PX)(
    'its people page says what comes, at %i px',
    async (width) => {
      const id = await made({ rule: 'FREQ=DAILY;COUNT=2', per_hour: 100 });
      await ask(`/v1/automations/${id}/activate`);
      const { page, complaints } = await openPage(id, width);
      await page.getByRole('tab', { name: 'People' }).click();
      await page.getByRole('heading', { name: 'Its schedule' }).waitFor();
      await page.getByText('Next: 2040-01-02 09:00, 2040-01-03 09:00').waitFor();
      await takePicture(page, 'schedule_people', width);
      expect(await overflows(page)).toBe(false);
      await expectAccessible(page, 'the people of a schedule');
      expect(complaints).toEqual([]);
    },
    60_000,
  );

  test('by the clock of each person there is no rate, and a new one is saved', async () => {
    const id = await made({ rule: 'FREQ=DAILY' });
    const { page, complaints } = await openPage(id, 1280);
    await page.getByText('At 2040-01-02 09:00').first().click();
    await page.getByLabel('People per hour').waitFor();
    await page.getByRole('combobox', { name: 'Time zone' }).click();
    await page.getByRole('option', { name: 'Of each person' }).click();
    await page.getByLabel('People per hour').waitFor({ state: 'detached' });
    await page.getByLabel('Start', { exact: true }).fill('2041-05-06T10:30');
    await page.getByText('At 2041-05-06 10:30 of each person').first().waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Activate version 2' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);
});
