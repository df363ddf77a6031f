// Who asks for access is let in as a viewer: what they, and the administrator, do in their browsers.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { PROOF_HEADER } from '../../src/admin/cookie_names.ts';
import { procedures } from '../admin/role_table.ts';
import type { TestApi } from '../support/api.ts';
import { fillLogin } from './in_browser.ts';
import type { TestBrowser } from './in_browser.ts';

type Here = { api: TestApi; chromium: TestBrowser };

export const ZOE = { email: 'zoe@people.test', password: 'the password of zoe' };

/** Somebody without an account asks to be let in. */
export const requestAccess = async ({ api, chromium }: Here): Promise<void> => {
  const { page, complaints } = await chromium.openPage();
  await page.goto(`${api.url}/console`);
  await page.getByRole('link', { name: 'Request access' }).click();
  await page.getByLabel('E-mail address').fill('no address');
  await page.getByLabel('Your name').fill('Zoe Miller');
  await page.getByLabel('What do you want it for?').fill('The newsletter of our choir');
  await page.getByRole('button', { name: 'Ask for access' }).click();
  await page.getByText('must be one e-mail address').waitFor();
  await page.getByLabel('E-mail address').fill(ZOE.email);
  await page.getByRole('button', { name: 'Ask for access' }).click();
  await page.getByText('Your request is kept').waitFor();
  expect(complaints).toEqual([]);
};

/** An administrator, who is signed in, lets her into the project as a viewer; answers the link that she is given. */
export const approve = async (page: Page): Promise<string> => {
  await page.getByRole('link', { name: 'Installation' }).click();
  const request = page.getByRole('listitem', { name: ZOE.email });
  await request.getByText('The newsletter of our choir').waitFor();
  await request.getByRole('combobox', { name: 'Into' }).click();
  await page.getByRole('option', { name: 'test', exact: true }).click();
  await request.getByRole('combobox', { name: 'As' }).click();
  await page.getByRole('option', { name: 'Viewer' }).click();
  await request.getByRole('button', { name: 'Let them in' }).click();
  const link = (await page.getByRole('status').locator('pre').textContent()) ?? '';
  await page.getByRole('tab', { name: 'Let in' }).click();
  await page.getByRole('listitem', { name: ZOE.email }).getByText('Let into test by').waitFor();
  return link;
};

/** She opens the link, which no request bears, makes her account, and signs in with it. */
export const accept = async (page: Page, link: string): Promise<void> => {
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(link);
  await page.getByText('You are invited to test, as viewer.').waitFor();
  await page.getByLabel('Choose a password').fill(ZOE.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const token = link.split('#')[1] ?? 'none';
  expect(requested.filter((url) => url.split('#')[0]?.includes(token))).toEqual([]);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await fillLogin(page, ZOE.password, ZOE.email);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
};

const places = [
  ['Automations', 'ask an editor to build an automation', 'New automation'],
  ['Templates', 'ask an editor to write a template', 'New template'],
  ['Segments', 'ask an editor to make a segment', 'New segment'],
  ['Suppressions', 'ask an editor to add addresses', 'Add address'],
  ['Email providers', 'ask an editor', 'Add provider'],
  ['Webhooks', 'ask an owner for a new token', 'Make a new token'],
  ['Members', 'ask an owner to invite somebody', 'Invite'],
  ['Keys', 'ask an owner for a key', 'Make a new'],
  ['Audit log', 'ask an owner who changed what', 'Load more'],
] as const;

/** What a viewer finds where others change something: who may, and no button. */
export const lookAround = async (page: Page): Promise<void> => {
  for (const [name, said, button] of places) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByText(`Your role here is viewer: ${said}`).first().waitFor();
    const offered = page.getByRole('button', { name: button });
    expect(await offered.or(page.getByRole('link', { name: button })).count(), name).toBe(0);
  }
  expect(await page.getByRole('link', { name: 'Installation' }).count()).toBe(0);
};

/** What the same browser can change all the same, sending by hand what no button sends. */
export const tryEverything = async (page: Page, { url, project }: TestApi): Promise<string[]> => {
  const changed: string[] = [];
  const proof = (await page.evaluate("localStorage.getItem('trunkline.session_proof')")) as string;
  for (const { name, type, needs = 'admin' } of procedures) {
    // What a viewer may post only reads, by its declaration: test/admin/roles.test.ts.
    if (type !== 'mutation' || ['nobody', 'person', 'viewer'].includes(needs)) continue;
    const answer = await page.request.post(`${url}/admin/trpc/${name}`, {
      data: { projectId: project.project_id },
      headers: { origin: url, [PROOF_HEADER]: proof },
    });
    if (answer.status() !== 403) changed.push(`${name}: ${answer.status()}`);
  }
  return changed;
};
