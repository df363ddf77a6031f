// Settings → Webhooks: addresses to copy, a token that is replaced without a gap, the signing key and the topic.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { dialectOf, SOURCES } from '../../src/feedback/dialects/dialects.ts';
import { addRefused } from '../../src/feedback/refused_queries.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { issueKey } from '../../src/projects/projects.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { COLOURS, expectAccessible } from './axe.ts';
import { takePicture } from './pictures.ts';
import { bringSession, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const open = async (width = 1280) => {
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}/settings/webhooks`);
  await page.getByRole('heading', { name: 'Mailgun' }).waitFor();
  return { page, complaints };
};
const post = async (token: string) => {
  const path = `/v1/webhooks/smtp/${api.project.project_id}`;
  const body = { event: 'delivered', email: 'ann@example.com' };
  return (await api.call('POST', path, { key: token, body })).status;
};

describe('webhooks in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('a token is shown once and works at once; the old one works until it is revoked', async () => {
    const { page, complaints } = await open();
    const old = api.project.hook_token;
    await page.getByRole('button', { name: 'Set up SMTP2GO' }).click();
    await page.getByText(`${api.url}/v1/webhooks/smtp2go/${api.project.project_id}`).waitFor();
    await page.getByRole('button', { name: 'Make a new token' }).click();
    const again = page.getByRole('dialog');
    await again.getByLabel('Your password').fill('not the password');
    await page.keyboard.press('Enter');
    await again.getByText('This is not your password.').waitFor();
    await again.getByLabel('Your password').fill(OWNER.password);
    await page.keyboard.press('Enter');
    await again.waitFor({ state: 'detached' });
    const fresh = (await page.getByRole('status').locator('pre').textContent()) ?? '';
    expect(await post(fresh)).toBe(200);
    expect(await post(old)).toBe(200);
    await page.getByRole('button', { name: `ends in ${old.slice(-4)}` }).click();
    await page.getByRole('button', { name: 'Yes, revoke' }).click();
    await page.getByText(`…${old.slice(-4)}`).waitFor({ state: 'detached' });
    expect(await post(old)).toBe(401);
    expect(await post(fresh)).toBe(200);
    await page.reload();
    await page.getByText(`…${fresh.slice(-4)}`).waitFor();
    expect(await page.content()).not.toContain(fresh);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('the signing key is set and never shown', async () => {
    const { page, complaints } = await open();
    await page.getByRole('button', { name: 'Set up Mailgun' }).click();
    await page.getByText('No signing key is set').waitFor();
    const key = page.getByLabel('HTTP webhook signing key');
    await key.fill('with a blank');
    await page.keyboard.press('Enter');
    await page.getByText('visible ASCII characters without blanks').waitFor();
    await key.fill('a-signing-key');
    await page.keyboard.press('Enter');
    await page.getByText('A signing key is set, since').waitFor();
    expect(await key.inputValue()).toBe('');
    await page.getByRole('button', { name: 'Remove key of Mailgun' }).click();
    await page.getByRole('button', { name: 'Yes, remove key of Mailgun' }).click();
    await page.getByText('No signing key is set').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test.each(SOURCES)(
    'the set-up of %s says where, what and how, wide and narrow',
    async (source) => {
      const { name, setUp, verification } = dialectOf(source);
      for (const width of [360, 1280]) {
        const { page, complaints } = await open(width);
        const card = page.getByRole('region', { name, exact: true });
        const toggle = card.getByRole('button', { name: `Set up ${name}` });
        if ((await toggle.count()) > 0) await toggle.click();
        const end = setUp.isTokenInUrl ? '?token=<webhook token>' : '';
        const url = `${api.url}/v1/webhooks/${source}/${api.project.project_id}${end}`;
        await card.getByText(url, { exact: true }).waitFor();
        for (const text of [...setUp.steps, ...setUp.subscribeTo])
          expect(await card.getByText(text, { exact: true }).count(), text).toBeGreaterThan(0);
        if (verification.kind === 'signature')
          await card.getByLabel(verification.keyName).waitFor();
        expect(await overflows(page)).toBe(false);
        await card.getByRole('button', { name: `Hide set-up of ${name}` }).click();
        expect(await card.getByText(url).count()).toBe(0);
        expect(complaints).toEqual([]);
      }
    },
    60_000,
  );

  test('after how many soft bounces an address is given up is shown, and decided', async () => {
    const { page, complaints } = await open();
    const section = page.getByRole('region', { name: 'Soft bounces' });
    const field = section.getByLabel('Suppress an address after so many in a row');
    expect(await field.inputValue()).toBe('5');
    await field.fill('101');
    await section.getByRole('button', { name: 'Save' }).click();
    await section.getByText(/100/).waitFor();
    await field.fill('3');
    await section.getByRole('button', { name: 'Save' }).click();
    await section.getByText('Saved: after 3 in a row.').waitFor();
    await page.reload();
    await field.waitFor();
    expect(await field.inputValue()).toBe('3');
    expect(complaints).toEqual([]);
  }, 60_000);

  test('refused posts are shown, with what to do; after one that is taken only in passing', async () => {
    const projectId = api.project.project_id;
    const path = `/v1/webhooks/smtp2go/${projectId}`;
    expect((await api.call('POST', path, { key: 'hook_wrong', body: {} })).status).toBe(401);
    const written = () =>
      database.owner.query("select from feedback.refusals where source = 'smtp2go'");
    await expect.poll(async () => (await written()).rowCount).toBe(1);
    for (const width of [360, 1280]) {
      const { page, complaints } = await open(width);
      const ofRelay = page.getByRole('region', { name: 'SMTP2GO' });
      await ofRelay.getByText('Posts refused: 1').waitFor();
      await ofRelay.getByText('make a new one above').waitFor();
      await ofRelay.getByText('Refusing posts').waitFor();
      expect(await overflows(page)).toBe(false);
      expect(complaints).toEqual([]);
    }
    const body = { event: 'delivered', rcpt: 'ann@example.com' };
    const key = await issueKey(database.deps, projectId, 'hook');
    expect((await api.call('POST', path, { key, body })).status).toBe(200);
    const { page } = await open();
    await page.getByText('Refused before: 1').waitFor();
    const ofRelay = page.getByRole('region', { name: 'SMTP2GO' });
    expect(await ofRelay.getByText('Posts refused').count()).toBe(0);
  }, 60_000);

  test.each([360, 1280])(
    'at %i px posts of strangers raise no alarm where the provider posts as it should',
    async (width) => {
      const projectId = api.project.project_id;
      const path = `/v1/webhooks/postmark/${projectId}`;
      const key = await issueKey(database.deps, projectId, 'hook');
      const body = { RecordType: 'Delivery', Recipient: `p${width}@example.com`, MessageID: 'a' };
      expect((await api.call('POST', path, { key, body })).status).toBe(200);
      await inProject(database.deps, projectId, (scope) =>
        addRefused(scope, 'postmark', {
          count: 1,
          lastReason: 'invalid_token',
          lastAt: new Date(Date.now() + 1_000),
          topics: new Map(),
        }),
      );
      const { page, complaints } = await open(width);
      const card = page.getByRole('region', { name: 'Postmark' });
      await card.getByText('Some posts refused').waitFor();
      await card.getByText('Trunkline accepted the last event').waitFor();
      await card.getByText('you can ignore the refused posts').waitFor();
      expect(await overflows(page)).toBe(false);
      await expectAccessible(page, 'posts of strangers', { rules: COLOURS });
      await takePicture(page, 'strangers_posts', width);
      expect(complaints).toEqual([]);
    },
    60_000,
  );
});
