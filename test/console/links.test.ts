// Identity links in the Console: found, read, previewed, undone; what the preview says is what the database then holds.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createActive } from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { BROWSER_LINKS_A_DAY_MAX } from '../../src/identity/identity.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const chromium = testBrowser();

const EVENTS = 3;
let editor: SignedInPerson;
let linkId: string;

const post = async (path: string, body: object) => {
  const answer = await api.call('POST', path, { key: api.project.server_key, body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const get = async (path: string) =>
  (await api.call('GET', path, { key: api.project.server_key })).body;

/** Ann with a phone that is somebody else's: it was told things of its own, and is on its way through an automation. */
const makeAnn = async (): Promise<void> => {
  await inProject(database.deps, api.project.project_id, (scope) =>
    createActive(scope, 'Patient', {
      trigger: { kind: 'event', event: 'cart_filled', where: [] },
      settings: { re_entry: 'every_time' },
      entry: 'wait',
      steps: { wait: { kind: 'delay', duration: 'P1D', next: null } },
    }),
  );
  for (let count = 0; count < EVENTS; count += 1)
    await post('/v1/events', { event: 'cart_filled', anonymous_id: 'phone' });
  const traits = { email: 'ann@example.com', plan: 'free', city: 'Bern' };
  await post('/v1/identify', { external_id: 'ann', traits });
  await post('/v1/suppressions', { email: 'ann@example.com' });
  await api.processEvents();
  await database.owner.query(
    `insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
     select project_id, identity_id, told.key, told.value, now() + interval '1 hour', 'server'
     from identity.identities, jsonb_each('{"plan": "pro", "seats": 3}') as told
     where project_id = $1 and kind = 'anonymous' and identities.value = 'phone'`,
    [api.project.project_id],
  );
  const alias = { anonymous_id: 'phone', external_id: 'ann' };
  linkId = (await post('/v1/identify/alias', alias)).link.id;
  await post('/v1/identify/alias', { anonymous_id: 'laptop', external_id: 'ann' });
  await api.call('POST', '/v1/identify/alias', {
    key: api.project.server_key,
    body: { ...alias, external_id: 'bob' },
  });
};

const openAs = async ({ cookie }: SignedInPerson, path: string) => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, cookie);
  await page.goto(`${api.url}/console/p/${api.project.project_id}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints };
};

const numberIn = (page: Page, name: string): Promise<string | null> =>
  page.locator(`[data-number="${name}"]`).textContent();

const choose = async (page: Page, label: string, option: string): Promise<void> => {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
};

describe('identity links in a browser', () => {
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async ({ skip }) => {
    skip(!chromium.isThere, NO_BROWSER);
    api.project = await createProject(database.deps, 'linked');
    const projectId = api.project.project_id;
    editor = await makePerson(database, { projectId, role: 'editor' });
  });

  test('links are found by identifier, state, source and day', async () => {
    await makeAnn();
    const { page, complaints } = await openAs(editor, '/');
    await page.getByRole('link', { name: 'Identity links' }).click();
    const rows = page.getByRole('row').filter({ has: page.getByRole('link') });
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole('searchbox').fill('phone');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(2);
    await choose(page, 'State', 'Refused');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('link', { name: 'bob' }).waitFor();
    await choose(page, 'Asked by', 'identify');
    await page.getByText('No link matches').waitFor();

    // The address holds the filter: it can be sent to somebody.
    await page.reload();
    await page.getByText('No link matches').waitFor();
    await page.goto(page.url().replace(/\?.*/, '?until=2020-01-01'));
    await page.getByText('No link matches').waitFor();
    await page.getByLabel('Until').fill('');
    await expect.poll(() => rows.count()).toBe(3);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('an undo says before what it does, is asked for twice, and does just that', async () => {
    await makeAnn();
    const { page, complaints } = await openAs(editor, '/links?identifier=phone&status=active');
    await page.getByRole('link', { name: 'phone' }).press('Enter');
    await page.getByRole('heading', { name: 'phone is ann' }).waitFor();
    expect(await numberIn(page, 'events')).toBe(String(EVENTS));
    expect(await numberIn(page, 'leaving')).toBe('1');
    expect(await numberIn(page, 'traits')).toBe('2');
    expect(await numberIn(page, 'runs')).toBe(String(EVENTS));
    const keeps = page.getByRole('table', { name: 'ann keeps' });
    await keeps.getByRole('row', { name: /^plan pro.*phone.*free.*ann/ }).waitFor();
    await keeps.getByRole('row', { name: /^seats 3.*none/ }).waitFor();
    await page.getByText('ann@example.com stays left alone: by hand.').waitFor();

    await page.getByRole('button', { name: 'Undo this link' }).press('Enter');
    await page.getByRole('button', { name: 'Keep it' }).click();
    expect((await get(`/v1/identity-links/${linkId}`)).status).toBe('active');
    await page.getByRole('button', { name: 'Undo this link' }).press('Enter');
    await page.getByRole('button', { name: 'Yes, undo this link' }).press('Enter');
    await page.getByRole('status').getByText('The link is undone').waitFor();
    await page.getByRole('heading', { name: 'What was undone' }).waitFor();
    expect(await numberIn(page, 'events')).toBe(String(EVENTS));

    const [phone] = (await get('/v1/profiles?anonymous_id=phone')).items;
    const [ann] = (await get('/v1/profiles?external_id=ann')).items;
    expect(phone.traits).toEqual({ plan: 'pro', seats: 3 });
    expect(ann.traits).toEqual({ email: 'ann@example.com', plan: 'free', city: 'Bern' });
    expect((await get(`/v1/profiles/${phone.id}/events`)).items).toHaveLength(EVENTS);
    expect(ann.suppressed).toBe(true);

    await page.getByRole('link', { name: 'phone', exact: true }).click();
    await page.getByRole('heading', { name: 'phone', exact: true }).waitFor();
    await page.goBack();
    await page.getByText('in the Console').waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    const { rows } = await database.owner.query(
      `select actor_id, targets from admin.audit where project_id = $1 and action = 'links.undo'`,
      [api.project.project_id],
    );
    expect(rows).toEqual([{ actor_id: editor.personId, targets: { link_id: linkId } }]);
    expect(complaints).toEqual([]);
  }, 60_000);

  test.each([1280, 360])(
    'at %i px the undo is where one saw it when what it does comes later',
    async (width) => {
      await makeAnn();
      const { page, complaints } = await chromium.openPage(width);
      const { promise: isAsked, resolve: letThrough } = Promise.withResolvers<void>();
      await page.route(/links\.preview/, async (route) => {
        await isAsked;
        await route.continue();
      });
      await bringSession(page, api.url, editor.cookie);
      await page.goto(`${api.url}/console/p/${api.project.project_id}/links/${linkId}`);
      const undo = page.getByRole('button', { name: 'Undo this link' });
      await undo.waitFor();
      const before = await undo.boundingBox();
      letThrough();
      await page.locator('[data-number="leaving"]').waitFor();
      expect(before).not.toBeNull();
      expect(await undo.boundingBox()).toEqual(before);
      expect(complaints).toEqual([]);
    },
    60_000,
  );

  test('a link of a server leads to the one of a browser that it replaced, and its undo brings that back', async () => {
    await post('/v1/identify', { external_id: 'ann', traits: { email: 'ann@example.com' } });
    await post('/v1/identify', { external_id: 'mallory', traits: { city: 'Bern' } });
    const pair = { anonymous_id: 'tablet', external_id: 'mallory' };
    const byBrowser = { key: api.project.publishable_key, body: pair };
    await api.call('POST', '/v1/identify', byBrowser);
    const { link } = await post('/v1/identify/alias', { ...pair, external_id: 'ann' });
    const { page, complaints } = await openAs(editor, `/links/${link.id}`);
    await page.getByRole('link', { name: 'the link that a browser had made' }).click();
    await page.getByRole('heading', { name: 'tablet and mallory' }).waitFor();
    await page.getByText('because a server linked the anonymous id to another person').waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await page.getByRole('link', { name: 'the link of a server' }).click();
    await page.getByRole('heading', { name: 'tablet is ann' }).waitFor();
    expect(await numberIn(page, 'leaving')).toBe('1');
    const returns = page.getByRole('region', { name: 'tablet returns to mallory' });
    await returns.getByText('anonymous tablet').waitFor();
    await returns.getByText('mallory', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo this link' }).press('Enter');
    await page.getByRole('button', { name: 'Yes, undo this link' }).press('Enter');
    await page.getByRole('status').getByText('tablet belongs to mallory again.').waitFor();
    const [mallory] = (await get('/v1/profiles?anonymous_id=tablet')).items;
    expect(mallory.external_id).toBe('mallory');
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a link past the limit of browsers says so', async () => {
    for (let count = 0; count <= BROWSER_LINKS_A_DAY_MAX; count += 1)
      await api.call('POST', '/v1/identify', {
        key: api.project.publishable_key,
        body: { anonymous_id: `device-${count}`, external_id: 'ann' },
      });
    const { page } = await openAs(editor, '/links?status=refused');
    await page.getByRole('link', { name: 'ann' }).click();
    await page.getByText('Browsers reached the limit of anonymous ids').waitFor();
  }, 60_000);

  test('a viewer sees what an undo would do, and whom to ask for it', async () => {
    await makeAnn();
    const projectId = api.project.project_id;
    const viewer = await makePerson(database, { projectId, role: 'viewer' });
    const { page } = await openAs(viewer, `/links/${linkId}`);
    await page.getByRole('heading', { name: 'If you undo it' }).waitFor();
    await page.getByText('ask an editor to undo it').waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  }, 60_000);

  test('a refused link says why, and there is nothing to undo', async () => {
    await makeAnn();
    const { page } = await openAs(editor, '/links?status=refused');
    await page.getByRole('link', { name: 'bob' }).click();
    await page.getByText('belonged to another person already').waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await page.goto(`${api.url}/console/p/${api.project.project_id}/links/${editor.personId}`);
    await page.getByText('There is no such link').waitFor();
  }, 60_000);
});
