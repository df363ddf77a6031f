// What else happens to the same person while they are erased.
import { expect, test } from 'vitest';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { claimFlushes } from '../../src/ingest/flush_queries.ts';
import { ERASE_EVENTS_MAX } from '../../src/ingest/erase.ts';
import {
  changeTraits,
  countErased,
  holdProfiles,
  seePeople,
  unlinkPeople,
  seeEvents,
} from '../../src/profiles/profiles.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { isSettled, untilWaiting } from '../base/connections.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { eraseNow } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { findRemains } from '../support/remains.ts';
import { openErasable, unique } from './erasable.ts';

const FLUSHES = 10;
const database = testDatabase();

const opened = () => openErasable(database);

test('what arrives while the erase is pending is erased too; what arrives after it starts a fresh person', async () => {
  const { track, work, find, ask, run, count } = opened();
  const [ann, late] = [unique('ann'), unique('late')];
  await track({ external_id: ann });
  await work();
  const before = await find('external', ann);
  const erasureId = await ask(ann);
  await track({ external_id: ann, properties: { late } });
  await work();
  await track({ external_id: ann, properties: { late }, message_id: late });
  await run(erasureId);
  await work();
  expect(await findRemains(database.owner, [ann, late])).toEqual([]);
  expect(await count('ingest.pending')).toBe(0);

  // What was stored before the erase stays a repetition after it.
  await track({ external_id: ann, message_id: late });
  await track({ external_id: ann });
  await work();
  const after = await find('external', ann);
  expect(after?.id).not.toBe(before?.id);
  expect(await count('ingest.events')).toBe(1);
});

test('work that read events before they were erased does not bring the person back', async () => {
  const { within, track, find, ask, run } = opened();
  const ann = unique('ann');
  await track({ external_id: ann });
  const claim = async (scope: Scope) => (await claimFlushes(scope, FLUSHES)).flushIds;
  await within(async (scope) => seeEvents(scope, await claim(scope)));
  const erasureId = await ask(ann);
  await track({ external_id: ann });

  let tries = 0;
  await within(async (scope) => {
    tries += 1;
    const erasedBefore = await countErased(scope);
    if (tries > 1) {
      await seeEvents(scope, await claim(scope), erasedBefore);
      return;
    }
    // As it was read a moment before the erase ends.
    const at = new Date();
    const read = [{ kind: 'external' as const, value: ann, first_seen_at: at, last_seen_at: at }];
    await run(erasureId);
    await seePeople(scope, await identity.see(scope, read), erasedBefore);
  });
  expect(tries).toBe(2);
  expect(await find('external', ann)).toBeNull();
  expect(await findRemains(database.owner, [ann])).toEqual([]);
});

test('more events than one transaction takes go step by step, and others keep theirs', async () => {
  const { projectId, track, work, ask, run } = opened();
  await track({ external_id: 'ann' }, { external_id: 'bob' });
  await work();
  await database.owner.query(
    `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, source)
    select $1, gen_random_uuid(), now() - make_interval(mins => at), now(), 'seen', who, 'server'
    from generate_series(1, $2::int) as at, unnest(array['ann', 'bob']) as who`,
    [projectId, ERASE_EVENTS_MAX * 2],
  );
  await run(await ask('ann'));
  const { rows } = await database.owner.query(
    'select external_id, count(*)::int from ingest.events where project_id = $1 group by 1',
    [projectId],
  );
  expect(rows).toEqual([{ external_id: 'bob', count: ERASE_EVENTS_MAX * 2 + 1 }]);
  const { rows: erasures } = await database.owner.query(
    `select (receipt #>> '{tables,ingest.events}')::int as events from profiles.erasures where project_id = $1`,
    [projectId],
  );
  expect(erasures).toEqual([{ events: ERASE_EVENTS_MAX * 2 + 1 }]);
});

test('two workers at one erasure end it once', async () => {
  const { projectId, track, work, ask, run, within } = opened();
  await track(...Array.from({ length: 30 }, () => ({ external_id: 'ann' })));
  await work();
  const erasureId = await ask('ann');
  await Promise.all([run(erasureId), run(erasureId), run(erasureId)]);
  await run(erasureId);
  const { rows } = await database.owner.query(
    `select status, (receipt #>> '{tables,ingest.events}')::int as events from profiles.erasures
    where project_id = $1`,
    [projectId],
  );
  expect(rows).toEqual([{ status: 'done', events: 30 }]);
  expect(await within(countErased)).toBe(1);
});

test('who is being erased is linked to nobody and told nothing; a device that names them stays', async () => {
  const { projectId, track, work, find, join, ask, run, tell, count } = opened();
  const [ann, device, other, email] = [
    unique('ann'),
    unique('device'),
    unique('other'),
    `${newId()}@x.org`,
  ];
  await track({ external_id: ann }, { anonymous_id: device });
  await work();
  const before = await find('anonymous', device);
  const erasureId = await ask(ann);
  await expect(join(device, ann)).rejects.toMatchObject({ reason: 'being_erased' });
  await tell(ann, { email }, other);
  expect(await count('identity.links')).toBe(0);
  expect(await findRemains(database.owner, [email])).toEqual([]);
  await run(erasureId);
  expect(await findRemains(database.owner, [ann, email])).toEqual([]);
  expect(await find('anonymous', device)).toEqual(before);
  expect(await find('anonymous', other)).toMatchObject({ identifiers: [{ value: other }] });

  await join(device, ann);
  await tell(ann, { email });
  expect((await find('external', ann))?.identifiers).toHaveLength(2);
  const { rows } = await database.owner.query(
    'select anonymous_id from identity.links where project_id = $1',
    [projectId],
  );
  expect(rows).toEqual([{ anonymous_id: device }]);
});

test('a link that is undone meanwhile does not keep the device', async () => {
  const { within, track, work, join, ask, run } = opened();
  const [ann, device] = [unique('ann'), unique('device')];
  await track({ external_id: ann }, { anonymous_id: device });
  await work();
  const link = await join(device, ann);
  const erasureId = await ask(ann);
  await within((scope) => unlinkPeople(scope, link.link_id, 'test'));
  await run(erasureId);
  expect(await findRemains(database.owner, [ann, device])).toEqual([]);
  expect(await within((scope) => unlinkPeople(scope, link.link_id, 'test'))).toBeNull();
});

test('a device that is erased after it was lent leaves whom it was lent as they are without it', async () => {
  const { within, track, work, join, ask, run, tell, find, count } = opened();
  const [bob, device, town] = [unique('bob'), unique('device'), unique('town')];
  await track({ anonymous_id: device });
  await work();
  await tell(bob, { name: 'Bob' });
  await within(async (scope) => {
    const known = await identity.findByValue(scope, 'anonymous', device);
    const traits = { town };
    const identityId = known?.identity_id ?? '';
    await changeTraits(scope, { identityId, traits, setAt: new Date(), authority: 'server' });
  });
  const link = await join(device, bob);
  expect((await find('external', bob))?.traits).toEqual({ name: 'Bob', town });
  await within((scope) => unlinkPeople(scope, link.link_id, 'test'));
  await run(await ask(device, 'anonymous'));
  expect(await findRemains(database.owner, [device, town])).toEqual([]);
  expect(await find('external', bob)).toMatchObject({ traits: { name: 'Bob' } });
  expect(await count('profiles.profiles')).toBe(1);
});

test('an address that somebody else has stays theirs, with their sends', async () => {
  const { projectId, within, tell, idOf, ask, run } = opened();
  const sends = sendsOf(database, projectId);
  const email = `family-${newId()}@x.org`;
  const key = await within((scope) => Promise.resolve(addressKey(scope, email)));
  await tell('ann', { email });
  await tell('bob', { email: email.toUpperCase() });
  const planned = await Promise.all(
    ['ann', 'bob'].map(async (who) => {
      const profileId = await idOf(who);
      const send = newSend({ profileId, recipient: email, addressKey: key });
      await sends.plan(send);
      return send.sendId;
    }),
  );
  await run(await ask('ann'));
  expect(await sends.read(planned[0] ?? '')).toMatchObject({
    status: 'cancelled',
    status_reason: 'erased',
    recipient: null,
  });
  expect(await sends.read(planned[1] ?? '')).toMatchObject({ status: 'queued', recipient: email });
  const read = async () =>
    (
      await database.owner.query('select email from suppression.addresses where project_id = $1', [
        projectId,
      ])
    ).rows;
  expect(await read()).toEqual([{ email }]);
  await run(await ask('bob'));
  expect(await read()).toEqual([{ email: null }]);
});

test('whoever works for a person is waited for; from then on nothing is begun for them', async () => {
  const { within, tell, idOf, ask } = opened();
  await tell('ann', {});
  const profileId = await idOf('ann');
  const [member] = await within((scope) => identity.listMembers(scope, profileId));
  const ids = [member?.identity_id ?? ''];
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holding = within(async (scope) => {
    expect((await holdProfiles(scope, ids)).get(ids[0] ?? '')).toBe(profileId);
    begun.resolve();
    await held.promise;
  });
  await Promise.race([begun.promise, holding]);
  const asking = ask('ann');
  await untilWaiting(database);
  expect(await isSettled(asking)).toBe(false);
  held.resolve();
  await holding;
  await asking;
  await within(async (scope) => {
    expect(await holdProfiles(scope, ids)).toEqual(new Map());
  });
});

test('an erase that was asked for in one project changes nothing in another', async () => {
  const [ours, theirs] = [opened(), opened()];
  for (const { track, work } of [ours, theirs]) {
    await track({ external_id: 'ann', anonymous_id: 'd', message_id: 'm' });
    await work();
  }
  const profileId = await ours.idOf('ann');
  await eraseNow(database, ours.projectId, profileId);
  expect([await ours.count('ingest.events'), await theirs.count('ingest.events')]).toEqual([0, 1]);
  expect(await theirs.count('ingest.message_ids')).toBe(1);
  expect(await theirs.find('external', 'ann')).not.toBeNull();
});
