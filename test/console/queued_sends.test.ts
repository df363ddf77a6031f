// What a queued email waits for: in the send log, and on its own page, once.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { noteHeld, park } from '../../src/providers/providers.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { used } from '../providers/used.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { bringSession, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';
import { takePicture } from './pictures.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();
const WIDTHS_PX = [1280, 360];

const open = async (path: string, width: number) => {
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}${path}`);
  return { page, complaints };
};

const ANSWER = { code: 535, enhanced_code: '5.7.8', text: 'Password changed 2 hours ago' };
const waiting = async (stop: (providerId: string) => Promise<unknown>) => {
  const { project_id: projectId } = api.project;
  const providerId = newId();
  await keepProvider(database, projectId, providerId, `${providerId}@shop.test`);
  await stop(providerId);
  const send = newSend({ providerId });
  await sendsOf(database, projectId).plan(send);
  return send;
};
const within = (work: Parameters<typeof inProject>[2]) =>
  inProject(database.deps, api.project.project_id, work);

describe('a queued email, in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test.each(WIDTHS_PX)(
    'at %i px the log says that its provider is parked, and its page shows the answer',
    async (width) => {
      const send = await waiting((id) =>
        within((scope) => park(scope, used(id), 'authentication_failed', ANSWER)),
      );
      const { page, complaints } = await open('/sends', width);
      await page.getByText('its provider is parked').filter({ visible: true }).first().waitFor();
      expect(await overflows(page)).toBe(false);
      await takePicture(page, 'queued_log', width);
      await page.goto(`${api.url}/console/p/${api.project.project_id}/sends/${send.sendId}`);
      await page.getByText('The provider answered: 535 5.7.8 Password changed').waitFor();
      expect(await page.getByText('Tried next').count()).toBe(0);
      expect(complaints).toEqual([]);
    },
    60_000,
  );

  test.each(WIDTHS_PX)(
    'at %i px the page of a held one says once what to do, and no moment that has passed',
    async (width) => {
      const reason = 'quota_exhausted';
      const held = { reason, isProbe: false, retryAfterSeconds: undefined };
      const send = await waiting((id) => within((scope) => noteHeld(scope, used(id), held)));
      await sendsOf(database, api.project.project_id).update(
        send.sendId,
        `status_reason = '${reason}', due_at = now() - interval '1 minute'`,
      );
      const { page } = await open(`/sends/${send.sendId}`, width);
      await page.getByText('Raise the quota at the provider').waitFor();
      expect(await page.getByText('Raise the quota at the provider').count()).toBe(1);
      const next = page.getByRole('row').filter({ hasText: 'Tried next' });
      const until = page
        .locator('div')
        .filter({ hasText: /^Until/ })
        .last();
      expect((await until.textContent())?.replace('Until', '')).toBe(
        (await next.textContent())?.replace('Tried next', ''),
      );
      expect(await overflows(page)).toBe(false);
      await takePicture(page, 'held_send', width);
    },
    60_000,
  );
});
