// How many anonymous ids browsers may link to one person.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { connectTo, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';
import { BY_SERVER, openForBrowsers } from './linked.ts';

const database = testDatabase();
const { BROWSER_LINKS_A_DAY_MAX, BROWSER_LINKS_MAX, REFUSED_LINKS_A_DAY_MAX } = identity;
type Opened = Awaited<ReturnType<typeof openForBrowsers>>;

/** Devices, and links of them to a person that were made two days ago. */
const insertOld = async (
  { projectId }: Opened,
  {
    count,
    person = 'ann',
    keyType = 'publishable',
  }: { count: number; person?: string; keyType?: string },
): Promise<string[]> => {
  await database.owner.query(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
     select person.project_id, gen_random_uuid(), 'anonymous', $3 || '-' || at, person.profile_id, gen_random_uuid()
     from identity.identities as person, generate_series(1, $4::int) as at
     where person.project_id = $1 and person.kind = 'external' and person.value = $2`,
    [projectId, person, `old-${keyType}`, count],
  );
  const { rows } = await database.owner.query<{ anonymous_id: string }>(
    `insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
       external_id, profile_id, anonymous_profile_id, source, key_type, status, created_at)
     select device.project_id, gen_random_uuid(), device.identity_id, person.identity_id, device.value, person.value,
       person.profile_id, device.own_profile_id, 'identify', $3, 'active', now() - interval '2 days'
     from identity.identities as device
     join identity.identities as person on person.project_id = device.project_id and person.value = $2
     where device.project_id = $1 and device.value like 'old-' || $3 || '-%'
     returning anonymous_id`,
    [projectId, person, keyType],
  );
  await database.owner.query(
    `insert into profiles.profiles (project_id, profile_id, created_at, updated_at)
     select project_id, own_profile_id, now(), now() from identity.identities
     where project_id = $1 and value like 'old-' || $2 || '-%'`,
    [projectId, keyType],
  );
  return rows.map(({ anonymous_id }) => anonymous_id);
};

test('attack: a page links devices to a victim without end; past the bound of a day it is refused', async () => {
  const world = await openForBrowsers(database);
  await world.fillDay();
  await world.seeDevices('more-', 2);
  expect(await world.link('more-0', 'ann')).toMatchObject({
    isNew: true,
    link: { status: 'refused', reason: 'too_many_links_today' },
  });
  expect(await world.profileOf('anonymous', 'more-0')).not.toBe(
    await world.profileOf('external', 'ann'),
  );
  // Another person, and a link that is there, are not concerned.
  expect(await world.link('more-1', 'bob')).toMatchObject({ link: { status: 'active' } });
  expect(await world.link('day-0', 'ann')).toMatchObject({
    isNew: false,
    link: { status: 'active' },
  });
});

test('the bound of a day is that of the last 24 hours', async () => {
  const world = await openForBrowsers(database);
  await world.fillDay();
  await world.seeDevices('more-', 1);
  await world.link('more-0', 'ann');
  await world.passDay();
  expect(await world.link('more-0', 'ann')).toMatchObject({
    isNew: true,
    link: { status: 'active' },
  });
});

test('attack: links made and undone by turns give a browser no more links a day', async () => {
  const world = await openForBrowsers(database);
  await world.fillDay();
  for (const { link_id } of await world.readLog()) await world.undo(link_id);
  await world.seeDevices('more-', 1);
  expect(await world.link('more-0', 'ann')).toMatchObject({
    link: { reason: 'too_many_links_today' },
  });
});

test('attack: a page collects devices for months; past the bound in total each is refused', async () => {
  const world = await openForBrowsers(database);
  await insertOld(world, { count: BROWSER_LINKS_MAX - 1 });
  await world.seeDevices('more-', 3);
  expect(await world.link('more-0', 'ann')).toMatchObject({ link: { status: 'active' } });
  expect(await world.link('more-1', 'ann')).toMatchObject({
    link: { status: 'refused', reason: 'too_many_links' },
  });
  // What a person undid frees a place of the total.
  const [oldest] = await world.readLog();
  await world.undo(oldest?.link_id ?? '');
  expect(await world.link('more-2', 'ann')).toMatchObject({ link: { status: 'active' } });
});

test('attack: devices that servers take away give a browser no more links in total', async () => {
  const world = await openForBrowsers(database);
  const devices = await insertOld(world, { count: BROWSER_LINKS_MAX });
  for (const device of devices.slice(0, 3)) await world.join(device, 'bob', BY_SERVER);
  await world.seeDevices('more-', 1);
  expect(await world.link('more-0', 'ann')).toMatchObject({ link: { reason: 'too_many_links' } });
});

test('links of servers are not limited, and neither those nor confirmed ones count', async () => {
  const world = await openForBrowsers(database);
  await world.fillDay();
  const devices = await world.seeDevices('server-', BROWSER_LINKS_A_DAY_MAX + 1);
  for (const device of devices)
    expect(await world.link(device, 'ann', BY_SERVER)).toMatchObject({
      link: { status: 'active' },
    });
  await world.seeDevices('more-', 2);
  await world.link('day-0', 'ann', BY_SERVER);
  expect(await world.link('more-0', 'ann')).toMatchObject({ link: { status: 'active' } });
  expect(await world.link('more-1', 'ann')).toMatchObject({ link: { status: 'refused' } });
});

test('attack: devices linked all at once are counted exactly', async () => {
  const world = await openForBrowsers(database);
  const devices = await world.seeDevices('at-once-', 3 * BROWSER_LINKS_A_DAY_MAX);
  await Promise.all(devices.map((device) => world.ask(device, 'ann')));
  const log = await world.readLog();
  expect(log.filter(({ status }) => status === 'active')).toHaveLength(BROWSER_LINKS_A_DAY_MAX);
  expect(await world.countLog('too_many_links_today')).toBe(REFUSED_LINKS_A_DAY_MAX);
});

test('two connections at once: the second waits for the first, and finds its link counted', async () => {
  const world = await openForBrowsers(database);
  const devices = await world.seeDevices('d', BROWSER_LINKS_A_DAY_MAX + 1);
  const [last = '', oneMore = '', ...others] = devices;
  for (const device of others) await world.link(device, 'ann');
  const first = await connectTo(database, world.projectId);
  await first.query('begin');
  await first.query(
    `select from identity.link_identities(project_id => $1, link_id => $2, anonymous_id => $3,
       external_id => 'ann', source => 'identify', key_type => 'publishable', at => now(),
       day_began_at => now() - interval '24 hours', links_a_day_max => $4, links_max => 1000,
       refusals_a_day_max => 1000) ${TRIAL}`,
    [world.projectId, newId(), last, BROWSER_LINKS_A_DAY_MAX],
  );
  const second = world.link(oneMore, 'ann');
  await untilWaiting(database);
  await first.query('commit');
  expect(await second).toMatchObject({ link: { reason: 'too_many_links_today' } });
});

test.each(PLAN_MODES)(
  '%s: a wish of a browser reads that person’s links of browsers only',
  async (mode) => {
    const world = await openForBrowsers(database);
    await insertOld(world, { count: 5_000, person: 'bob', keyType: 'server' });
    await world.seeDevices('more-', 1);
    await database.owner.query('analyze identity.links');
    const asked = { projectId: world.projectId, table: 'identity.links', mode };
    const { read } = await withRowsRead(database, asked, (scope) =>
      identity.link(scope, {
        anonymous_id: 'more-0',
        external_id: 'bob',
        source: 'identify',
        key_type: 'publishable',
      }),
    );
    expect(read).toBeLessThan(20);
  },
);
