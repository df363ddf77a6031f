// A person and a project's last days in the Console: traits with who said them, and what happened, as it happens.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const chromium = testBrowser();

/** More than a page of a timeline holds. */
const EVENTS = 55;
let cookie: string;
let annsId: string;

const post = async (path: string, body: object) => {
  const answer = await api.call('POST', path, { key: api.project.server_key, body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

const makeAnn = async (): Promise<void> => {
  const events = Array.from({ length: EVENTS }, (_, at) => ({
    event: 'page_viewed',
    external_id: 'ann',
    properties: { number: at },
    occurred_at: new Date(Date.now() - at * 60_000).toISOString(),
  }));
  await post('/v1/events/batch', { events: events.slice(0, 50) });
  await post('/v1/events/batch', { events: events.slice(50) });
  const traits = { email: 'ann@example.com', plan: 'free', shoe_size: 38 };
  await post('/v1/identify', { external_id: 'ann', traits });
  await post('/v1/suppressions', { email: 'ann@example.com' });
  await api.processEvents();
  await post('/v1/identify/alias', { anonymous_id: 'phone', external_id: 'ann' });
  await database.owner.query(
    `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
     select project_id, identity_id, 'plan', '"pro"', now() + interval '1 hour', 'publishable'
     from identity.identities where project_id = $1 and identities.value = 'phone'`,
    [api.project.project_id],
  );
  const { body } = await api.call('GET', '/v1/profiles?external_id=ann', {
    key: api.project.server_key,
  });
  annsId = body.items[0].id;
};

const open = async (path: string) => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, cookie);
  await page.goto(`${api.url}/console/p/${api.project.project_id}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints };
};

type Drawn = { getAttribute: (name: string) => string | null };

describe('a person and an overview in a browser', () => {
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async ({ skip }) => {
    skip(!chromium.isThere, NO_BROWSER);
    api.project = await createProject(database.deps, 'known');
    const projectId = api.project.project_id;
    cookie = (await makePerson(database, { projectId, role: 'viewer' })).cookie;
    await makeAnn();
  });

  test('each trait says who was told it, by which key, and what it overrides', async () => {
    const { page, complaints } = await open(`/profiles/${annsId}`);
    const traits = page.getByRole('table', { name: 'Traits' });
    const plan = traits.getByRole('row').filter({ hasText: 'plan' });
    await plan.getByText('told of ann, by a server key').waitFor();
    await traits.getByRole('row', { name: /^shoe_size 38 told of ann, by a server key/ }).waitFor();
    await plan.getByText('overrides 1 other word').press('Enter');
    await plan.getByText('told of the anonymous id phone, by a page').waitFor();
    await page.getByText('Suppressed: gets no mail').waitFor();

    await page.getByRole('link', { name: 'phone', exact: true }).click();
    await page.getByRole('heading', { name: 'Identity links' }).waitFor();
    await page.getByRole('link', { name: 'phone' }).click();
    await page.getByRole('heading', { name: 'phone is ann' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('whoever looks for nobody sees the newest people, and more when asked', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `later-${at}`);
    for (const name of names) await post('/v1/identify', { external_id: name, traits: {} });
    const { page, complaints } = await open('/profiles');
    const section = page.getByRole('region', { name: 'Newest people' });
    await section.waitFor();
    expect(await section.getByRole('link').allInnerTexts()).toEqual(names.toReversed());
    expect(await section.getByText('Since').count()).toBe(names.length);
    await page.getByRole('button', { name: 'Load more' }).click();
    await section.getByRole('link', { name: 'ann' }).click();
    await page.getByRole('heading', { level: 1, name: 'ann' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('of more than ten identifiers the first are shown, and all when asked', async () => {
    const alias = (at: number) =>
      post('/v1/identify/alias', { anonymous_id: `device-${at}`, external_id: 'ann' });
    for (let at = 3; at <= 10; at += 1) await alias(at);
    const { page, complaints } = await open(`/profiles/${annsId}`);
    const rows = page.getByRole('table', { name: 'Identifiers' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(10);
    expect(await page.getByRole('button', { name: 'Show all' }).count()).toBe(0);
    await alias(11);
    await page.reload();
    const whole = page.getByRole('button', { name: 'Show all 11' });
    await whole.waitFor();
    expect(await rows.count()).toBe(10);
    await rows.last().getByText('device-10').waitFor();
    await whole.press('Enter');
    await expect.poll(() => rows.count()).toBe(11);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('an event says its properties; one of ours leads to its mail', async () => {
    const [sendId, automationId] = [newId(), newId()];
    await post('/v1/events', {
      event: 'cart_filled',
      external_id: 'ann',
      properties: { size: 2, kind: 'full' },
    });
    await database.owner.query(
      `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, source, properties)
       values ($1, $2, now(), now(), 'email_sent', 'ann', 'system', $4),
         ($1, $3, now(), now(), 'email_skipped', 'ann', 'system', $5)`,
      [
        api.project.project_id,
        newId(),
        newId(),
        { send_id: sendId, automation_id: automationId, step_id: 'hi' },
        { automation_id: automationId, step_id: 'hi', reason: 'no_address' },
      ],
    );
    const { page, complaints } = await open('/');
    await page.getByText('kind: full · size: 2').waitFor();
    const sent = page.getByRole('listitem').filter({ hasText: 'email_sent' });
    await sent.getByText('step_id: hi', { exact: true }).waitFor();
    expect(await sent.getByRole('link', { name: 'the mail' }).getAttribute('href')).toMatch(
      new RegExp(`/sends/${sendId}$`),
    );
    const skipped = page.getByRole('listitem').filter({ hasText: 'email_skipped' });
    expect(
      await skipped.getByRole('link', { name: 'the automation' }).getAttribute('href'),
    ).toMatch(new RegExp(`/automations/${automationId}$`));
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a timeline is read page by page, each event once', async () => {
    const { page } = await open(`/profiles/${annsId}`);
    const entries = page.getByRole('listitem').filter({ hasText: 'page_viewed' });
    await page.getByRole('button', { name: 'Load more' }).press('Enter');
    await expect.poll(() => entries.count()).toBe(EVENTS);
    const texts = await entries.allTextContents();
    expect(new Set(texts).size).toBe(EVENTS);
  }, 60_000);

  test('an overview shows a day, a week or a month, and its address says which', async () => {
    const { page, complaints } = await open('/');
    const chart = (count: number) =>
      page.getByRole('figure', { name: `Events over time: ${count} in all` });
    await chart(EVENTS).waitFor();
    await page.getByText('one bar for each').waitFor();
    // Each number of the scale has its line.
    const levels = (part: string, name: string) =>
      chart(EVENTS)
        .locator(part)
        .evaluateAll((all: Drawn[], at) => all.map((one) => one.getAttribute(at)), name);
    await expect.poll(() => levels('.recharts-yAxis-tick-labels text', 'y')).toHaveLength(5);
    expect(await levels('.recharts-cartesian-grid-horizontal line', 'y1')).toEqual(
      await levels('.recharts-yAxis-tick-labels text', 'y'),
    );
    await page.getByText('30 days', { exact: true }).click();
    await page.getByText('a bar is a day of UTC').waitFor();
    await chart(EVENTS).waitFor();
    for (const name of ['Mails accepted', 'Bounces', 'Complaints'])
      await page.getByRole('figure', { name: `${name} over time: 0 in all` }).waitFor();
    await page.reload();
    await page.getByText('a bar is a day of UTC').waitFor();
    await page.getByRole('radio', { name: '30 days' }).press('ArrowLeft');
    await page.getByText('a bar is 6 hours').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('events arrive by themselves until somebody pauses them', async () => {
    const { page } = await open('/');
    const arrived = page.getByRole('listitem').filter({ hasText: 'cart_filled' });
    await post('/v1/events', { event: 'cart_filled', external_id: 'ann' });
    await arrived.waitFor();
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    await page.getByText('paused', { exact: true }).waitFor();
    await post('/v1/events', { event: 'cart_emptied', external_id: 'ann' });
    // The overview counts the event meanwhile, which would have been listed long before.
    await expect
      .poll(() => page.locator('[data-number="events"]').textContent(), { timeout: 30_000 })
      .toBe(String(EVENTS + 2));
    const emptied = page.getByRole('listitem').filter({ hasText: 'cart_emptied' });
    expect(await emptied.count()).toBe(0);
    await page.getByRole('button', { name: 'Go on' }).press('Enter');
    await emptied.waitFor();
  }, 60_000);
});
