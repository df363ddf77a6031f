// Every page that there is a route to, with data and without: nobody is kept out, nothing sticks out or complains.
// CONSOLE_PICTURES=<folder> has pictures of all of them made.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { cases } from './every_page_cases.ts';
import type { PageCase } from './every_page_cases.ts';
import { lookAt } from './every_page_look.ts';
import { readRoutes } from './every_page_routes.ts';
import { fillProject } from './filled_project.ts';
import type { Params } from './filled_project.ts';
import { bringSession, loaded, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
testWorker(database);
const chromium = testBrowser();

type Visitor = { page: Page; complaints: string[] };
type Who = NonNullable<PageCase['as']> | 'administrator';

let filled: Params;
let fresh: Params;
const visitors = new Map<Who, Visitor>();

/** The browser of somebody: each has one, which goes from page to page. */
const visitorOf = async (who: Who): Promise<Visitor> => {
  const known = visitors.get(who);
  if (known) return known;
  const visitor = await chromium.openFresh({}, 'file');
  if (who === 'administrator') await bringSession(visitor.page, api.url, await admin.openSession());
  if (who === 'newcomer')
    await bringSession(visitor.page, api.url, (await makePerson(database)).cookie);
  visitors.set(who, visitor);
  return visitor;
};

/** The router's own way to another page, by one that there is not: what is there afterwards is of the page alone. */
const goOn = async (page: Page, path: string): Promise<void> => {
  const go = (to: string) => page.evaluate(`history.pushState({}, '', ${JSON.stringify(to)})`);
  const nowhere = page.getByRole('heading', { level: 1, name: 'There is no such page' });
  await go('/console/there/is/nothing');
  await nowhere.waitFor();
  await go(path);
  await nowhere.waitFor({ state: 'detached' });
};

/** Who is in the Console goes on in it, as people do; whoever is outside loads each page. */
const open = async (path: string, { as }: PageCase): Promise<Visitor> => {
  const isInside = visitors.has('administrator') && as === undefined;
  const visitor = await visitorOf(as ?? 'administrator');
  visitor.complaints.length = 0;
  if (isInside) await goOn(visitor.page, `/console${path}`);
  else await visitor.page.goto(`${api.url}/console${path}`);
  return visitor;
};

const fill = (route: string, params: Params): string =>
  route.replaceAll(/\$(\w+)/g, (_, name: string) => params[name] ?? newId());

const routes = readRoutes();
const ofProject = routes.filter((route) => cases[route]?.empty);

test('every route of the Console has its page here', () => {
  expect(routes.length).toBeGreaterThan(30);
  expect(routes.filter((route) => !cases[route])).toEqual([]);
});

describe('every page', () => {
  beforeAll(async () => {
    if (!chromium.isThere) return;
    await keepConsole();
    filled = await fillProject({ database, api, admin });
    const { project_id: projectId } = await createProject(database.deps, 'fresh');
    fresh = { projectId, email: 'nobody@example.test' };
  }, 120_000);
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  afterAll(() => visitors.clear());

  test.each(routes)(
    '%s, filled, keeps nobody out on any screen in any colour',
    async (route) => {
      const one = cases[route];
      if (!one) throw new Error('no such page is known');
      const path = fill(route, filled);
      const { page, complaints } = await open(path, one);
      await one.shows(page).waitFor();
      await lookAt(page, route);
      for (const tab of one.tabs ?? []) {
        await page.getByRole('tab', { name: tab }).click();
        await lookAt(page, `${route} ${tab}`, false);
      }
      for (const query of one.queries ?? []) {
        await open(path + query, one);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await loaded(page);
        await lookAt(page, route + query, false);
      }
      expect(complaints).toEqual([]);
    },
    60_000,
  );

  test.each(ofProject)(
    '%s, where there is nothing yet, says what to do next',
    async (route) => {
      const one = cases[route];
      if (!one?.empty) throw new Error('nothing is said there');
      const { page, complaints } = await open(fill(route, fresh), one);
      await loaded(page);
      const said = () => page.getByRole('main').innerText();
      await expect.poll(said).toMatch(one.empty);
      await lookAt(page, `fresh ${route}`, false);
      expect(complaints).toEqual([]);
    },
    60_000,
  );
});
