// What a mail keeps to besides its address is asked when it is handed over, however long it has waited.
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { expireSends } from '../../src/delivery/delivery.ts';
import { stepHandOffs } from '../../src/delivery/hand_off_queries.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { connectTo, isSettled, rowsRead, untilWaiting } from '../base/connections.ts';
import { tell, withSecondIdentity } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { cap, limitedSends, QUIET_LATER, QUIET_NOW, timeIn, UNCONFIRMED_ONLY } from './limited.ts';
import { beginOver, OWNER, unresolved } from './one_send.ts';

const database = testDatabase();
const HOUR = 3_600;
/** How long a mail waits for what is under way. */
const MOMENT_SECONDS = 10;

const isTold = async (projectId: string): Promise<number> =>
  (await database.owner.query('select from delivery.ended where project_id = $1', [projectId]))
    .rowCount ?? 0;

describe('quiet hours', () => {
  test('let a mail wait until they end: as if nobody had claimed it', async () => {
    const { projectId, sends, person, leased, waitsFor } = limitedSends(database);
    const send = await leased(await person(), { limits: QUIET_NOW });
    expect(await sends.begin(send)).toBe('queued');
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'queued',
      status_reason: 'quiet_hours',
      attempt_count: 0,
      handed_off_at: null,
      lease_owner: null,
    });
    expect(await waitsFor(send.sendId)).toBeGreaterThan(1.9 * HOUR);
    expect(await waitsFor(send.sendId)).toBeLessThanOrEqual(2 * HOUR);
    expect(await sends.claim(send.providerId)).toEqual([]);
    expect(await isTold(projectId)).toBe(0);
    await sends.update(send.sendId, `due_at = now() - interval '1 ms', limits = '{"zone": "UTC"}'`);
    await sends.claim(send.providerId);
    expect(await sends.begin(send)).toBe('handing_off');
    expect(await sends.read(send.sendId)).toMatchObject({ status_reason: null, attempt_count: 1 });
  });

  test('are those of where the person is by then, and of the automation where nobody knows', async () => {
    const { sends, person, leased } = limitedSends(database);
    const [someone, nowhere] = [await person(), await person()];
    // Quiet in Honolulu, ten hours behind.
    const limits = { quiet_hours: { from: timeIn(-11), to: timeIn(-9) }, zone: 'Pacific/Honolulu' };
    const abroad = await leased(someone, { limits });
    await tell(database, someone, { traits: { timezone: 'Europe/Berlin' } });
    await tell(database, nowhere, { traits: { timezone: 'Mars/Olympus' } });
    expect(await sends.begin(abroad)).toBe('handing_off');
    expect(await sends.begin(await leased(nowhere, { limits }))).toBe('queued');
    await tell(database, nowhere, {
      traits: { timezone: 'UTC' },
      setAt: new Date('2026-02-01T00:00:00Z'),
    });
    expect(await sends.begin(await leased(nowhere, { limits }))).toBe('handing_off');
  });

  test('that end after it expires let it expire', async () => {
    const { sends, person, leased } = limitedSends(database);
    const send = await leased(await person(), { limits: QUIET_NOW, expiresAfterSeconds: 3_600 });
    expect(await sends.begin(send)).toBe('queued');
    const { due_at, expires_at } = await sends.read(send.sendId);
    expect(due_at.getTime()).toBeGreaterThan(expires_at.getTime());
    await sends.update(send.sendId, "expires_at = now() - interval '1 ms'");
    await sends.within(expireSends);
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'expired' });
  });

  test('do not stop what something else stops: that is told', async () => {
    const { sends, person, leased } = limitedSends(database);
    const send = await leased(await person(), { limits: QUIET_NOW });
    await sends.update(send.sendId, "expires_at = now() - interval '1 ms'");
    expect(await sends.begin(send)).toBe('expired');
  });
});

describe('a frequency cap', () => {
  test('lets a mail wait until there is room, or cancels it, as it says; below it is handed over', async () => {
    const { projectId, sends, person, leased, handedOver, waitsFor } = limitedSends(database);
    const someone = await person();
    await handedOver(someone, '10 hours');
    const defers = await leased(someone, { limits: cap() });
    expect(await sends.begin(defers)).toBe('queued');
    expect(await sends.read(defers.sendId)).toMatchObject({ status_reason: 'frequency_cap' });
    expect(Math.round((await waitsFor(defers.sendId)) / HOUR)).toBe(14);
    expect(await isTold(projectId)).toBe(0);
    const skips = await leased(someone, { limits: cap({ over: 'skip' }) });
    expect(await sends.begin(skips)).toBe('cancelled');
    expect(await sends.read(skips.sendId)).toMatchObject({
      status: 'cancelled',
      status_reason: 'frequency_cap',
      attempt_count: 0,
      lease_owner: null,
    });
    expect(await isTold(projectId)).toBe(1);
    const below = await leased(someone, { limits: cap({ sends: 2 }) });
    expect(await sends.begin(below)).toBe('handing_off');
    await sends.end(below.sendId, 'accepted');
    expect(await sends.begin(await leased(someone, { limits: cap({ sends: 2 }) }))).toBe('queued');
  });

  test.each(['defer', 'skip'] as const)(
    'that %ss asks again in a moment, where what is under way may come to nothing',
    async (over) => {
      const { sends, person, leased, waitsFor } = limitedSends(database);
      const someone = await person();
      const [first, second] = [
        await leased(someone, { limits: cap({ over }) }),
        await leased(someone, { limits: cap({ over }) }),
      ];
      expect(await sends.begin(first)).toBe('handing_off');
      expect(await sends.begin(second)).toBe('queued');
      expect(await waitsFor(second.sendId)).toBeLessThanOrEqual(MOMENT_SECONDS);
      await sends.end(first.sendId, 'rejected', { reason: 'sender_not_verified' });
      await sends.update(second.sendId, "due_at = now() - interval '1 ms'");
      await sends.claim(second.providerId);
      expect(await sends.begin(second)).toBe('handing_off');
    },
  );

  test('counts by the profile of today: what a link brings, and what leaves with its undoing', async () => {
    const { sends, person, leased, handedOver } = limitedSends(database);
    const someone = await person();
    const device = await withSecondIdentity(database, someone);
    await handedOver(device, '1 hour');
    const send = await leased(someone, { limits: cap() });
    expect(await sends.begin(send)).toBe('queued');
    await database.owner.query(
      'update identity.identities set profile_id = own_profile_id where identity_id = $1',
      [device.identityId],
    );
    await sends.update(send.sendId, "due_at = now() - interval '1 ms'");
    await sends.claim(send.providerId);
    expect(await sends.begin(send)).toBe('handing_off');
  });

  test('lets one of two through that begin together; the second is asked again in a moment', async () => {
    const { projectId, sends, person, leased, waitsFor, beginOf } = limitedSends(database);
    const someone = await person();
    const device = await withSecondIdentity(database, someone);
    for (const over of ['defer', 'skip'] as const) {
      const limits = cap({ sends: 1, over, per: 'PT1S' });
      const both = [await leased(someone, { limits }), await leased(device, { limits })];
      await database.owner.query(
        `update delivery.sends set handed_off_at = handed_off_at - interval '1 hour' where project_id = $1`,
        [projectId],
      );
      const begun = both.map((send) => beginOf(send));
      const decisions = await stepHandOffs(database.deps.db, projectId, [], begun);
      expect([...decisions.values()]).toEqual(['handing_off', 'queued']);
      expect(await waitsFor(both[1]?.sendId ?? '')).toBeLessThanOrEqual(MOMENT_SECONDS);
      expect((await sends.read(both[1]?.sendId ?? '')).status_reason).toBe('frequency_cap');
    }
  });

  test('is not passed by two workers at once, whoever of the person the mails are for', async () => {
    const { projectId, sends, person, leased } = limitedSends(database);
    const someone = await person();
    const device = await withSecondIdentity(database, someone);
    const first = await leased(someone, { limits: cap() });
    const second = await leased(device, { limits: cap() });
    const client = await connectTo(database, projectId);
    await client.query('begin');
    expect(await beginOver(client, projectId, first)).toBe('handing_off');
    const beginning = sends.begin(second);
    await untilWaiting(database);
    expect(await isSettled(beginning)).toBe(false);
    await client.query('commit');
    expect(await beginning).toBe('queued');
  });

  test('holds however many begin at once', async () => {
    const { projectId, sends, person, leased, beginOf } = limitedSends(database);
    const people = [await person(), await person(), await person()];
    const sendsMax = 2;
    const limits = cap({ sends: sendsMax });
    const all: NewSend[] = [];
    for (const someone of people)
      for (let at = 0; at < 6; at += 1) all.push(await leased(someone, { limits }));
    const steps = Array.from({ length: 6 }, (_, step) => all.filter((_one, at) => at % 6 === step));
    await Promise.all(
      steps.map((step, at) => {
        const begun = step.map((send) => beginOf(send));
        const ordered = at % 2 === 0 ? begun : begun.toReversed();
        return stepHandOffs(database.deps.db, projectId, [], ordered);
      }),
    );
    for (const { profileId } of people) {
      const states = await Promise.all(
        all.filter((send) => send.profileId === profileId).map(({ sendId }) => sends.read(sendId)),
      );
      const begun = states.filter(({ status }) => status === 'handing_off');
      expect([begun.length, states.length]).toEqual([sendsMax, 6]);
    }
  });

  test('does not say that one that may be out was not sent', async () => {
    const { projectId, sends, person, handedOver } = limitedSends(database);
    const { identityId, profileId } = await person();
    const given = { identityId, profileId, limits: cap({ over: 'skip' }) };
    const { send } = await unresolved(database, given, projectId);
    await handedOver({ identityId, profileId }, '1 hour');
    await sends.claim(send.providerId);
    expect(await sends.begin(send, OWNER, 2)).toBe('unknown');
    expect(await sends.read(send.sendId)).toMatchObject({ status_reason: 'frequency_cap' });
    await sends.end(send.sendId, 'deferred', { reason: 'throttled' });
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'cancelled',
      status_reason: 'frequency_cap',
    });
  });

  test('lets one that may be out wait to be sent again, and is not passed by itself', async () => {
    const { projectId, sends, person, handedOver } = limitedSends(database);
    const { identityId, profileId } = await person();
    const given = { identityId, profileId, limits: cap() };
    const { send } = await unresolved(database, given, projectId);
    const other = await handedOver({ identityId, profileId }, '1 hour');
    await sends.claim(send.providerId);
    expect(await sends.begin(send, OWNER, 2)).toBe('queued');
    await sends.update(other.sendId, `handed_off_at = now() - interval '1 day'`);
    await sends.update(send.sendId, "due_at = now() - interval '1 ms'");
    await sends.claim(send.providerId);
    expect(await sends.begin(send, OWNER, 2)).toBe('handing_off');
  });
});

describe('an address that only a browser has said', () => {
  const RECIPIENT = 'victim@example.com';
  const visitors = () => {
    const limited = limitedSends(database);
    const visit = async (automationId: string) => {
      const visitor = await limited.person();
      await tell(database, visitor, {
        traits: { email: RECIPIENT },
        authority: 'publishable',
      });
      const given = { recipient: RECIPIENT, automationId, limits: UNCONFIRMED_ONLY };
      return { visitor, send: await limited.leased(visitor, given) };
    };
    return { ...limited, visit };
  };

  test('gets one mail of an automation and three a day, whoever said it; then it is cancelled, and told', async () => {
    const { projectId, sends, visit } = visitors();
    const decisions: string[] = [];
    const automations = [newId(), newId(), newId(), newId()];
    for (const automationId of [automations[0] ?? '', ...automations]) {
      const { send } = await visit(automationId);
      decisions.push(await sends.begin(send));
      await sends.end(send.sendId, 'accepted');
    }
    expect(decisions).toEqual([
      'handing_off',
      'cancelled',
      'handing_off',
      'handing_off',
      'cancelled',
    ]);
    // Each in a step of its own: what went out, and what did not.
    expect(await isTold(projectId)).toBe(decisions.length);
    const { rows } = await database.owner.query(
      `select distinct status_reason from delivery.sends where project_id = $1 and status = 'cancelled'`,
      [projectId],
    );
    expect(rows).toEqual([{ status_reason: 'unconfirmed_address' }]);
  });

  test('is free once a server has said it of the person, also of what waited', async () => {
    const { sends, visit } = visitors();
    const automationId = newId();
    const { send: first } = await visit(automationId);
    await sends.begin(first);
    await sends.end(first.sendId, 'accepted');
    const { visitor, send } = await visit(automationId);
    await tell(database, visitor, { traits: { email: 'Victim@Example.com' } });
    expect(await sends.begin(send)).toBe('handing_off');
    expect(await sends.begin((await visit(automationId)).send)).toBe('cancelled');
  });

  test('gets no second by two that begin at once, together or apart', async () => {
    const { projectId, sends, visit, beginOf } = visitors();
    const automationId = newId();
    const both = [(await visit(automationId)).send, (await visit(automationId)).send];
    const begun = both.map((send) => beginOf(send));
    const decisions = await stepHandOffs(database.deps.db, projectId, [], begun);
    expect([...decisions.values()]).toEqual(['handing_off', 'queued']);
    const apart = newId();
    const [first, second] = [(await visit(apart)).send, (await visit(apart)).send];
    const client = await connectTo(database, projectId);
    await client.query('begin');
    expect(await beginOver(client, projectId, first)).toBe('handing_off');
    const beginning = sends.begin(second);
    await untilWaiting(database);
    expect(await isSettled(beginning)).toBe(false);
    await client.query('rollback');
    expect(await beginning).toBe('handing_off');
  });
});

test('a step asks of each of its mails what that keeps to, and of others nothing', async () => {
  const { projectId, person, leased, handedOver, beginOf } = limitedSends(database);
  const capped = await person();
  await handedOver(capped, '1 hour');
  const all = [
    await leased(await person()),
    await leased(await person(), { limits: QUIET_NOW }),
    await leased(capped),
    await leased(capped, { limits: cap() }),
    await leased(await person(), { limits: { ...QUIET_NOW, ...cap() } }),
    await leased(await person(), { limits: cap() }),
  ];
  const begun = all.map((send) => beginOf(send));
  const decisions = await stepHandOffs(database.deps.db, projectId, [], begun);
  expect([...decisions.values()]).toEqual([
    'handing_off',
    'queued',
    'handing_off',
    'queued',
    'queued',
    'handing_off',
  ]);
});

test('whoever steps with limits waits in no circle with whoever steps without', async () => {
  const { projectId, sends, person, plan, beginOf } = limitedSends(database);
  const people = await Promise.all(Array.from({ length: 5 }, person));
  const [mine, theirs] = [newId(), newId()];
  const steps: NewSend[][] = [];
  for (let at = 0; at < 12; at += 1) {
    const limits = at % 2 === 0 ? cap({ sends: 1_000 }) : null;
    const providerId = at % 2 === 0 ? mine : theirs;
    const ordered = people.toSorted(() => Math.random() - 0.5);
    const step: NewSend[] = [];
    for (const someone of ordered)
      step.push(
        await plan(someone, { limits, providerId, recipient: `${someone.profileId}@x.test` }),
      );
    steps.push(step);
  }
  for (const providerId of [mine, theirs]) await sends.claim(providerId);
  const decided = await Promise.all(
    steps.map((step) =>
      stepHandOffs(
        database.deps.db,
        projectId,
        [],
        step.map((send) => beginOf(send)),
      ),
    ),
  );
  const all = decided.flatMap((decisions) => [...decisions.values()]);
  expect(new Set(all)).toEqual(new Set(['handing_off']));
  expect(all).toHaveLength(60);
});

test('a step with limits reads its own rows only, however many people its project has', async () => {
  const { projectId, person, leased, handedOver } = limitedSends(database);
  const someone = await person();
  await handedOver(someone, '10 days');
  const send = await leased(someone, { limits: { ...QUIET_LATER, ...cap(), ...UNCONFIRMED_ONLY } });
  const others = 1_000;
  await database.owner.query(
    `with person as (
      insert into profiles.profiles (project_id, profile_id, created_at, updated_at)
      select $1, gen_random_uuid(), now(), now() from generate_series(1, $2::int) returning profile_id
    ), known as (
      insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
      select $1, gen_random_uuid(), 'external', profile_id, profile_id, profile_id from person returning *
    )
    insert into delivery.sends (project_id, send_id, run_id, step_id, identity_id, profile_id, provider_id, template_id,
      template_version, status, due_at, queued_at, expires_at, handed_off_at)
    select $1, gen_random_uuid(), gen_random_uuid(), 'other', identity_id, profile_id, gen_random_uuid(),
      gen_random_uuid(), 1, 'accepted', now(), now(), now(), now() from known`,
    [projectId, others],
  );
  await database.owner.query('analyze delivery.sends');
  const client = await connectTo(database, projectId);
  await client.query('begin');
  expect(await beginOver(client, projectId, send)).toBe('handing_off');
  for (const table of ['delivery.sends', 'identity.identities', 'profiles.profiles'])
    expect([table, (await rowsRead(client, table)) < others / 10]).toEqual([table, true]);
});
