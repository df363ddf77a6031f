// What a busy project sees of its events: that there are more than were counted.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { OVERVIEW_SPANS } from '../../src/admin/overview.ts';
import { firstIdAt } from '../../src/base/ids.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { COLOURS, expectAccessible } from './axe.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();
const MAX = OVERVIEW_SPANS.day.rowsMax;

beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
beforeAll(async () => {
  if (!chromium.isThere) return;
  await keepConsole();
  const first = firstIdAt(new Date()).slice(0, 24);
  await database.owner.query(
    `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, source)
     select $1, ($2 || lpad(to_hex(at), 12, '0'))::uuid, now(), now(), 'made', 'ann', 'server'
     from generate_series(1, $3::int) as at`,
    [api.project.project_id, first, MAX + 1],
  );
}, 60_000);

test.each(['light', 'dark'] as const)(
  'of which there are more is said, and can be read, %s',
  async (colorScheme) => {
    const { page, complaints } = await chromium.openPage();
    await page.emulateMedia({ colorScheme });
    await bringSession(page, api.url, await admin.openSession());
    await page.goto(`${api.url}/console/p/${api.project.project_id}`);
    await page.getByText('Events, over').waitFor();
    expect(await page.locator('[data-number="events"]').textContent()).toBe(
      MAX.toLocaleString('en-US'),
    );
    await page.getByText('Mails accepted', { exact: true }).first().waitFor();
    await page.getByText('only its newest events are counted here').waitFor();
    await expectAccessible(page, `a busy overview, ${colorScheme}`, { rules: COLOURS });
    expect(complaints).toEqual([]);
  },
);
