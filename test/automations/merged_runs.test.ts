// A person who was enrolled under two identities has two runs of one automation. After a merge re_entry holds for the
// person: one run continues, and no email comes twice.
import { beforeEach, describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { testDatabase } from '../support/database.ts';
import { mail } from './journeys.ts';
import { DELAY, SERIES, withMerges } from './with_merges.ts';

const database = testDatabase();
let world: ReturnType<typeof withMerges>;
beforeEach(() => {
  world = withMerges(database);
});

const both = async (first = 'ann', second = 'Phone') => {
  await world.know('ann');
  await world.know('Phone', 'ann@example.com');
  await world.enroll(first);
  await world.enroll(second);
};

describe('of two runs that have not ended', () => {
  test.each([
    ['ann', 'Phone'],
    ['Phone', 'ann'],
  ])(
    'the run of %s, which is older, continues, and the run of %s ends as merged',
    async (first, second) => {
      await world.activate(SERIES);
      await both(first, second);
      await world.link('Phone');
      expect(await world.stands()).toEqual([`${first} active at wait`, `${second} active at wait`]);
      await world.settle();
      expect(await world.stands()).toEqual([`${first} active at wait`, `${second} merged`]);
      expect(await world.decided(second)).toEqual(['delayed', 'merged']);
      for (const _ of [1, 2]) await world.nextDay();
      expect(await world.emails()).toEqual([`${first} mail accepted`, `${first} last accepted`]);
    },
  );

  test('both are frozen or failed as well, and a failed run is not tried again', async () => {
    await world.activate(SERIES);
    await both();
    await database.owner.query(
      `update automations.runs set status = case when started_at = (
        select min(started_at) from automations.runs where project_id = $1
      ) then 'paused' else 'failed' end where project_id = $1`,
      [world.projectId],
    );
    await world.link('Phone');
    await world.merge();
    expect(await world.stands()).toEqual(['ann paused at wait', 'Phone merged']);
  });

  test('a test run does not count, and does not end', async () => {
    await world.activate(SERIES);
    await both();
    await database.owner.query(
      `update automations.runs set is_test = true, test_recipient = 'me@example.com'
      where project_id = $1 and identity_id in (
        select identity_id from identity.identities where project_id = $1 and value = 'ann')`,
      [world.projectId],
    );
    await world.link('Phone');
    await world.merge();
    expect(await world.stands()).toEqual(['Phone active at wait']);
    const { rows } = await database.owner.query(
      'select status from automations.runs where project_id = $1 and is_test',
      [world.projectId],
    );
    expect(rows).toEqual([{ status: 'active' }]);
  });

  test('each of three but the oldest ends', async () => {
    await world.activate(SERIES);
    await world.know('Tablet');
    await world.enroll('Tablet');
    await both();
    await world.link('Phone');
    await world.settle();
    expect(await world.stands()).toEqual([
      'Tablet active at wait',
      'ann active at wait',
      'Phone merged',
    ]);
    await world.link('Tablet');
    await world.settle();
    expect(await world.stands()).toEqual(['Tablet active at wait', 'ann merged', 'Phone merged']);
  });

  test('re_entry of the version of the younger decides', async () => {
    const automationId = await world.activate(SERIES);
    await world.know('ann');
    await world.know('Phone');
    await world.enroll('ann');
    const often = { ...SERIES, settings: { re_entry: 'every_time' as const } };
    await database.owner.query(
      `insert into automations.versions (project_id, automation_id, version, definition, created_at)
      select project_id, automation_id, 2, jsonb_set(definition, '{settings,re_entry}', $3), now()
      from automations.versions where project_id = $1 and automation_id = $2 and version = 1`,
      [world.projectId, automationId, JSON.stringify(often.settings.re_entry)],
    );
    await database.owner.query(
      'update automations.triggers set version = 2 where project_id = $1 and automation_id = $2',
      [world.projectId, automationId],
    );
    await world.enroll('Phone');
    await world.link('Phone');
    await world.settle();
    expect(await world.stands()).toEqual(['ann active at wait', 'Phone active at wait']);
  });
});

describe('a rule that allows several runs', () => {
  const series = (re_entry: object | 'every_time') => ({
    ...SERIES,
    settings: { re_entry } as never,
  });

  test('every_time: both continue, and both send', async () => {
    await world.activate(series('every_time'));
    await both();
    await world.link('Phone');
    await world.settle();
    await world.nextDay();
    expect(await world.stands()).toEqual(['ann active at rest', 'Phone active at rest']);
    expect(await world.emails()).toEqual(['ann mail accepted', 'Phone mail accepted']);
  });

  test('once_per: the younger ends within the duration, and continues after it', async () => {
    await world.activate(series({ once_per: 'P2D' }));
    await world.know('ann');
    await world.know('Phone');
    await world.know('Tablet');
    await world.enroll('ann');
    await world.nextDay();
    await world.enroll('Phone');
    await world.nextDay();
    await world.nextDay();
    await world.enroll('Tablet');
    await world.link('Phone');
    await world.link('Tablet');
    await world.settle();
    expect(await world.stands()).toEqual([
      'ann completed',
      'Phone completed',
      'Tablet active at wait',
    ]);
    const again = withMerges(database);
    await again.activate(series({ once_per: 'P2D' }));
    await again.know('ann');
    await again.know('Phone');
    await again.enroll('ann');
    await again.nextDay();
    await again.enroll('Phone');
    await again.link('Phone');
    await again.settle();
    expect(await again.stands()).toEqual(['ann active at rest', 'Phone merged']);
  });

  test('by_property: the younger ends for the same value, and continues for another', async () => {
    await world.activate(series({ by_property: 'order' }));
    await world.know('ann');
    await world.know('Phone');
    await world.enroll('ann', { order: 1 });
    await world.enroll('Phone', { order: 2 });
    await world.enroll('Phone', { order: 1 });
    await world.link('Phone');
    await world.settle();
    expect(await world.stands()).toEqual([
      'ann active at wait',
      'Phone active at wait',
      'Phone merged',
    ]);
  });

  test('by_property: after a merge no other identity is enrolled for the same value', async () => {
    await world.activate(series({ by_property: 'order' }));
    await world.know('ann');
    await world.know('Phone');
    await world.link('Phone');
    await world.settle();
    await world.enroll('ann', { order: 1 });
    await world.enroll('Phone', { order: 1 });
    await world.enroll('Phone', { order: 2 });
    expect(await world.stands()).toEqual(['ann active at wait', 'Phone active at wait']);
    const refused = await world.select('reason', 'automations.refusals');
    expect(refused).toEqual([{ reason: 're_entry' }]);
  });

  test('once_per: a merged run does not count for the next enrollment', async () => {
    await world.activate(series({ once_per: 'P2D' }));
    await world.know('ann');
    await world.know('Phone');
    await world.enroll('ann');
    await world.nextDay();
    await world.enroll('Phone');
    await world.link('Phone');
    await world.settle();
    // Two days after Ann, one day after the phone.
    await world.nextDay();
    await world.enroll('Phone');
    expect(await world.stands()).toEqual(['ann completed', 'Phone merged', 'Phone active at wait']);
  });
});

describe('no email comes twice', () => {
  test('an email that waits is cancelled with its run, and the older run sends it', async () => {
    await world.activate(SERIES);
    await both('Phone', 'ann');
    // Ann's run is a day ahead.
    await world.passFor('ann');
    await world.advance();
    expect(await world.emails()).toEqual(['ann mail queued']);
    await world.link('Phone');
    await world.settle();
    expect(await world.emails()).toEqual(['ann mail cancelled/run_merged']);
    expect(await world.stands()).toEqual(['Phone active at wait', 'ann merged']);
    await world.nextDay();
    expect(await world.emails()).toEqual(['ann mail cancelled/run_merged', 'Phone mail accepted']);
  });

  test.each(['accepted', 'handing_off'] as const)(
    'an email that is %s counts as sent, and the older run leaves it out',
    async (status) => {
      await world.activate(SERIES);
      await both('Phone', 'ann');
      await world.passFor('ann');
      await world.advance();
      await world.setQueued(status);
      await world.link('Phone');
      await world.settle();
      for (const _ of [1, 2]) await world.nextDay();
      expect(await world.emails()).toEqual([`ann mail ${status}`, 'Phone last accepted']);
      expect(await world.decided('Phone')).toEqual([
        'delayed',
        'delay_over',
        'sent_by_other_run',
        'delayed',
        'delay_over',
        'send_queued',
      ]);
    },
  );

  test('an older run leaves out what a younger run sent that has ended', async () => {
    await world.activate({
      settings: { re_entry: 'once' },
      entry: 'mail',
      steps: { mail: mail('wait'), wait: { ...DELAY, next: 'again' }, again: mail() },
    });
    await both('Phone', 'ann');
    await world.setQueued('accepted');
    await database.owner.query(
      `update automations.runs set status = 'ended', outcome = 'completed', step_id = null, wake_at = null
      where project_id = $1 and identity_id in (
        select identity_id from identity.identities where project_id = $1 and value = 'ann')`,
      [world.projectId],
    );
    await world.link('Phone');
    await world.settle();
    expect(await world.stands()).toEqual(['Phone active at wait', 'ann completed']);
    await world.nextDay();
    expect(await world.emails()).toEqual([
      'Phone mail accepted',
      'ann mail accepted',
      'Phone again accepted',
    ]);
  });

  test('of two runs that have ended, one email that waits is cancelled: the one of the younger', async () => {
    await world.activate({
      settings: { re_entry: 'once' },
      entry: 'mail',
      steps: { mail: mail() },
    });
    await both();
    expect(await world.emails()).toEqual(['ann mail queued', 'Phone mail queued']);
    await world.link('Phone');
    await world.settle();
    expect(await world.stands()).toEqual(['ann completed', 'Phone completed']);
    expect(await world.emails()).toEqual([
      'ann mail queued',
      'Phone mail cancelled/sent_by_other_run',
    ]);
  });

  test('an email of an older run that waits is cancelled where the younger run has sent it', async () => {
    await world.activate({
      settings: { re_entry: 'once' },
      entry: 'mail',
      steps: { mail: mail() },
    });
    await world.know('ann');
    await world.know('Phone');
    await world.enroll('Phone');
    const { rows } = await database.owner.query<{ send_id: string }>(
      'select send_id from delivery.sends where project_id = $1',
      [world.projectId],
    );
    await world.enroll('ann');
    await database.owner.query(
      `update delivery.sends set status = 'accepted' where project_id = $1 and send_id <> $2`,
      [world.projectId, rows[0]?.send_id],
    );
    await world.link('Phone');
    await world.settle();
    expect(await world.emails()).toEqual([
      'Phone mail cancelled/sent_by_other_run',
      'ann mail accepted',
    ]);
  });
});

test('a link of the release before has nothing compared, and of runs in one transaction one sends', async () => {
  await world.activate(SERIES);
  await both();
  await world.link('Phone');
  await database.owner.query('delete from automations.pending_merges where project_id = $1', [
    world.projectId,
  ]);
  await world.nextDay();
  expect(await world.stands()).toEqual(['ann active at rest', 'Phone active at rest']);
  expect(await world.emails()).toEqual(['ann mail accepted']);
});

describe('between a link and the comparison', () => {
  test('no run of the person is walked, and runs of other people are', async () => {
    await world.activate(SERIES);
    await both();
    await world.know('ben');
    await world.enroll('ben');
    await world.link('Phone');
    await world.pass('1 day');
    await world.advance();
    expect(await world.emails()).toEqual(['ben mail queued']);
    await world.settle();
    expect(await world.emails()).toEqual(['ben mail queued', 'ann mail queued']);
  });

  test('a link of a device that was never enrolled has nothing compared', async () => {
    await world.activate(SERIES);
    await world.know('ann');
    await world.know('Phone');
    await world.enroll('ann');
    await world.link('Phone');
    expect(await world.select('profile_id', 'automations.pending_merges')).toEqual([]);
  });

  test('runs are compared in pieces, and every_time takes none of them', async () => {
    await world.activate(SERIES);
    await world.activate(
      {
        ...SERIES,
        settings: { re_entry: 'every_time' },
        trigger: { kind: 'event', event: 'clicked' },
      },
      'clicks',
    );
    await both();
    await world.enroll('Phone', {}, 'clicked');
    await database.owner.query(
      `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
        step_id, wake_at, waits_until, started_at, source)
      select run.project_id, gen_random_uuid(), run.automation_id, run.version, run.identity_id, 'copy ' || copy,
        run.status, run.step_id, run.wake_at, run.waits_until, run.started_at, run.source
      from (
        select * from automations.runs where project_id = $1 order by run_id desc limit 1
      ) as run cross join generate_series(1, 999) as copy`,
      [world.projectId],
    );
    await world.link('Phone');
    const [{ profile_id }] = await world.select('profile_id', 'automations.pending_merges');
    let pieces = 1;
    const piece = () => world.within((scope) => automations.settleMerges(scope, profile_id));
    while ((await piece()).isMore) pieces += 1;
    expect(pieces).toBe(Math.ceil(1_002 / automations.COMPARED_RUNS_MAX + 0.001));
    const { rows } = await database.owner.query(
      `select coalesce(outcome, status) as stand, count(*)::integer as runs from automations.runs
      where project_id = $1 group by 1 order by 1`,
      [world.projectId],
    );
    expect(rows).toEqual([
      { stand: 'active', runs: 1_001 },
      { stand: 'merged', runs: 1 },
    ]);
    expect(await piece()).toEqual({ isMore: false });
  });
});
