// What a webhook step tells an endpoint of a person: which address and traits only a browser asserted, and beside an
// address that no server confirmed nothing that an email to it would not show.
import { expect, test } from 'vitest';
import { startNextPeople, startScheduled } from '../../src/automations/automations.ts';
import { identify } from '../../src/profiles/identify.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { endpointWorlds } from './with_endpoint.ts';
import { onPlan } from './with_segments.ts';

const database = testDatabase();
const { sink, world } = endpointWorlds(database);

const PHONE = '+49 151 5550001';
const EVIL = 'evil@attacker.test';
const DEVICE = 'attackers-browser';

type Data = { person: Record<string, unknown>; trigger: Record<string, unknown> };
/** What the endpoint was told last. */
const told = async (): Promise<Data> => {
  while (await world.call());
  const request = sink.requests.at(-1);
  if (!request) throw new Error('no endpoint was called');
  return (JSON.parse(request.body.toString()) as { data: Data }).data;
};
const say = async (kind: 'server' | 'publishable', traits: object, anonymous_id?: string) => {
  const caller = { projectId: world.projectId, kind };
  const who = anonymous_id === undefined ? {} : { anonymous_id };
  await identify(database.deps, caller, { external_id: 'ann', ...who, traits } as never);
  await workOn(database, world.projectId);
};
const happen = async (source: 'server' | 'browser', properties: object, device?: string) => {
  const key_kind = source === 'server' ? 'server' : 'publishable';
  const from = { source, key_kind, anonymous_id: device ?? null } as const;
  const name = 'trial_started';
  await world.flush(newEvent({ name, ...from, properties: JSON.stringify(properties) }));
  await workOn(database, world.projectId);
  await world.work();
};

test('attack: beside an address that a browser asserted for a known user id stand no traits of a server', async () => {
  await world.live();
  await say('server', { first_name: 'Ann', phone: PHONE, vip: true });
  await say('publishable', { email: EVIL, first_name: 'Mallory' }, DEVICE);
  await happen('server', { invoice: 'INV-1' });
  const { person, trigger } = await told();
  expect(person).toEqual({
    id: expect.any(String),
    external_id: 'ann',
    email: EVIL,
    email_confirmed: false,
    traits: { email: EVIL, first_name: 'Mallory' },
    browser_asserted: ['email', 'first_name'],
    tags: [],
  });
  expect(trigger).toMatchObject({ event: 'trial_started', source: 'server', properties: {} });
  expect(sink.requests.at(-1)?.body.toString()).not.toMatch(/5550001|INV-1|Ann"/);
});

test('an event of the same browser is told with its properties, and that a browser sent it', async () => {
  await world.live();
  await say('publishable', { email: EVIL }, DEVICE);
  await happen('browser', { plan: 'pro' }, DEVICE);
  expect((await told()).trigger).toMatchObject({ source: 'browser', properties: { plan: 'pro' } });
  await happen('browser', { plan: 'free' }, 'another-browser');
  expect((await told()).trigger).toMatchObject({ source: 'browser', properties: {} });
});

test('once a server confirms the address the call has everything, and marks what only a browser asserted', async () => {
  await world.live();
  await say('publishable', { email: EVIL, first_name: 'Ann' }, DEVICE);
  await say('server', { email: 'ann@example.com', phone: PHONE });
  await happen('server', { invoice: 'INV-1' });
  const { person, trigger } = await told();
  expect(person).toMatchObject({
    email: 'ann@example.com',
    email_confirmed: true,
    traits: { email: 'ann@example.com', first_name: 'Ann', phone: PHONE },
    browser_asserted: ['first_name'],
  });
  expect(trigger).toMatchObject({ source: 'server', properties: { invoice: 'INV-1' } });
});

test('a person without an address has nothing to confirm, and is told whole', async () => {
  await world.live();
  await say('server', { phone: PHONE });
  await happen('server', { invoice: 'INV-1' });
  const { person, trigger } = await told();
  expect(person).toMatchObject({ email: null, email_confirmed: null, traits: { phone: PHONE } });
  expect(person['browser_asserted']).toEqual([]);
  expect(trigger['properties']).toEqual({ invoice: 'INV-1' });
});

test('tags are told of a confirmed address only', async () => {
  await world.live();
  await say('server', { email: 'ann@example.com' });
  await database.owner.query(`update profiles.profiles set tags = '{soft_bounced}'`);
  await happen('server', {});
  expect((await told()).person['tags']).toEqual(['soft_bounced']);
  const { projectId } = world;
  await database.owner.query(
    `update profiles.traits set authority = 'publishable' where project_id = $1`,
    [projectId],
  );
  await happen('server', {});
  expect((await told()).person).toMatchObject({ email_confirmed: false, tags: [] });
});

test('of a run that an entry into a segment began, who caused the entry is the source', async () => {
  const pro = await world.segment(onPlan('pro'));
  await world.live({}, { kind: 'segment_entered', segment_id: pro });
  await say('server', { known: true });
  await world.work();
  await say('publishable', { plan: 'pro' }, DEVICE);
  await world.work();
  expect((await told()).trigger).toMatchObject({ kind: 'segment_entered', source: 'browser' });
});

test('of a run that a schedule began, the trigger says so', async () => {
  const pro = await world.segment(onPlan('pro'));
  await say('server', { plan: 'pro' });
  await world.work();
  await world.live({}, { kind: 'schedule', segment_id: pro, start: '2099-01-01T09:00' });
  await database.owner.query(
    "update automations.schedules set next_at = now() - interval '1 s' where project_id = $1",
    [world.projectId],
  );
  const { startId } = await world.within(startScheduled);
  await world.within((scope) => startNextPeople(scope, startId ?? ''));
  await world.work();
  expect((await told()).trigger).toEqual({ kind: 'schedule', source: 'server' });
});
