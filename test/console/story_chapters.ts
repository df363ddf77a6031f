// What somebody does in the Console from their first sign-in on, chapter by chapter: story.test.ts tells the whole.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  distrustAuthority,
  makeCertificate,
  trustAuthority,
} from '../../src/runtime/certificate.ts';
import type { CaughtMail } from '../../src/runtime/mail_catcher/mailbox.ts';
import { startMailCatcher } from '../../src/runtime/mail_catcher/mail_catcher.ts';
import type { MailCatcher } from '../../src/runtime/mail_catcher/mail_catcher.ts';
import { OWNER } from '../support/admin.ts';
import { addAfter } from './graph_hands.ts';
import { shown } from './in_browser.ts';

const ACCOUNT = { username: 'trunkline', password: 'local only' };
const MAIL_WAIT_MS = 20_000;

export type Catcher = { now: MailCatcher; wait: () => Promise<CaughtMail[]> };

/** The local mail catcher, as `make start` brings it, trusted by this process. */
export const testCatcher = (): Catcher => {
  const catcher = {} as Catcher;
  let ca = '';
  beforeAll(async () => {
    const certificate = await makeCertificate(['localhost', '127.0.0.1']);
    ca = certificate.ca;
    trustAuthority(ca);
    catcher.now = await startMailCatcher({ smtpPort: 0, httpPort: 0, ...ACCOUNT, certificate });
  });
  afterAll(async () => {
    await catcher.now.close();
    distrustAuthority(ca);
  });
  catcher.wait = async () => {
    const answer = await fetch(`${catcher.now.url}/messages?wait_ms=${MAIL_WAIT_MS}`);
    return (await answer.json()) as CaughtMail[];
  };
  return catcher;
};

/** Goes to a page by the navigation. */
export const goTo = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
};

/** Connects the project to the mail catcher, in the form. */
export const addProvider = async (page: Page, { smtpPort }: MailCatcher): Promise<void> => {
  await goTo(page, 'Email providers');
  await page.getByText('No provider is connected yet').waitFor();
  await page.getByRole('link', { name: 'Add provider' }).click();
  await page.getByRole('radio', { name: 'SMTP', exact: true }).waitFor();
  for (const [label, value] of [
    ['Name', 'Mail catcher'],
    ['From address', 'hello@shop.test'],
    ['Host', '127.0.0.1'],
    ['Port', String(smtpPort)],
    ['User name', ACCOUNT.username],
    ['Password', ACCOUNT.password],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole('button', { name: 'Try and save' }).click();
  await page.getByRole('heading', { name: 'Mail catcher' }).waitFor();
  await page.getByText('In use').waitFor();
};

/** Writes a template as somebody does who keeps the body that is proposed. */
export const writeTemplate = async (page: Page, name: string, subject: string): Promise<void> => {
  await goTo(page, 'Templates');
  await page.getByRole('link', { name: 'New template' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Subject').fill(subject);
  await page.frameLocator('iframe[title="The mail"]').getByText('Hello first name').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.getByText('Version 1').waitFor();
};

const chooseTemplate = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('combobox', { name: 'Template' }).click();
  await page.getByRole('option', { name, exact: true }).click();
};

/** Builds a welcome of two mails, a day between them, in the graph. */
export const buildAutomation = async (page: Page): Promise<void> => {
  await goTo(page, 'Automations');
  await page.getByText('No automation yet').waitFor();
  await page.getByRole('link', { name: 'New automation' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Welcome series');
  await page.getByRole('combobox', { name: 'Event' }).fill('user_signed_up');
  await addAfter(page, 'the trigger', 'Send a mail');
  await chooseTemplate(page, 'Welcome');
  await addAfter(page, 'mail', 'So many hours or days');
  await addAfter(page, 'delay', 'Send a mail');
  await chooseTemplate(page, 'First steps');
  await page.getByText('Nothing is wrong').waitFor();
  await page.getByRole('button', { name: 'Save as a draft' }).click();
  await page.getByRole('heading', { level: 1, name: 'Welcome series' }).waitFor();
};

/** Looks what it would have done with the one who signed up before, then switches it on. */
export const simulateAndActivate = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Simulate' }).click();
  await page.getByRole('button', { name: 'Simulate' }).last().click();
  await page.getByText('1 would enter').waitFor();
  await page.locator('[data-step="mail"]').getByText('1 would come, 1 mail').waitFor();
  await page.getByRole('button', { name: 'Activate version 1' }).click();
  await page.getByText('Active', { exact: true }).waitFor();
};

/** The text to put into a page, with the key that somebody pasted. */
export const readSnippet = async (page: Page, key: string): Promise<string> => {
  await goTo(page, 'SDK snippet');
  await page.getByLabel('Your publishable key').fill(key);
  return (await page.getByLabel('Script tag: the text').textContent()) ?? '';
};

/** Follows a run and its mail through the Console. */
export const followMail = async (page: Page): Promise<void> => {
  await goTo(page, 'Automations');
  await page.getByRole('link', { name: 'Welcome series' }).click();
  await page.getByRole('tab', { name: 'People' }).click();
  const run = page.getByRole('row').filter({ hasText: 'ann' });
  await shown(run.getByText('On their way')).waitFor();
  await run.getByRole('button', { name: 'What happened' }).click();
  await page.getByText('The provider took the mail.').waitFor();
  await goTo(page, 'Send log');
  const send = page.getByRole('row').filter({ hasText: 'ann@example.test' });
  await shown(send.getByText('Accepted', { exact: true })).waitFor();
  await send.getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Welcome, Ann' }).waitFor();
  await page.getByText('The provider took it').waitFor();
};

/** What a relay is given, so that it can tell of bounces: the address, and a token that is shown once. */
export const readWebhook = async (page: Page): Promise<{ url: string; token: string }> => {
  await goTo(page, 'Webhooks');
  const generic = page.getByRole('region', { name: 'Any other relay (generic)' });
  await generic.getByRole('button', { name: /^Set up/ }).click();
  const url = (await generic.locator('pre').first().textContent()) ?? '';
  await page.getByRole('button', { name: 'Make a new token' }).click();
  await page.getByRole('dialog').getByLabel('Your password').fill(OWNER.password);
  await page.keyboard.press('Enter');
  const token = (await page.getByRole('status').locator('pre').textContent()) ?? '';
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return { url, token };
};

/** The address that bounced is left alone, and says why. */
export const findSuppressed = async (page: Page): Promise<void> => {
  await goTo(page, 'Suppressions');
  const row = page.getByRole('row').filter({ hasText: 'ann@example.test' });
  await shown(row.getByText('Hard bounce')).waitFor();
  await row.getByRole('link', { name: 'ann@example.test' }).click();
  await page.getByText('Gets no mail').waitFor();
  await goTo(page, 'Send log');
  await page.reload();
  const send = page.getByRole('row').filter({ hasText: 'ann@example.test' });
  await shown(send.getByText('Bounced', { exact: true })).waitFor();
};

/** What the page says that an undo changes, by name. */
export const readPreview = async (page: Page): Promise<Record<string, number>> => {
  await page.getByRole('heading', { name: 'If you undo it' }).waitFor();
  await page.locator('[data-number]').first().waitFor();
  const told = await page
    .locator('[data-number]')
    .evaluateAll((all: { dataset: { number: string }; textContent: string }[]) =>
      all.map(({ dataset, textContent }) => [dataset.number, Number(textContent)] as const),
    );
  expect(told.length).toBeGreaterThan(0);
  return Object.fromEntries(told);
};
