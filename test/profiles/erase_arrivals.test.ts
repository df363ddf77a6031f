// What an erase does about whatever arrives while it is under way.
import { expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import type { Eraser } from '../../src/base/whole_person.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import * as feedback from '../../src/feedback/feedback.ts';
import { newId } from '../../src/base/ids.ts';
import { ERASE_EVENTS_MAX } from '../../src/ingest/erase.ts';
import { erase } from '../../src/profiles/profiles.ts';
import { addressKey, suppress } from '../../src/suppression/suppression.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { findRemains } from '../support/remains.ts';
import { openErasable, unique } from './erasable.ts';

const TEST_TIMEOUT_MS = 60_000;
const database = testDatabase();

/** The erase, with somebody who does things in between. */
const eraseWith = (projectId: string, erasureId: string, other: Eraser) =>
  erase(database.deps, {
    projectId,
    erasureId,
    erasers: [other, automations.eraser, delivery.eraser, feedback.eraser],
    signal: NEVER,
  });

test(
  'an erase ends while events and identifies that name the person keep arriving, in a few rounds',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { projectId, tell, ask, find, count } = openErasable(database);
    const [ann, email] = [unique('ann'), `${newId()}@x.org`];
    await tell(ann, { email });
    const erasureId = await ask(ann);
    const telling: Promise<void>[] = [];
    let rounds = 0;
    let walks = 0;
    /** Events, some of them with addresses nobody knew, and a new device that names the person. */
    const flood = async (events: number) => {
      await database.owner.query(
        `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, source,
          properties)
        select $1::uuid, gen_random_uuid(), now(), now(), 'seen', $2, 'server',
          jsonb_build_object('email', case when n < 4 then gen_random_uuid() || '@x.org' end)
        from generate_series(1, $3::int) n`,
        [projectId, ann, events],
      );
      // Waits while the end is tried, so it is not waited for.
      telling.push(tell(ann, { email: `${newId()}@x.org` }, unique('device')));
    };
    await eraseWith(projectId, erasureId, {
      eraseAddresses: async () => {
        rounds += 1;
        await flood(ERASE_EVENTS_MAX / 2);
        return { rows: {}, isAll: true };
      },
      // Between the last step and the end: far more than the end takes.
      erase: async () => {
        walks += 1;
        await flood(ERASE_EVENTS_MAX * 3);
      },
    });
    await Promise.all(telling);
    expect(rounds).toBeLessThanOrEqual(8);
    expect(walks).toBe(1);
    expect(await findRemains(database.owner, [email])).toEqual([]);
    expect(await count('profiles.erasing_addresses')).toBe(0);
    // Those that came first linked nothing; the last ones waited for the end, and are about a fresh person.
    const { rows } = await database.owner.query<{ profile_id: string }>(
      'select distinct profile_id from identity.links where project_id = $1',
      [projectId],
    );
    expect(rows).toEqual([{ profile_id: (await find('external', ann))?.id }]);
  },
);

test('an erase finds every address in portions, and what was said under each', async () => {
  const { projectId, within, tell, ask, run, count } = openErasable(database);
  await tell('ann', {});
  const addresses = ERASE_EVENTS_MAX + 10;
  await database.owner.query(
    `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, source, properties)
    select $1::uuid, gen_random_uuid(), now(), now(), 'seen', 'ann', 'server',
      jsonb_build_object('email', 'ann' || n || '@portions.org')
    from generate_series(1, $2::int) n`,
    [projectId, addresses],
  );
  const last = 'ann999@portions.org';
  await within((scope) =>
    suppress(scope, { email: last, reason: 'complaint', source: 'webhook/smtp' }),
  );
  await run(await ask('ann'));
  expect(await findRemains(database.owner, ['@portions.org'])).toEqual([]);
  expect(await count('suppression.addresses')).toBe(addresses);
  const { rows } = await database.owner.query(
    `select receipt -> 'tables' as tables from profiles.erasures where project_id = $1`,
    [projectId],
  );
  expect(rows[0]?.tables).toMatchObject({
    'profiles.erasing_addresses': addresses,
    'suppression.addresses': 1,
  });
});

test('an address that somebody living got after it was noted is theirs, with their mail', async () => {
  const { projectId, within, tell, idOf, ask } = openErasable(database);
  const sends = sendsOf(database, projectId);
  const email = `family-${newId()}@x.org`;
  const addressKeyed = await within((scope) => Promise.resolve(addressKey(scope, email)));
  const plan = async (who: string) => {
    const profileId = await idOf(who);
    const send = newSend({ profileId, recipient: email, addressKey: addressKeyed });
    await sends.plan(send);
    return send.sendId;
  };
  await tell('ann', { email });
  const ofAnn = await plan('ann');
  await within((scope) => suppress(scope, { email, reason: 'manual', source: 'test' }));
  let ofBob = '';
  const erasureId = await ask('ann');
  await eraseWith(projectId, erasureId, {
    noteAddresses: async () => {
      await tell('bob', { email });
      ofBob = await plan('bob');
      await sends.update(ofBob, `status = 'queued', status_reason = null`);
    },
  });
  expect(await sends.read(ofAnn)).toMatchObject({ status: 'cancelled', recipient: null });
  expect(await sends.read(ofBob)).toMatchObject({ status: 'queued', recipient: email });
  const { rows } = await database.owner.query(
    'select email, reason from suppression.addresses where project_id = $1',
    [projectId],
  );
  expect(rows).toEqual([{ email, reason: 'manual' }]);
});

test('while an erase looks at an address, nobody begins to use it', async () => {
  const { projectId, within, tell, ask } = openErasable(database);
  const email = `${newId()}@x.org`;
  await tell('ann', { email });
  const erasureId = await ask('ann');
  const waited: boolean[] = [];
  await eraseWith(projectId, erasureId, {
    eraseAddresses: async () => {
      const { rows } = await database.owner.query(
        `select from suppression.addresses where project_id = $1 and address_key = $2 for share skip locked`,
        [projectId, await within((scope) => Promise.resolve(addressKey(scope, email)))],
      );
      waited.push(rows.length === 0);
      return { rows: {}, isAll: true };
    },
  });
  expect(waited).toEqual([true]);
});

test('a worker that another one has overtaken leaves the fresh person alone', async () => {
  const { projectId, track, tell, ask, run, find, count } = openErasable(database);
  const email = `${newId()}@x.org`;
  await tell('ann', { email });
  const erasureId = await ask('ann');
  await eraseWith(projectId, erasureId, {
    noteAddresses: async () => {
      await run(erasureId);
      await tell('ann', { email });
      await track({ external_id: 'ann', properties: { email } });
    },
  });
  expect(await find('external', 'ann')).toMatchObject({ email });
  expect(await count('ingest.events')).toBe(1);
  expect(await count('profiles.erasing_addresses')).toBe(0);
});
