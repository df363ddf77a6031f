// The condition of a branch in the Console: the language of segments, and what only a run can be asked.
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

const WHEN = {
  kind: 'any',
  of: [
    { kind: 'trait', trait: 'plan', test: { is: 'none_of', values: ['free', 'trial'] } },
    { kind: 'not', of: { kind: 'all', of: [{ kind: 'subscribed' }, { kind: 'suppressed' }] } },
    { kind: 'trigger', where: [{ property: 'total', test: { is: 'at_least', value: 100 } }] },
    { kind: 'event_since', event: 'order_placed', source: 'server' },
  ],
};
const DEFINITION = {
  trigger: { kind: 'event', event: 'signed_up' },
  entry: 'ask',
  steps: {
    ask: { kind: 'branch', branches: [{ when: WHEN, next: 'note' }], otherwise: null },
    note: { kind: 'update_profile', traits: { came: true }, next: null },
  },
};
const IN_WORDS =
  'plan is none of “free”, “trial” or not (may be sent marketing and the address is suppressed) or ' +
  'the trigger event’s total is at least 100 or ' +
  'order_placed from a server came meanwhile';

describe('the condition of a branch', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test.each(WIDTHS_PX)(
    'is shown in words, edited as a tree and saved, at %i px',
    async (width) => {
      const made = await api.call('POST', '/v1/automations', {
        key: api.project.server_key,
        body: { name: 'Asks', definition: DEFINITION },
      });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      const { page, complaints } = await chromium.openPage(width);
      await bringSession(page, api.url, await admin.openSession());
      await page.goto(`${api.url}/console/p/${api.project.project_id}/automations/${made.body.id}`);
      await page.getByText(IN_WORDS).first().click();
      await page.getByText('The event that began the run').first().waitFor();
      expect(await page.getByLabel('What became of it').count()).toBe(0);
      await takePicture(page, 'branch conditions', width);
      await page.getByRole('button', { name: 'Remove: An event since the run began' }).click();
      await page.getByRole('button', { name: 'Add a condition' }).last().click();
      // No step sends an email.
      expect(
        await page.getByRole('menuitem', { name: 'An email of this automation' }).count(),
      ).toBe(0);
      await page.getByRole('menuitem', { name: 'A tag' }).click();
      // The menu fades, and takes Escape for itself meanwhile.
      await page.getByRole('menu').waitFor({ state: 'detached' });
      expect(await overflows(page)).toBe(false);
      await expectAccessible(page, 'the condition of a branch');
      if (width < 1_000) await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const read = () =>
        api.call('GET', `/v1/automations/${made.body.id}`, { key: api.project.server_key });
      await expect
        .poll(async () => (await read()).body.definition.steps.ask.branches[0].when.of)
        .toEqual([...WHEN.of.slice(0, 3), { kind: 'tag', tag: 'hard_bounced' }]);
      expect(complaints).toEqual([]);
    },
    60_000,
  );
});
