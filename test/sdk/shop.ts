import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, beforeEach } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { keepBrowserSdk } from '../../src/runtime/browser_sdk_build.ts';
import { NO_BROWSER, testBrowser } from '../console/in_browser.ts';
import { testApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { workOn } from '../support/work_on.ts';
import { testDoor, testSite } from './door.ts';
import type { Door, Site } from './door.ts';

/** An event as it is stored. */
export type Stored = {
  name: string;
  external_id: string | null;
  anonymous_id: string | null;
  properties: Record<string, string | number | boolean>;
  occurred_at: Date;
};

export type Shop = {
  database: TestDatabase;
  api: TestApi;
  door: Door;
  site: Site;
  /** The project of the test that runs. */
  project: NewProject;
  /** A browser that nobody used before, on no page yet. */
  visit: (options?: BrowserContextOptions) => Promise<{ page: Page; complaints: string[] }>;
  /** Shows a page with the script in its head. */
  putPage: (path: string, html?: string, config?: object) => void;
  /** All events of the project, in the order of their arrival. */
  stored: () => Promise<Stored[]>;
  /** Waits for events, by name, until there are so many. */
  storedOf: (name: string, count: number) => Promise<Stored[]>;
  /** Does what a worker does with them. */
  process: () => Promise<void>;
  /** Tags of HTML that configure and load the script. */
  tags: (config?: object) => string;
};

export const BUILD_TIMEOUT_MS = 60_000;
/** Quicker than by default, so that no test waits for it. */
export const QUICK = { flushIntervalMs: 50 };

/** A shop of an origin of its own, whose pages load the SDK and post to the service through a door. */
export const testShop = (): Shop => {
  const database = testDatabase();
  const api = testApi(database);
  const door = testDoor(() => api.url);
  const site = testSite();
  const chromium = testBrowser();
  const shop = { database, api, door, site } as Shop;

  beforeAll(keepBrowserSdk, BUILD_TIMEOUT_MS);
  beforeEach(async ({ skip }) => {
    skip(!chromium.isThere, NO_BROWSER);
    shop.project = await createProject(database.deps, 'shop');
    door.received.length = 0;
    door.decide(() => 'pass');
    door.hold(Promise.resolve());
  });
  shop.visit = (options = {}) => chromium.openFresh(options, 'file');
  shop.tags = (config = {}) => {
    const all = { apiKey: shop.project.publishable_key, ...QUICK, ...config };
    return `<script>window.trunklineConfig = ${JSON.stringify(all)};</script>
      <script src="${door.url}/sdk/trunkline.js"></script>`;
  };
  shop.putPage = (path, html = '', config = {}) =>
    site.put(path, `<!doctype html><title>A shop</title>${shop.tags(config)}<body>${html}`);
  shop.stored = async () => {
    const { rows } = await database.owner.query<Stored>(
      `select name, external_id, anonymous_id, properties, occurred_at from ingest.events
      where project_id = $1 order by event_id`,
      [shop.project.project_id],
    );
    return rows;
  };
  shop.storedOf = (name, count) =>
    until(`${count} × ${name}`, async () => {
      const events = (await shop.stored()).filter((event) => event.name === name);
      return events.length >= count ? events : null;
    });
  shop.process = () => workOn(database, shop.project.project_id);
  return shop;
};

/** What the project's server learns of a person. */
export const profilesBy = async (
  { api, project }: Shop,
  by: 'external_id' | 'anonymous_id',
  value: string,
) => {
  const path = `/v1/profiles?${by}=${encodeURIComponent(value)}`;
  const { body } = await api.call('GET', path, { key: project.server_key });
  return body.items as { id: string; external_id: string | null; traits: object }[];
};

export const timelineOf = async ({ api, project }: Shop, profileId: string): Promise<string[]> => {
  const { body } = await api.call('GET', `/v1/profiles/${profileId}/events`, {
    key: project.server_key,
  });
  return (body.items as { event: string }[]).map(({ event }) => event).toReversed();
};
