// Automations as files: exported, compared, applied; and the ready ones, each on its way.
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import {
  activateApplied,
  applyFile,
  AutomationFile,
  exportFile,
} from '../../src/runtime/automation_file.ts';
import { listChanges } from '../../src/runtime/list_changes.ts';
import { createProject } from '../../src/projects/projects.ts';
import { automationsThroughApi } from '../automations/through_api.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';

const database = testDatabase();
const { api, ask, happen, pass } = automationsThroughApi(database);

const READY = join(import.meta.dirname, '..', '..', 'src', 'runtime', 'ready');
const ready = (name: string) =>
  AutomationFile.parse(JSON.parse(readFileSync(join(READY, `${name}.json`), 'utf8')));
const within = <T>(work: (scope: Scope) => Promise<T>) =>
  inProject(database.deps, api.project.project_id, work);
const apply = (file: AutomationFile, sender?: string) =>
  within((scope) => applyFile(scope, file, sender));
const daysAhead = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** What somebody goes through in each ready automation, and which mails that makes. */
const STORIES: Record<
  string,
  { begin: [string, object?]; after: (string | [string])[]; mails: string[] }
> = {
  welcome_series: {
    begin: ['user_signed_up'],
    after: ['2 days', '1 day', '5 days', '1 day'],
    mails: ['welcome', 'tips', 'check_in'],
  },
  trial_ending: {
    begin: ['trial_started', { trial_ends_at: daysAhead(14) }],
    after: ['12 days', '14 days'],
    mails: ['three_days', 'last_day'],
  },
  abandoned_checkout: {
    begin: ['checkout_started'],
    after: ['1 hour', '1 day'],
    mails: ['reminder', 'last_call'],
  },
  win_back: {
    begin: ['order_placed'],
    after: ['60 days', '14 days'],
    mails: ['we_miss_you', 'offer'],
  },
  onboarding_nudge: {
    begin: ['user_signed_up'],
    after: ['3 days', ['project_created']],
    mails: ['nudge', 'well_done'],
  },
};

const switchOn = async (name: string) => {
  const applied = await apply(ready(name), 'shown@example.com');
  await within((scope) => activateApplied(scope, applied));
  return applied.automationId;
};
const mailsOf = async (automationId: string) => {
  const { items } = (await ask('GET', `/v1/sends?automation_id=${automationId}`)).body;
  return items.map(({ step_id }: { step_id: string }) => step_id).toReversed();
};

test('every ready automation has a story here', () => {
  const names = globSync('*.json', { cwd: READY }).map((file) => basename(file, '.json'));
  expect(names.toSorted()).toEqual(Object.keys(STORIES).toSorted());
});

describe.each(Object.entries(STORIES))('%s', (name, { begin, after, mails }) => {
  test('is switched on with one command, and mails what it says', async () => {
    const id = await switchOn(name);
    // Whoever has the night now would wait for the morning.
    await database.owner.query(
      `update automations.versions set definition = jsonb_set(definition, '{settings,quiet_hours}', 'null')`,
    );
    const [event, properties = {}] = begin;
    await happen(event, { email: 'ann@example.com', first_name: 'Ann', ...properties });
    for (const step of after) await (typeof step === 'string' ? pass(step) : happen(step[0]));
    expect(await mailsOf(id)).toEqual(mails);
  });
});

test('who reaches the goal gets no more', async () => {
  const id = await switchOn('abandoned_checkout');
  await happen('checkout_started', { email: 'ann@example.com' });
  await pass('1 hour');
  await happen('order_placed');
  await pass('1 day');
  expect(await mailsOf(id)).toEqual(['reminder']);
});

describe('a file', () => {
  test('applied twice changes nothing the second time', async () => {
    const first = await apply(ready('welcome_series'));
    expect(first.changes.length).toBeGreaterThan(10);
    expect(await apply(ready('welcome_series'))).toEqual({
      automationId: first.automationId,
      version: 1,
      changes: [],
    });
  });

  test('that was exported makes the same automation in another project, and nothing here', async () => {
    const { automationId } = await apply(ready('onboarding_nudge'));
    const exported = await within((scope) => exportFile(scope, automationId));
    const file = AutomationFile.parse(JSON.parse(JSON.stringify(exported)));
    expect(JSON.stringify(file)).not.toMatch(/[\da-f]{8}-[\da-f]{4}-7/);
    expect(await apply(file)).toMatchObject({ version: 1, changes: [] });
    const { project_id } = await createProject(database.deps, 'other');
    const elsewhere = inProject(database.deps, project_id, (scope) => applyFile(scope, file));
    await expect(elsewhere).rejects.toThrow('Say which provider sends');
  });

  test('with a change is the next version, and says what is different', async () => {
    await apply(ready('welcome_series'));
    const file = ready('welcome_series');
    Object.assign(file.definition.steps['two_days'] ?? {}, { duration: 'P3D' });
    expect(await apply(file)).toMatchObject({
      version: 2,
      changes: ['- /steps/two_days/duration "P2D"', '+ /steps/two_days/duration "P3D"'],
    });
    const template = file.templates['tips'];
    if (template) template.subject = 'Four things worth knowing';
    expect(await apply(file)).toMatchObject({
      version: 3,
      changes: ['- /steps/tips/template_version 1', '+ /steps/tips/template_version 2'],
    });
  });

  test('of an older version than there is now is refused', async () => {
    const { automationId } = await apply(ready('welcome_series'));
    const exported = await within((scope) => exportFile(scope, automationId));
    const old = AutomationFile.parse(JSON.parse(JSON.stringify(exported)));
    const file = ready('welcome_series');
    Object.assign(file.definition.steps['two_days'] ?? {}, { duration: 'P3D' });
    await apply(file);
    await expect(apply(old)).rejects.toThrow('export it again');
  });
});

test('changes are told leaf by leaf: what went, and what came', () => {
  const from = { a: 1, b: { c: [1, 2] }, d: 'x' };
  const to = { a: 1, b: { c: [1, 3, 4] }, e: {} };
  expect(listChanges(from, to)).toEqual([
    '- /b/c/1 2',
    '+ /b/c/1 3',
    '+ /b/c/2 4',
    '- /d "x"',
    '+ /e {}',
  ]);
  expect(listChanges(from, structuredClone(from))).toEqual([]);
});

describe('the command', () => {
  const run = (...args: string[]) =>
    runCommand('src/runtime/automation.ts', [api.project.project_id, ...args], database.env);
  const folder = mkdtempSync(join(tmpdir(), 'automations-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('switches a ready automation on, exports it, and applies nothing unless it is meant', async () => {
    expect(run('ready', 'onboarding_nudge', '')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Onboarding nudge: version 1 is active') as string,
    });
    const exported = run('export', 'Onboarding nudge').stdout;
    const path = join(folder, 'nudge.json');
    writeFileSync(path, exported.replace('P3D', 'P2D'));
    const looked = run('apply', path, '', '');
    expect(looked.stdout).toContain('- /steps/first_project/timeout "P3D"');
    expect(looked.stdout).toContain('Nothing was changed. Say go=yes to do it.');
    const read = async () => (await ask('GET', '/v1/automations')).body.items[0];
    expect(await read()).toMatchObject({ latest_version: 1, status: 'active' });
    expect(run('apply', path, '', 'yes').status).toBe(0);
    expect(await read()).toMatchObject({ latest_version: 2, active_version: 2 });
    writeFileSync(path, exported.replace('P3D', 'P4D'));
    expect(run('apply', path, '', 'yes').stderr).toContain('export it again');
  });

  test.each([
    ['a ready automation that there is not', ['ready', 'nothing', ''], 'ready= is one of'],
    ['a file that there is not', ['apply', '/nowhere.json', '', ''], 'ENOENT'],
    ['an automation that there is not', ['export', 'Nobody'], 'no such automation'],
    ['another verb', ['remove'], 'export, apply or ready'],
  ])('says what is wrong with %s', (_name, args, said) => {
    const { status, stderr } = run(...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining(said)]);
  });
});
