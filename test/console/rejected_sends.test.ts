// What a provider answered, and what an editor does about emails that it refused or holds.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { noteHeld } from '../../src/providers/providers.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { sendsOf } from '../delivery/one_send.ts';
import { used } from '../providers/used.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { COLOURS, expectAccessible } from './axe.ts';
import { bringSession, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';
import { takePicture } from './pictures.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const open = async (path: string, width?: number) => {
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}${path}`);
  return { page, complaints };
};

/** A send that a provider refused, and what it answered. */
const rejected = async (providerId: string): Promise<string> => {
  const sends = sendsOf(database, api.project.project_id);
  const { sendId } = await sends.handingOff({ providerId });
  const text = 'message content rejected, see https://relay.example/why';
  const reply = { code: 554, enhanced: '5.6.0', text, queueId: '4bXq2R1mZ9z' };
  await sends.end(sendId, 'rejected', { reason: 'message_refused', reply });
  return sendId;
};
const WIDTHS_PX = [1280, 360];
const statusOf = async (sendId: string) =>
  (await sendsOf(database, api.project.project_id).read(sendId)).status;

describe('emails that a provider refused, in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test.each(WIDTHS_PX)(
    'at %i px a page of one shows the answer, and queues it again',
    async (width) => {
      const sendId = await rejected(newId());
      const { page, complaints } = await open(`/sends/${sendId}`, width);
      await page.getByText('The provider answered: 554 5.6.0 message content rejected').waitFor();
      await page.getByText('(queue id 4bXq2R1mZ9z)').waitFor();
      await expectAccessible(page, 'a rejected send');
      expect(await overflows(page)).toBe(false);
      await takePicture(page, 'rejected_send', width);
      await page.getByRole('button', { name: 'Queue it again' }).press('Enter');
      await page.getByText('Queued', { exact: true }).first().waitFor();
      expect(await statusOf(sendId)).toBe('queued');
      expect(complaints).toEqual([]);
    },
    60_000,
  );

  test.each(WIDTHS_PX)(
    'at %i px it queues all of this provider and reason, once their number is confirmed',
    async (width) => {
      const provider = newId();
      const [one, two, other] = [
        await rejected(provider),
        await rejected(provider),
        await rejected(newId()),
      ];
      await keepProvider(database, api.project.project_id, provider, `all${width}@shop.test`);
      const { page, complaints } = await open(`/sends/${one}`, width);
      await page.getByRole('button', { name: 'Queue all of Relay with this reason' }).click();
      const sure = page.getByRole('button', { name: 'Yes, queue 2 emails again' });
      await sure.waitFor();
      expect(await Promise.all([one, two].map(statusOf))).toEqual(['rejected', 'rejected']);
      expect(await overflows(page)).toBe(false);
      await expectAccessible(page, 'all rejected sends', { rules: COLOURS });
      await takePicture(page, 'requeue_all', width);
      await sure.click();
      await page.getByText('2 emails are queued again.').waitFor();
      await page.getByText('Queued', { exact: true }).first().waitFor();
      await takePicture(page, 'requeued_all', width);
      expect(complaints).toEqual([]);
      expect(await Promise.all([one, two, other].map(statusOf))).toEqual([
        'queued',
        'queued',
        'rejected',
      ]);
    },
    60_000,
  );

  test.each(WIDTHS_PX)(
    'at %i px a held provider says why, and when one email tries it',
    async (width) => {
      const id = newId();
      const { project_id: projectId } = api.project;
      await keepProvider(database, projectId, id, `held${width}@shop.test`);
      const answer = { code: 554, enhanced_code: '5.7.1', text: 'looks like spam' };
      const reason = 'identical_refusals';
      const held = { reason, answer, isProbe: false, retryAfterSeconds: undefined };
      await inProject(database.deps, projectId, (scope) => noteHeld(scope, used(id), held));
      const { page, complaints } = await open(`/settings/providers/${id}`, width);
      await page.getByText('Held', { exact: true }).first().waitFor();
      await page.getByText('Held: The same answer came to several recipients').waitFor();
      await page.getByText('The provider answered: 554 5.7.1 looks like spam').waitFor();
      await page.getByText('Read the answer.').last().waitFor();
      await page.getByText('One tries it again at').waitFor();
      await expectAccessible(page, 'a held provider', { rules: COLOURS });
      expect(await overflows(page)).toBe(false);
      await takePicture(page, 'held_provider', width);
      expect(complaints).toEqual([]);
    },
    60_000,
  );
});
