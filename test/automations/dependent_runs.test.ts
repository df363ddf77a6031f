// Runs of one person or one mailbox in one claim see each other's effects, as if they were walked one after the other.
import { expect, test } from 'vitest';
import { identify } from '../../src/profiles/identify.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { journeysOf, mail } from './journeys.ts';

const database = testDatabase();
const WAIT = { kind: 'delay' as const, duration: 'P1D' };

test('a run sees the traits that a run before it changed of the same person', async () => {
  const { projectId, activate, tell, advance, pass, select } = journeysOf(database);
  const settings = { re_entry: 'every_time' as const };
  const told = { kind: 'update_profile' as const, traits: { stage: 'done' }, next: null };
  await activate({
    settings,
    entry: 'wait',
    steps: { wait: { ...WAIT, next: 'tell' }, tell: told },
  });
  const look = {
    kind: 'branch' as const,
    branches: [
      {
        when: {
          kind: 'trait' as const,
          trait: 'stage',
          test: { is: 'equals' as const, value: 'done' },
        },
        next: 'yes',
      },
    ],
    otherwise: null,
  };
  const yes = { kind: 'exit' as const };
  await activate(
    { settings, entry: 'wait', steps: { wait: { ...WAIT, next: 'look' }, look, yes } },
    'looks',
  );
  await tell(newEvent({ external_id: 'ann' }));
  await pass('1 day');
  await database.owner.query(
    `update automations.runs as run set wake_at = wake_at - interval '1 hour'
    from automations.automations as automation
    where automation.project_id = $1 and automation.automation_id = run.automation_id and automation.name <> 'looks'`,
    [projectId],
  );
  await advance();
  const outcomes = await select('outcome', 'automations.runs');
  expect(outcomes.map(({ outcome }) => outcome as string).toSorted()).toEqual([
    'completed',
    'exited',
  ]);
});

const signUp = (external_id: string, source: 'browser' | 'server' = 'server') =>
  newEvent({ external_id, source, properties: '{}' });
const decisionsOf = async ({ names }: ReturnType<typeof journeysOf>): Promise<string[]> =>
  (await names()).toSorted();

test('a frequency cap counts the email of a run of the same person in the same claim', async () => {
  const world = journeysOf(database);
  const { projectId, activate, flush, start, advance } = world;
  const cap = { sends: 1, per: 'P1D', of: 'project' as const, over: 'skip' as const };
  for (const name of ['first', 'second', 'third'])
    await activate(
      {
        settings: { re_entry: 'every_time', frequency_cap: cap },
        entry: 'mail',
        steps: { mail: mail() },
      },
      name,
    );
  const caller = { projectId, kind: 'server' as const };
  for (const person of ['ann', 'ben'])
    await identify(database.deps, caller, {
      external_id: person,
      traits: { email: `${person}@example.com` },
    });
  expect(await start(await flush(signUp('ann'), signUp('ben')))).toBe(6);
  await advance();
  expect(await decisionsOf(world)).toEqual([
    ...Array.from({ length: 4 }, () => 'frequency_cap_skipped'),
    ...Array.from({ length: 2 }, () => 'send_queued'),
  ]);
});

test.each([
  ['the cap per recipient', 'server' as const, 3, 'recipient_cap'],
  ['the limit of an unconfirmed address', 'publishable' as const, 1, 'unconfirmed_address'],
])(
  '%s counts the emails to other people of one mailbox in the same claim',
  async (_, kind, max, reason) => {
    const world = journeysOf(database);
    const { projectId, activate, flush, start, advance } = world;
    await activate({
      settings: { re_entry: 'every_time' },
      entry: 'mail',
      steps: { mail: mail() },
    });
    const people = ['ann', 'ben', 'cid', 'dan', 'eve'];
    for (const person of people)
      await identify(
        database.deps,
        { projectId, kind },
        { external_id: person, traits: { email: `box+${person}@example.com` } },
      );
    await start(await flush(...people.map((person) => signUp(person, 'browser'))));
    await advance();
    expect(await decisionsOf(world)).toEqual(
      [
        ...Array.from({ length: people.length - max }, () => reason),
        ...Array.from({ length: max }, () => 'send_queued'),
      ].toSorted(),
    );
  },
);

test('people who share a mailbox only by an address that a step sets share its limits', async () => {
  const world = journeysOf(database);
  const { activate, flush, start, advance } = world;
  const address = {
    kind: 'update_profile' as const,
    traits_from_event: { email: 'email' },
    next: 'mail',
  };
  await activate({
    settings: { re_entry: 'every_time' },
    entry: 'address',
    steps: { address, mail: mail() },
  });
  const properties = JSON.stringify({ email: 'box@example.com' });
  const events = ['ann', 'ben', 'cid'].map((person) => ({
    ...signUp(person, 'browser'),
    properties,
  }));
  await start(await flush(...events));
  await advance();
  expect((await decisionsOf(world)).filter((name) => name !== 'profile_updated')).toEqual([
    'send_queued',
    'unconfirmed_address',
    'unconfirmed_address',
  ]);
});
