// Settings → Webhooks: the Amazon SNS topics of a project, those that wait for approval, and those that were refused.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { bounceOf } from '../feedback/ses_world.ts';
import {
  confirmationOf,
  notificationOf,
  OTHER_TOPIC,
  signMessage,
  snsService,
  TOPIC,
} from '../feedback/sns_service.ts';
import { someone } from '../feedback/webhooks_of.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { bringSession, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';
import { takePicture } from './pictures.ts';

const database = testDatabase();
const sns = snsService();
beforeAll(() => {
  const { deps } = database;
  database.deps = { ...deps, config: { ...deps.config, snsUrl: sns.url } };
});
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const post = (message: Parameters<typeof signMessage>[0], query = '') =>
  api.call('POST', `/v1/webhooks/amazon-ses/${api.project.project_id}${query}`, {
    body: signMessage(message, sns.signer),
  });
const ask = (TopicArn: string, isTokened = false) =>
  post(confirmationOf({ TopicArn }), isTokened ? `?token=${api.project.hook_token}` : '');

const open = async (session: Parameters<typeof bringSession>[2], width = 1280) => {
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, session);
  await page.goto(`${api.url}/console/p/${api.project.project_id}/settings/webhooks`);
  await page.getByRole('heading', { name: 'Amazon SES' }).waitFor();
  return { page, complaints };
};

describe('topics in a browser', () => {
  beforeEach(async ({ skip }) => {
    skip(!chromium.isThere, NO_BROWSER);
    api.project = await createProject(database.deps, 'fresh');
  });
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('an owner approves one topic, rejects another, and removes a confirmed one when asked twice', async () => {
    const second = 'arn:aws:sns:us-east-1:123456789012:ses-complaints';
    for (const arn of [OTHER_TOPIC, second]) expect((await ask(arn)).status).toBe(401);
    expect((await ask(TOPIC, true)).status).toBe(200);
    await post(notificationOf(bounceOf(someone()), { TopicArn: OTHER_TOPIC }));
    await post(notificationOf(bounceOf(someone())));
    await database.deps.resources.close();
    const session = await admin.openSession();
    for (const width of [360, 1280]) {
      const { page, complaints } = await open(session, width);
      const amazon = page.getByRole('region', { name: 'Amazon SES' });
      await amazon.getByText(`/v1/webhooks/amazon-ses/${api.project.project_id}?token=`).waitFor();
      await amazon
        .getByText('AWS account 999999999999, region eu-west-1', { exact: true })
        .waitFor();
      await amazon.getByText('Refused topics').waitFor();
      await amazon.getByText('Trunkline stores those events without an address').waitFor();
      expect(await overflows(page)).toBe(false);
      expect(complaints).toEqual([]);
      await takePicture(page, 'webhook_topics', width);
    }
    const { page, complaints } = await open(session);
    const waiting = page.getByRole('region', { name: 'Topics waiting for approval' });
    const confirmed = page.getByRole('region', { name: 'Confirmed topics' });
    await page.getByRole('button', { name: `Approve topic ${second}` }).click();
    await confirmed.getByText(second).waitFor();
    await page.getByRole('button', { name: `Reject topic ${OTHER_TOPIC}` }).click();
    await waiting.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: `Remove topic ${TOPIC}` }).click();
    await page.getByRole('button', { name: `Yes, remove topic ${TOPIC}` }).click();
    await confirmed.getByText(TOPIC).waitFor({ state: 'detached' });
    expect(await confirmed.getByText(second).count()).toBe(1);
    expect(complaints).toEqual([]);
    const log = await database.owner.query(
      "select action from admin.audit where project_id = $1 and actor_kind = 'person' order by audit_id",
      [api.project.project_id],
    );
    expect(log.rows.map(({ action }) => action)).toEqual([
      'webhooks.approveTopic',
      'webhooks.rejectTopic',
      'webhooks.removeTopic',
    ]);
  }, 90_000);

  test('an owner rejects all waiting topics when asked twice, and none that came meanwhile', async () => {
    const arns = ['one', 'two', 'three'].map(
      (name) => `arn:aws:sns:us-east-1:123456789012:${name}`,
    );
    for (const arn of arns) await ask(arn);
    const { page, complaints } = await open(await admin.openSession());
    await page.getByRole('button', { name: 'Reject all' }).click();
    await ask(OTHER_TOPIC);
    const sure = page.getByRole('button', { name: 'Yes, reject 3 topics' });
    await takePicture(page, 'reject_topics', 1280);
    await sure.click();
    const waiting = page.getByRole('region', { name: 'Topics waiting for approval' });
    await waiting.getByText(OTHER_TOPIC).waitFor();
    for (const arn of arns) expect(await waiting.getByText(arn).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Reject all' }).count()).toBe(0);
    expect(complaints).toEqual([]);
    const { rows } = await database.owner.query(
      'select actor_kind, action from admin.audit where project_id = $1',
      [api.project.project_id],
    );
    expect(rows).toEqual([{ actor_kind: 'person', action: 'webhooks.rejectTopics' }]);
  }, 60_000);

  test('an editor sees topics and is told that an owner decides', async () => {
    await ask(OTHER_TOPIC);
    const { project_id: projectId } = api.project;
    const editor = await makePerson(database, { projectId, role: 'editor' });
    const { page } = await open(editor.cookie);
    await page.getByText('ask an owner to approve or reject this topic').waitFor();
    expect(await page.getByRole('button', { name: /topic/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Set up Mailgun' }).click();
    await page.getByText('ask an owner to set the signing key').waitFor();
  }, 60_000);
});
