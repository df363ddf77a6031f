// A send's page in the Console: what was decided, each hand-off, what came back, and the message itself.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { record } from '../../src/feedback/feedback.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { newNotice } from '../feedback/project_told.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { COLOURS, expectAccessible } from './axe.ts';
import { bringSession, NO_BROWSER, shown, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const HOSTILE = `<h1 style="color: red">Hello Ann</h1><script>document.body.textContent = 'ran'</script>
  <img src="/console/assets/picture-of-the-mail.png" alt="a picture"><form action="/u/x"><button>Win</button></form>`;

const open = async (sendId: string) => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}/sends/${sendId}`);
  await page.getByRole('heading', { name: 'Hand-offs' }).waitFor();
  return { page, complaints };
};

/** A send that is being handed over, and what was rendered for it. */
const handingOff = async () => {
  const { project_id: projectId } = api.project;
  const sends = sendsOf(database, projectId);
  const email = `${newId()}@example.com`;
  const key = addressKey({ keys: database.deps.keys, projectId }, email);
  const send = await sends.handingOff({ recipient: email, addressKey: key });
  await database.owner.query(
    `insert into delivery.contents (project_id, send_id, subject, html, text)
     values ($1, $2, 'Welcome', $3, 'Hello')`,
    [projectId, send.sendId, HOSTILE],
  );
  await sends.update(send.sendId, `subject = 'Welcome'`);
  return { send, sends, email };
};

/** What the mail tries is refused aloud; the page itself has nothing to complain of. */
const ofPage = (complaints: readonly string[]): string[] =>
  complaints.filter((said) => !/Blocked script|violates the following/.test(said));

describe('a send in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('the log leads to its page: hand-offs, feedback and the message, in which nothing runs or loads', async () => {
    const { send, sends, email } = await handingOff();
    await sends.end(send.sendId, 'accepted', { providerMessageId: 'abc-1' });
    await inProject(database.deps, api.project.project_id, (scope) =>
      record(scope, 'smtp', [
        newNotice({ kind: 'bounced', bounceType: 'hard', email, sendId: send.sendId }),
      ]),
    );
    const { page, complaints } = await open(send.sendId);
    const loaded: string[] = [];
    page.on('response', (response) => loaded.push(new URL(response.url()).pathname));
    await page.getByRole('link', { name: '← Send log' }).click();
    await shown(page.getByRole('link', { name: email }))
      .first()
      .click();
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    await page.getByText('The provider took it').waitFor();
    await page.getByText('abc-1').waitFor();
    await page.getByText('bounced (hard)').waitFor();
    const mail = page.frameLocator('iframe[title="The message"]');
    await mail.getByRole('heading', { name: 'Hello Ann' }).waitFor();
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
    expect(loaded.filter((path) => path.includes('picture-of-the-mail'))).toEqual([]);
    expect(ofPage(complaints)).toEqual([]);
  }, 60_000);

  test.each([
    ['It was sent', 'Accepted', 'accepted'],
    ['It was not sent', 'Not sent', 'not_sent'],
  ])(
    'an unknown outcome is resolved: %s',
    async (button, word, status) => {
      const { send, sends } = await handingOff();
      await sends.end(send.sendId, 'unknown');
      const { page } = await open(send.sendId);
      await page.getByText('Nobody knows whether the provider took this message').waitFor();
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByText(word, { exact: true }).waitFor();
      expect(await sends.read(send.sendId)).toMatchObject({ status, status_reason: 'resolved' });
    },
    60_000,
  );

  test.each([
    ['All of them were sent', 'Yes, all 2 were sent', { status: 'accepted' }],
    ['None of them was sent', 'Yes, none of the 2 was sent', { status: 'not_sent' }],
    [
      'None of them was sent: send them again',
      'Yes, send these 2 again',
      { status: 'queued', attempt_count: 1 },
    ],
  ])(
    'of several unknown ones, found by the overview, is said at once: %s',
    async (ask, sure, wanted) => {
      api.project = await createProject(database.deps, 'of its own');
      const unknown = async () => {
        const one = await handingOff();
        await one.sends.end(one.send.sendId, 'unknown');
        return one;
      };
      const [first, second, known] = [await unknown(), await unknown(), await unknown()];
      const { send, sends } = first;
      const { page, complaints } = await open(send.sendId);
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByText('Of 3 mails nobody knows').waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await expectAccessible(page, `an overview, ${colorScheme}`, { rules: COLOURS });
      }
      await page.getByRole('link', { name: 'See them' }).click();
      await page.getByText('Nobody knows of these 3 mails').waitFor();
      await sends.update(known.send.sendId, "status = 'accepted', accepted_at = now()");
      await page.getByText('Nobody knows of these 2 mails').waitFor();
      await page.getByRole('button', { name: ask, exact: true }).press('Enter');
      // What comes meanwhile nobody has looked for.
      const later = await unknown();
      await page.getByText('Nobody knows of these 3 mails').waitFor();
      await page.getByRole('button', { name: sure }).press('Enter');
      await shown(page.getByRole('link', { name: send.recipient })).waitFor({ state: 'hidden' });
      for (const { sendId } of [send, second.send])
        expect(await sends.read(sendId)).toMatchObject(wanted);
      expect(await sends.read(known.send.sendId)).toMatchObject({ status_reason: null });
      expect(await sends.read(later.send.sendId)).toMatchObject({ status: 'unknown' });
      expect(ofPage(complaints)).toEqual([]);
    },
    90_000,
  );

  test('mails whose provider was deleted are told by the overview, with what to do', async () => {
    api.project = await createProject(database.deps, 'of its own');
    const { send, sends, email } = await handingOff();
    await sends.update(send.sendId, `status = 'cancelled', status_reason = 'provider_deleted'`);
    const { page, complaints } = await open(send.sendId);
    await page.getByText('Choose another provider in the steps of its automation').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('1 mail was cancelled, because its provider was deleted').waitFor();
    await page.getByRole('link', { name: 'See what was cancelled' }).click();
    await shown(page.getByRole('link', { name: email }))
      .first()
      .waitFor();
    expect(new URL(page.url()).searchParams.get('status')).toBe('cancelled');
    expect(ofPage(complaints)).toEqual([]);
  }, 60_000);

  test('what was refused as a bounce is told as one of those that were not accepted', async () => {
    api.project = await createProject(database.deps, 'of its own');
    const [refused, other] = [await handingOff(), await handingOff()];
    await refused.sends.update(refused.send.sendId, `status = 'rejected', bounced_at = now()`);
    await other.sends.update(other.send.sendId, `status = 'expired'`);
    const { page } = await open(other.send.sendId);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('1 of them bounced').waitFor();
    for (const [name, number] of [
      ['not_accepted', '2'],
      ['bounced', '1'],
    ])
      expect(await page.locator(`[data-number="${name}"]`).textContent()).toBe(number);
  }, 60_000);

  test('an unknown outcome is sent again by who has found that it was not sent', async () => {
    const { send, sends } = await handingOff();
    await sends.end(send.sendId, 'unknown');
    const { page } = await open(send.sendId);
    await page.getByRole('button', { name: 'It was not sent: send it again' }).click();
    await page.getByText('Queued', { exact: true }).waitFor();
    await page.getByText('Somebody found that it was not sent').waitFor();
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued', attempt_count: 1 });
  }, 60_000);

  test('one that is sent again by itself says when, and is stopped by who says so twice', async () => {
    const { send, sends } = await handingOff();
    await sends.update(send.sendId, "on_unknown = 'resend'");
    await sends.end(send.sendId, 'unknown', { retryAfterSeconds: 600 });
    const { page } = await open(send.sendId);
    await page.getByText('It is sent again by itself', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Do not send it again by itself' }).click();
    await page.getByRole('button', { name: 'Yes, do not send it again' }).click();
    await page.getByText('It was to be sent again and was not').waitFor();
    expect(await page.getByText('It is sent again by itself', { exact: true }).count()).toBe(0);
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'unknown',
      status_reason: 'cancelled',
    });
  }, 60_000);

  test.each([
    ['queued', 'A send without a subject yet', 'it was not rendered yet'],
    ['failed_render', 'A send whose template failed', 'its template failed'],
    ['expired', 'A send that expired', 'it came to its end before it was rendered'],
    ['erased', 'A send whose person was erased', 'its person was erased'],
  ])(
    'one without a message says how it stands: %s',
    async (state, title, why) => {
      const sends = sendsOf(database, api.project.project_id);
      const { project_id: projectId } = api.project;
      const recipient = `${newId()}@example.com`;
      const key = addressKey({ keys: database.deps.keys, projectId }, recipient);
      const send = newSend({ recipient, addressKey: key });
      await sends.plan(send);
      const erased = `status = 'cancelled', recipient = null, address_key = null`;
      await sends.update(send.sendId, state === 'erased' ? erased : `status = '${state}'`);
      const { page } = await open(send.sendId);
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await page.getByText(`There is nothing to see: ${why}.`).waitFor();
    },
    60_000,
  );

  test('what waits is cancelled by who says so twice', async () => {
    const { send, sends } = await handingOff();
    await sends.update(send.sendId, `status = 'queued', lease_owner = null, lease_until = null`);
    const { page } = await open(send.sendId);
    await page.getByRole('button', { name: 'Cancel this send' }).click();
    await page.getByRole('button', { name: 'Yes, cancel this send' }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor();
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'cancelled' });
  }, 60_000);
});
