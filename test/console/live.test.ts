// What pages are told as it happens, and how they ask where nobody tells them.
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { streamsOf } from '../../src/admin/streams.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { until } from '../support/until.ts';
import { bringSession, NO_BROWSER, shown, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
// Behind each test, when its page is left: registered before what leaves it, so it runs after that.
afterEach(() => isLookedAt(0));
const chromium = testBrowser();

/** A page as a viewer of the project has it, and what it asks for. */
const open = async (path: string, prepare?: (page: Page) => Promise<unknown>) => {
  const { project_id: projectId } = api.project;
  const { cookie } = await makePerson(database, { projectId, role: 'viewer' });
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, cookie);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await prepare?.(page);
  await page.goto(`${api.url}/console/p/${projectId}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints, asked };
};
const asksFor = (asked: readonly string[], name: string): number =>
  asked.filter((path) => path.includes(name)).length;
const isLookedAt = (count: number) =>
  until(`${count} streams are open`, () => streamsOf(database.deps).count === count);
const happens = (event: string) =>
  api.call('POST', '/v1/events', {
    key: api.project.server_key,
    body: { event, external_id: 'ann' },
  });
const row = (page: Page, text: string) => shown(page.getByText(text, { exact: true })).first();

describe('live pages', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test('the overview is told of events as they come, asks for none, and stops when it is left', async () => {
    await happens('first_came');
    const { page, complaints, asked } = await open('');
    await row(page, 'first_came').waitFor();
    await isLookedAt(1);
    const before = asksFor(asked, 'events.list');
    for (const event of ['second_came', 'third_came']) {
      await happens(event);
      await row(page, event).waitFor();
    }
    expect(asksFor(asked, 'events.list')).toBe(before);
    await page.getByRole('button', { name: 'Pause' }).click();
    await isLookedAt(0);
    await page.getByRole('button', { name: 'Go on' }).click();
    await isLookedAt(1);
    await page.getByRole('link', { name: 'Templates' }).click();
    await page.getByRole('heading', { name: 'Templates' }).waitFor();
    await isLookedAt(0);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('where no stream comes through, the overview asks', async () => {
    const { page, asked } = await open('', (made) =>
      made.route('**/events.latest*', (route) => route.abort()),
    );
    await happens('asked_for');
    await row(page, 'asked_for').waitFor();
    await happens('asked_again');
    await row(page, 'asked_again').waitFor();
    expect(asksFor(asked, 'events.list')).toBeGreaterThan(1);
    expect(streamsOf(database.deps).count).toBe(0);
  }, 60_000);

  test('where nobody answers either, the overview says so until somebody does', async () => {
    const { page } = await open('', (made) =>
      made.route('**/events.latest*', (route) => route.abort()),
    );
    await page.getByText('live', { exact: true }).waitFor();
    await page.route('**/events.list*', (route) => route.abort());
    await page.getByText('no connection; trying again').waitFor();
    await page.unroute('**/events.list*');
    await page.getByText('live', { exact: true }).waitFor();
  }, 60_000);

  test.each(['segments', 'automations'])(
    'a viewer is told that nothing new of theirs is kept: %s',
    async (what) => {
      const { page } = await open(`/${what}/new`);
      await page.getByText('Your role here is viewer: ask an editor to keep what').waitFor();
    },
  );

  test('where a stream breaks, the overview asks until it is back', async () => {
    const { page, asked } = await open('');
    await isLookedAt(1);
    streamsOf(database.deps).close();
    await happens('while_it_was_broken');
    await row(page, 'while_it_was_broken').waitFor();
    await isLookedAt(1);
    await happens('since_it_is_back');
    await row(page, 'since_it_is_back').waitFor();
    expect(asksFor(asked, 'events.latest')).toBe(2);
  }, 60_000);

  test('the send log is told of what is new and of what has changed, as its filter says', async () => {
    const sends = sendsOf(database, api.project.project_id);
    const first = newSend({ recipient: 'first@example.com' });
    await sends.plan(first);
    const { page, complaints, asked } = await open('/sends');
    const log = page.getByRole('row');
    await shown(log.filter({ hasText: 'first@example.com' }).getByText('Queued')).waitFor();
    await isLookedAt(1);
    const before = asksFor(asked, 'sends.list');
    await sends.plan(newSend({ recipient: 'second@example.com' }));
    await log.filter({ hasText: 'second@example.com' }).waitFor();
    await sends.update(first.sendId, `status = 'cancelled'`);
    await shown(log.filter({ hasText: 'first@example.com' }).getByText('Cancelled')).waitFor();
    expect(asksFor(asked, 'sends.list')).toBe(before);
    expect(await log.nth(1).textContent()).toContain('second@example.com');

    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Queued' }).click();
    await log.filter({ hasText: 'first@example.com' }).waitFor({ state: 'detached' });
    await sends.plan(newSend({ recipient: 'third@example.com' }));
    await log.filter({ hasText: 'third@example.com' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a segment is told how far its fill has come, and is whole when that is done', async () => {
    const { body } = await api.call('POST', '/v1/segments', {
      key: api.project.server_key,
      body: {
        name: 'With a plan',
        definition: { version: 1, where: { kind: 'trait', trait: 'plan', test: { is: 'exists' } } },
      },
    });
    const { page, asked } = await open(`/segments/${body.id}`);
    await isLookedAt(1);
    await database.owner.query(
      `update segments.segments set status = 'filling', active_version = 1, filled_to = gen_random_uuid(),
         filling_since = now(), examined_count = 1234 where segment_id = $1`,
      [body.id],
    );
    await page.getByText('1,234 people looked at so far').waitFor();
    await database.owner.query(
      `update segments.segments set status = 'ready', filled_to = null, filling_since = null, filled_at = now()
       where segment_id = $1`,
      [body.id],
    );
    await page.getByText('Kept up to date').waitFor();
    expect(asksFor(asked, 'segments.progress')).toBe(1);
  }, 60_000);
});
