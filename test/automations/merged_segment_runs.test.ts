// Runs that entries of segments started, with links and undos: re-entry and late events are decided for the person.
import { beforeEach, expect, test } from 'vitest';
import { followLink } from '../../src/automations/automations.ts';
import { alias } from '../../src/profiles/identify.ts';
import { unlinkPeople } from '../../src/profiles/profiles.ts';
import { counted, HOUR_MS, lateWorld, phone } from '../segments/late_world.ts';
import { testDatabase } from '../support/database.ts';
import { withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
let late: ReturnType<typeof lateWorld>;
beforeEach(async () => {
  world = withSegments(database);
  late = lateWorld(database, world.projectId);
  const buyers = await world.segment(counted('bought'));
  await world.live({
    trigger: { kind: 'segment_entered', segment_id: buyers },
    settings: { re_entry: 'once', late_events: 'PT1H' },
    entry: 'wait',
    steps: { wait: { kind: 'delay', duration: 'P1D', next: null } },
  });
  await world.tell('ann', {});
});

const LATE = 2 * HOUR_MS;
const happen = async (...event: Parameters<typeof late.track>) => {
  await late.track(...event);
  await late.process();
  await world.work();
};
const link = async () => {
  await alias(
    database.deps,
    world.caller,
    { anonymous_id: 'phone', external_id: 'ann' },
    followLink,
  );
  await world.work();
};
const undo = async () => {
  const [{ link_id }] = await world.select('link_id', 'identity.links');
  await world.within((scope) =>
    unlinkPeople(scope, link_id, 'test', async (inner, moved) => {
      await followLink(inner, moved);
    }),
  );
  await world.work();
};
const stands = async () =>
  (await world.runs()).map(({ who, outcome }) => (outcome === null ? who : `${who} ${outcome}`));

test('the younger ends with the link and continues with the undo, whose own entries start no third', async () => {
  await happen('bought', 0, { who: phone });
  await happen('bought');
  await link();
  expect(await stands()).toEqual(['phone', 'ann merged']);
  await undo();
  expect(await stands()).toEqual(['phone', 'ann']);
});

test('a late entry of one identity starts no run, so the run of the other continues after the link', async () => {
  await happen('bought', LATE, { who: phone });
  await happen('bought');
  expect(await stands()).toEqual(['ann']);
  await link();
  expect(await stands()).toEqual(['ann']);
  await undo();
  expect(await stands()).toEqual(['ann']);
});

test('an entry that only the link causes starts no second run of the person', async () => {
  await happen('bought', 0, { who: phone });
  await link();
  expect(await stands()).toEqual(['phone']);
  await happen('bought');
  await undo();
  expect(await stands()).toEqual(['phone']);
});
