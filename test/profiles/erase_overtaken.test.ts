// What is accepted, claimed, told or undone between the last look of an erase and its commit.
import { expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import type { Eraser } from '../../src/base/whole_person.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import * as feedback from '../../src/feedback/feedback.ts';
import { newId } from '../../src/base/ids.ts';
import { findErasableProfile, requestErasure } from '../../src/profiles/erasures.ts';
import { erase, unlinkPeople } from '../../src/profiles/profiles.ts';
import { connectTo, untilWaiting } from '../base/connections.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { findRemains } from '../support/remains.ts';
import { openErasable, unique } from './erasable.ts';

const database = testDatabase();
const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

/**
 * Erases; `meanwhile` runs once, after the last look and before the commit: an address that arrives then has to be
 * looked at, and asks the rooms.
 */
const eraseAnd = (
  { projectId, track }: Pick<ReturnType<typeof openErasable>, 'projectId' | 'track'>,
  { erasureId, name }: { erasureId: string; name: string },
  meanwhile: () => Promise<unknown>,
) => {
  let isEnding = false;
  let hasRun = false;
  const other: Eraser = {
    erase: async () => {
      isEnding = true;
      const properties = { email: `${newId()}@x.org` };
      await track({ external_id: name, occurred_at: hoursAgo(3), properties });
    },
    eraseAddresses: async () => {
      if (isEnding && !hasRun) {
        hasRun = true;
        await meanwhile();
      }
      return { rows: {}, isAll: true };
    },
  };
  const erasers = [other, automations.eraser, delivery.eraser, feedback.eraser];
  return erase(database.deps, { projectId, erasureId, erasers, signal: NEVER });
};

test.each([
  ['within what was seen of them', hoursAgo(2)],
  ['later than anything that was seen', hoursAgo(0)],
])('an event %s starts a fresh person, or is gone', async (_when, occurred_at) => {
  const people = openErasable(database);
  const { track, work, tell, ask, find, count } = people;
  const ann = unique('ann');
  await tell(ann, {});
  await track({ external_id: ann, occurred_at: hoursAgo(5) }, { external_id: ann });
  await work();
  const go = Promise.withResolvers<void>();
  const other = go.promise.then(async () => {
    await track({ external_id: ann, occurred_at });
    await work();
  });
  await eraseAnd(people, { erasureId: await ask(ann), name: ann }, async () => {
    go.resolve();
    await Promise.race([other, untilWaiting(database)]);
  });
  await other;
  await work();
  const [events, person] = [await count('ingest.events'), await find('external', ann)];
  expect(events === 0 || person !== null).toBe(true);
  expect(await count('ingest.pending')).toBe(0);
});

test('undone meanwhile, and asked for again, it is the same erasure', async () => {
  const { within, track, work, tell, join, ask } = openErasable(database);
  const [ann, device] = [unique('ann'), unique('device')];
  await tell(ann, {});
  await track({ anonymous_id: device });
  await work();
  const { rows } = await database.owner.query<{ own_profile_id: string }>(
    'select own_profile_id from identity.identities where value = $1',
    [device],
  );
  const link = await join(device, ann);
  const first = await ask(ann);
  await within((scope) => unlinkPeople(scope, link.link_id, 'test'));
  const again = await within(async (scope) => {
    const profileId = await findErasableProfile(scope, rows[0]?.own_profile_id ?? '');
    return profileId && requestErasure(scope, profileId, null);
  });
  expect(again).toMatchObject({ erasure_id: first, status: 'pending' });
});

test('whoever claims an event of a person on their device does not deadlock with the end', async () => {
  const { projectId, track, work, tell, ask, join } = openErasable(database);
  const [ann, device] = [unique('ann'), unique('device')];
  await tell(ann, {});
  await track({ anonymous_id: device }, { external_id: ann });
  await work();
  await join(device, ann);
  const erasureId = await ask(ann);
  await track({ external_id: ann, anonymous_id: device });
  const ending = await connectTo(database, projectId);
  const claiming = await connectTo(database, projectId);
  await ending.query('begin');
  await ending.query(
    `select from identity.identities where project_id = $1 and erasure_id = $2
    order by kind, value for update`,
    [projectId, erasureId],
  );
  await claiming.query('begin');
  const claimed = claiming.query(
    'select from profiles.see_events($1, array(select ingest.claim_flushes($1, 10)))',
    [projectId],
  );
  await untilWaiting(database);
  const { rows } = await ending.query<{ events: number }>(
    `select events from ingest.erase_events($1, array['external', 'anonymous'], array[$2, $3], '-infinity', 1000)`,
    [projectId, ann, device],
  );
  expect(rows[0]?.events).toBeGreaterThan(0);
  await ending.query('commit');
  await claimed;
  await claiming.query('rollback');
});

test('a device is found again of whom somebody else makes anew meanwhile', async () => {
  const people = openErasable(database);
  const { track, work, tell, ask, run } = people;
  const [ann, device] = [unique('ann'), unique('device')];
  await tell(ann, {});
  await track({ anonymous_id: device });
  await work();
  // The identify waits for Ann's row first, then the claim does; both go on when the erase has ended.
  const [identify, claim] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const started = [
    identify.promise.then(() => tell(ann, { plan: 'pro' })),
    claim.promise.then(async () => {
      await track({ external_id: ann, anonymous_id: device });
      await work();
    }),
  ];
  await eraseAnd(people, { erasureId: await ask(ann), name: ann }, async () => {
    identify.resolve();
    await untilWaiting(database, 1);
    claim.resolve();
    await untilWaiting(database, 2);
  });
  await Promise.all(started);
  await work();
  await run(await ask(device, 'anonymous'));
  expect(await findRemains(database.owner, [device])).toEqual([]);
});
