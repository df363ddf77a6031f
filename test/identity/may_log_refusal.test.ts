// How many refusals of browsers the log of links takes.
import { expect, test } from 'vitest';
import { REFUSED_LINKS_A_DAY_MAX } from '../../src/identity/identity.ts';
import { testDatabase } from '../support/database.ts';
import { BY_SERVER, named, openForBrowsers } from './linked.ts';

const database = testDatabase();

test('attack: a page writes refusals into the log without end, about one person', async () => {
  const world = await openForBrowsers(database);
  await world.fillDay();
  const devices = await world.seeDevices('more-', REFUSED_LINKS_A_DAY_MAX + 1);
  const answers = [];
  for (const device of devices) answers.push(await world.ask(device, 'ann'));
  expect(answers.at(-2)).toMatchObject({ isNew: true, link: { status: 'refused' } });
  expect(answers.at(-1)).toBeNull();
  expect(await world.countLog('too_many_links_today')).toBe(REFUSED_LINKS_A_DAY_MAX);
  // The same refusal again answers its row, and a server's is always logged.
  expect(await world.ask(devices[0] ?? '', 'ann')).toMatchObject({ isNew: false });
  await world.see('anonymous', 'of-bob');
  await world.link('of-bob', 'bob', BY_SERVER);
  expect(await world.link('of-bob', 'ann', BY_SERVER)).toMatchObject({
    isNew: true,
    link: { reason: 'linked_to_another' },
  });
  await world.passDay();
  await world.fillDay('next-');
  expect(await world.ask(devices.at(-1) ?? '', 'ann')).toMatchObject({ isNew: true });
});

test('attack: a page writes refusals into the log without end, about one device', async () => {
  const world = await openForBrowsers(database);
  await world.seeDevices('d', 1);
  await world.link('d0', 'ann');
  const people = named('person-', REFUSED_LINKS_A_DAY_MAX + 1);
  await world.see('external', ...people);
  for (const person of people) await world.ask('d0', person);
  expect(await world.countLog('linked_to_another')).toBe(REFUSED_LINKS_A_DAY_MAX);
});
