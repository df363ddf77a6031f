// The ready automations: each is a folder, is switched on with one command, and mails what it says.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { readFolder } from '../../src/admin/folder/files.ts';
import { applyFolder, exportFolder } from '../../src/admin/folder/folder.ts';
import { automationsThroughApi } from '../automations/through_api.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';

const database = testDatabase();
const { api, ask, happen, pass: passFor } = automationsThroughApi(database);

const READY = join(import.meta.dirname, '..', '..', 'src', 'admin', 'ready');
const apply = (name: string) =>
  inProject(database.deps, api.project.project_id, (scope) =>
    applyFolder(scope, readFolder(join(READY, name)), {
      sender: 'shown@example.com',
      activates: true,
    }),
  );
/** Lets time go by for runs, and so for the dates that they wait for. */
const pass = async (interval: string) => {
  await database.owner.query(
    `update profiles.profiles
    set traits = traits
      || jsonb_build_object('trial_ends_at', (traits ->> 'trial_ends_at')::timestamptz - $2::interval)
    where project_id = $1 and traits ? 'trial_ends_at'`,
    [api.project.project_id, interval],
  );
  await passFor(interval);
};
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
    after: ['12 days', '2 days'],
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

const findId = async (name: string): Promise<string> => {
  const { items } = (await ask('GET', '/v1/automations')).body;
  const wanted = name.replaceAll('_', ' ');
  return items.find((one: { name: string }) => one.name.toLowerCase().replace('-', ' ') === wanted)
    .id;
};
const switchOn = async (name: string): Promise<string> => {
  await apply(name);
  return findId(name);
};
const mailsOf = async (automationId: string) => {
  const { items } = (await ask('GET', `/v1/sends?automation_id=${automationId}`)).body;
  return items.map(({ step_id }: { step_id: string }) => step_id).toReversed();
};

test('every ready automation has a story here', () => {
  expect(readdirSync(READY).toSorted()).toEqual(Object.keys(STORIES).toSorted());
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

describe('a trial of two weeks whose end moves', () => {
  type Story = { before: number; endsIn: number; after: number };
  /** Starts the trial, lets days go by, moves its end, and lets more days go by. Returns the emails of each part. */
  const mailsAround = async ({ before, endsIn, after }: Story) => {
    const id = await switchOn('trial_ending');
    await database.owner.query(
      `update automations.versions set definition = jsonb_set(definition, '{settings,quiet_hours}', 'null')`,
    );
    const ann = { email: 'ann@example.com', first_name: 'Ann' };
    await happen('trial_started', { ...ann, trial_ends_at: daysAhead(14) });
    await pass(`${before} days`);
    const mailedBefore = await mailsOf(id);
    const traits = { trial_ends_at: daysAhead(endsIn) };
    await ask('POST', '/v1/identify', { external_id: 'ann', traits });
    await pass('0');
    await pass(`${after} days`);
    return [mailedBefore, await mailsOf(id)];
  };

  test.each([
    [
      'later: three days before the new end',
      { before: 5, endsIn: 20, after: 18 },
      [[], ['three_days']],
    ],
    [
      'later after the first email: it does not come again',
      { before: 12, endsIn: 10, after: 8 },
      [['three_days'], ['three_days']],
    ],
    [
      'later after the first email: the second comes one day before the new end',
      { before: 12, endsIn: 10, after: 10 },
      [['three_days'], ['three_days', 'last_day']],
    ],
    [
      'so near that only the last day is left',
      { before: 5, endsIn: 2.5, after: 2 },
      [[], ['last_day']],
    ],
    ['into the past: no email', { before: 5, endsIn: -1, after: 14 }, [[], []]],
  ])('%s', async (_where, story, mailed) => {
    expect(await mailsAround(story)).toEqual(mailed);
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

test('switched on twice it is the same automation, and exported it is the same folder', async () => {
  const id = await switchOn('welcome_series');
  const again = await apply('welcome_series');
  expect(again.flatMap(({ changes }) => changes)).toEqual([]);
  expect(await findId('welcome_series')).toBe(id);
  const exported = await inProject(database.deps, api.project.project_id, (scope) =>
    exportFolder(scope, 'Welcome series'),
  );
  expect([...exported.keys()].toSorted()).toEqual([
    ...readFolder(join(READY, 'welcome_series')).keys(),
  ]);
});

describe('the command', () => {
  const run = (...args: string[]) =>
    runCommand('src/runtime/ready.ts', [api.project.project_id, ...args], database.env);

  test('switches one on, and says what it made', async () => {
    const { status, stdout } = run('onboarding_nudge', '');
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining('automations/onboarding_nudge:') as string,
    ]);
    expect(stdout).toContain('version 1 is active');
    const [made] = (await ask('GET', '/v1/automations')).body.items;
    expect(made).toMatchObject({ name: 'Onboarding nudge', status: 'active', active_version: 1 });
  });

  test.each([
    ['one that there is not', ['nothing', ''], 'ready= is one of abandoned_checkout'],
    ['a provider that there is not', ['win_back', 'x@example.com'], 'Say which provider sends'],
  ])('says what is wrong with %s', (_name, args, said) => {
    const { status, stderr } = run(...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining(said)]);
  });
});
