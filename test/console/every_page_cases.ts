import type { Locator, Page } from 'playwright-core';
import { shown } from './in_browser.ts';

export type PageCase = {
  /** Who opens it: an administrator, unless said otherwise. */
  as?: 'nobody' | 'newcomer';
  /** What is there when its data are. */
  shows: (page: Page) => Locator;
  /** What it says, and what to do next, where there is nothing yet; null for pages that are the same then. */
  empty: RegExp | null;
  /** The same page with a query, which shows other data. */
  queries?: string[];
  /** Tabs of the page besides the one that is open first. */
  tabs?: string[];
};

const text = (said: string | RegExp) => (page: Page) => shown(page.getByText(said)).first();
const row = (page: Page) => shown(page.getByRole('row')).nth(1);
const field = (label: string) => (page: Page) => page.getByLabel(label, { exact: true }).first();

const outside: Record<string, PageCase> = {
  '/sign-in': { as: 'nobody', shows: field('Password'), empty: null },
  '/request-access': { as: 'nobody', shows: field('Your name'), empty: null },
  '/invitation': { as: 'nobody', shows: text('This invitation is over'), empty: null },
  '/': { as: 'newcomer', shows: text('You are in no project'), empty: null },
  '/account': { shows: text('This session'), empty: null },
  '/people': { shows: text('ann@people.test'), empty: null },
  '/access-requests': {
    shows: text('Dan Miller'),
    empty: null,
    queries: ['?status=approved', '?status=refused'],
  },
};

const main: Record<string, PageCase> = {
  '': {
    shows: (page) => page.getByRole('figure').last(),
    empty: /No event has arrived yet.*Send a first event/s,
    queries: ['?span=month'],
  },
  '/automations': {
    shows: row,
    empty: /No automation yet.*New automation.*begin with a ready one/s,
  },
  '/automations/new': { shows: text('Trigger'), empty: null },
  '/automations/$automationId': {
    shows: (page) => page.locator('[data-step]').nth(1),
    empty: /There is no such automation.*Look for it in the list/s,
    tabs: ['People', 'Versions'],
  },
  '/templates': { shows: row, empty: /No template yet.*New template/s },
  '/templates/new': { shows: field('Subject'), empty: null },
  '/templates/$templateId': {
    shows: field('Subject'),
    empty: /There is no such template.*Look in the list/s,
    tabs: ['Versions'],
  },
  '/segments': { shows: row, empty: /No segment yet.*New segment/s },
  '/segments/new': { shows: text('Add a condition'), empty: null },
  '/segments/$segmentId': {
    shows: text('Add a condition'),
    empty: /There is no such segment.*Look in the list/s,
    tabs: ['Members', 'History', 'Why not?'],
  },
  '/sends': { shows: row, empty: /Nothing was sent yet.*Send a first event/s },
  '/sends/$sendId': {
    shows: text('Hand-offs'),
    empty: /There is no such send.*Look in the send log/s,
  },
  '/profiles': {
    shows: text('Newest people'),
    empty: /Find a person.*Search for/s,
    queries: ['?query=ann', '?query=nobody'],
  },
  '/profiles/$profileId': {
    shows: (page) => page.getByRole('listitem').first(),
    empty: /There is no such profile.*Search for it again/s,
  },
  '/links': { shows: row, empty: /Nobody was linked yet.*call identify/s },
  '/links/$linkId': {
    shows: text('What stays'),
    empty: /There is no such link.*Look for it in the log/s,
  },
  '/suppressions': {
    shows: row,
    empty: /Nobody is suppressed.*webhook/s,
    queries: ['?list=unsubscribed'],
  },
  '/suppressions/$email': {
    shows: text('Gets no mail'),
    empty: /Nobody has said anything about this address/,
  },
};

const settings: Record<string, PageCase> = {
  '/settings/providers': {
    shows: text('hello@shop.test'),
    empty: /No provider is connected yet.*Add provider/s,
  },
  '/settings/providers/new': { shows: field('Host'), empty: null },
  '/settings/providers/$providerId': {
    shows: field('Host'),
    empty: /There is no such provider.*It may have been deleted/s,
    tabs: ['Test message', 'Domain'],
  },
  '/settings/webhooks': { shows: text('Posts refused: 12'), empty: /Nothing has arrived yet/ },
  '/settings/endpoints': {
    shows: text('https://crm.example.com/hooks'),
    empty: /No endpoint yet.*Add the address of a service/s,
  },
  '/alerts': { shows: text('Bounce rate too high'), empty: /No alerts.*add a webhook endpoint/s },
  '/settings/sending-limits': { shows: text('Change limits'), empty: null },
  '/settings/retention': { shows: text('What stays'), empty: null },
  '/settings/sdk': {
    shows: text('Events arrive'),
    empty: /Waiting for your first event.*Open a page/s,
    tabs: ['Module', 'Server', 'Segment'],
  },
  '/settings/members': {
    shows: text('ann@people.test'),
    empty: /Nobody is a member yet.*Invite the first owner/s,
  },
  '/settings/keys': { shows: text('Server keys'), empty: null },
  '/settings/audit': { shows: row, empty: /Nothing was changed yet.*is listed/s },
};

/** Every page of the Console, by its route. A route that is not here fails every_page.test.ts. */
export const cases: Record<string, PageCase> = {
  ...outside,
  ...Object.fromEntries(
    Object.entries({ ...main, ...settings }).map(([path, one]) => [`/p/$projectId${path}`, one]),
  ),
};
