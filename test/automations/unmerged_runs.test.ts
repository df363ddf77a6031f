// An undo has a run that ended as merged continue where it was, as far as the outside world allows, and says what it
// could not restore.
import { beforeEach, describe, expect, test } from 'vitest';
import { listInProgress } from '../../src/automations/in_progress.ts';
import { archive } from '../../src/automations/life.ts';
import { testDatabase } from '../support/database.ts';
import { mail } from './journeys.ts';
import { SERIES, withMerges } from './with_merges.ts';

const database = testDatabase();
let world: ReturnType<typeof withMerges>;
beforeEach(() => {
  world = withMerges(database);
});

/** Ann and a phone, both inside; the phone belongs to Ben, who has another address. */
const both = async (first = 'ann', second = 'Phone', phoneEmail = 'ben@example.com') => {
  await world.know('ann');
  await world.know('Phone', phoneEmail);
  await world.enroll(first);
  await world.enroll(second);
};
const linked = async (device = 'Phone'): Promise<void> => {
  await world.link(device);
  await world.settle();
};
const undone = async (device = 'Phone'): Promise<void> => {
  await world.undo(device);
  await world.settle();
};
/** What an undo says that it could not restore of a run. */
const notRestored = async (who: string) =>
  (await world.logOf(who)).flatMap(({ decision, detail, step_id }) =>
    decision === 'not_restored' ? [`${step_id} ${detail['reason'] as string}`] : [],
  );
describe('a run that ended as merged', () => {
  test('continues at its step, with its wait, and both send what is theirs', async () => {
    await world.activate(SERIES);
    await both();
    const until = () => world.select('waits_until', 'automations.runs');
    const before = await until();
    await linked();
    expect(await world.stands()).toEqual(['ann active at wait', 'Phone merged']);
    await undone();
    expect(await world.stands()).toEqual(['ann active at wait', 'Phone active at wait']);
    expect(await world.decided('Phone')).toEqual(['delayed', 'merged', 'restored']);
    expect(await until()).toEqual(before);
    for (const _ of [1, 2]) await world.nextDay();
    expect(await world.emails()).toEqual([
      'ann mail accepted',
      'Phone mail accepted',
      'ann last accepted',
      'Phone last accepted',
    ]);
    expect(await notRestored('Phone')).toEqual([]);
  });

  test('that a schedule is to begin later does not begin before its time', async () => {
    await world.activate(SERIES);
    await both();
    await database.owner.query(
      `update automations.runs set wake_at = at.later, begins_at = at.later
       from (select date_trunc('day', now()) + interval '3 days' as later) as at where project_id = $1`,
      [world.projectId],
    );
    await linked();
    await undone();
    const { rows } = await database.owner.query(
      `select wake_at = begins_at as waits from automations.runs
       join identity.identities using (project_id, identity_id)
       where project_id = $1 and value = 'Phone'`,
      [world.projectId],
    );
    expect(rows).toEqual([{ waits: true }]);
  });

  test('of the person continues as well, when a device with an older run goes', async () => {
    await world.activate(SERIES);
    await both('Phone', 'ann');
    await linked();
    await undone();
    expect(await world.stands()).toEqual(['Phone active at wait', 'ann active at wait']);
  });

  test('expires where its step became due longer ago than expires_after', async () => {
    await world.activate({ ...SERIES, settings: { re_entry: 'once', expires_after: 'PT72H' } });
    await both();
    await linked();
    await database.owner.query(
      `update automations.run_merges set wake_at = wake_at - interval '5 days',
        waits_until = waits_until - interval '5 days' where project_id = $1`,
      [world.projectId],
    );
    await undone();
    expect(await world.stands()).toEqual(['ann active at wait', 'Phone expired']);
  });

  test('waits for events again, and sees those that came meanwhile', async () => {
    const wait = {
      kind: 'wait_for_event' as const,
      event: 'paid',
      where: [],
      timeout: 'P3D',
      next: 'mail',
      on_timeout: null,
    };
    await world.activate({
      settings: { re_entry: 'once' },
      entry: 'wait',
      steps: { wait, mail: mail() },
    });
    await both();
    await linked();
    await undone();
    expect(await world.stands()).toEqual(['ann active at wait', 'Phone active at wait']);
    await world.enroll('Phone', {}, 'paid');
    expect(await world.stands()).toEqual(['ann active at wait', 'Phone completed']);
    expect(await world.emails()).toEqual(['Phone mail queued']);
  });

  test('that was failed is failed again, and one that was frozen goes on with its automation', async () => {
    await world.activate(SERIES);
    await both();
    await world.know('Tablet');
    await world.enroll('Tablet');
    for (const [who, status] of [
      ['Phone', 'failed'],
      ['Tablet', 'paused'],
    ])
      await database.owner.query(
        `update automations.runs set status = $3 where project_id = $1 and identity_id in (
          select identity_id from identity.identities where project_id = $1 and value = $2)`,
        [world.projectId, who, status],
      );
    await linked();
    await linked('Tablet');
    expect(await world.stands()).toEqual(['ann active at wait', 'Phone merged', 'Tablet merged']);
    await undone();
    await undone('Tablet');
    expect(await world.stands()).toEqual([
      'ann active at wait',
      'Phone failed at wait',
      'Tablet active at wait',
    ]);
  });

  test('stays ended where its automation is archived, and its log says so', async () => {
    const automationId = await world.activate(SERIES);
    await both();
    await linked();
    await world.within((scope) => archive(scope, automationId));
    await undone();
    expect(await world.stands()).toEqual(['ann archived', 'Phone merged']);
    expect(await notRestored('Phone')).toEqual(['wait automation_archived']);
    await linked();
    await undone();
    expect(await notRestored('Phone')).toEqual(['wait automation_archived']);
  });

  test('ends again with the next link, and continues with the next undo', async () => {
    await world.activate(SERIES);
    await both();
    for (const _ of [1, 2]) {
      await linked();
      expect(await world.stands()).toEqual(['ann active at wait', 'Phone merged']);
      await undone();
      expect(await world.stands()).toEqual(['ann active at wait', 'Phone active at wait']);
    }
    expect(await world.decided('Phone')).toEqual([
      'delayed',
      'merged',
      'restored',
      'merged',
      'restored',
    ]);
  });
});

test('the preview of an undo names a run that ended as merged, until the undo restores it', async () => {
  await world.activate(SERIES);
  await both();
  await linked();
  const { rows } = await database.owner.query<{ identity_id: string }>(
    'select identity_id from identity.identities where project_id = $1',
    [world.projectId],
  );
  const identityIds = rows.map(({ identity_id }) => identity_id);
  const inProgress = async () =>
    (await world.within((scope) => listInProgress(scope, identityIds, 9))).map(
      ({ status }) => status,
    );
  expect(await inProgress()).toEqual(['merged', 'active']);
  await undone();
  expect(await inProgress()).toEqual(['active', 'active']);
});

describe('three identities', () => {
  const three = async () => {
    await world.activate(SERIES);
    await world.know('Phone');
    await world.know('ann');
    await world.know('Tablet');
    for (const who of ['Phone', 'ann', 'Tablet']) await world.enroll(who);
    await linked();
    await linked('Tablet');
    expect(await world.stands()).toEqual(['Phone active at wait', 'ann merged', 'Tablet merged']);
  };

  test('the oldest goes: the next oldest continues, and the youngest stays merged, into that one', async () => {
    await three();
    await undone();
    expect(await world.stands()).toEqual([
      'Phone active at wait',
      'ann active at wait',
      'Tablet merged',
    ]);
    await undone('Tablet');
    expect(await world.stands()).toEqual([
      'Phone active at wait',
      'ann active at wait',
      'Tablet active at wait',
    ]);
  });

  test('the youngest goes first: it continues, and the others stay', async () => {
    await three();
    await undone('Tablet');
    expect(await world.stands()).toEqual([
      'Phone active at wait',
      'ann merged',
      'Tablet active at wait',
    ]);
    await undone();
    expect(await world.stands()).toEqual([
      'Phone active at wait',
      'ann active at wait',
      'Tablet active at wait',
    ]);
  });

  test('links and undos that come before the comparison lead to the same', async () => {
    await world.activate(SERIES);
    await world.know('Phone');
    await world.know('ann');
    await world.know('Tablet');
    for (const who of ['Phone', 'ann', 'Tablet']) await world.enroll(who);
    await world.link('Phone');
    await world.link('Tablet');
    await world.undo('Phone');
    await world.settle();
    expect(await world.stands()).toEqual([
      'Phone active at wait',
      'ann active at wait',
      'Tablet merged',
    ]);
  });
});

describe('a server’s link that replaces a browser’s', () => {
  test('is an undo and a link at once, and so is its undo', async () => {
    await world.activate(SERIES);
    await world.know('eve');
    await world.know('ann');
    await world.know('Phone');
    for (const who of ['eve', 'ann', 'Phone']) await world.enroll(who);
    await world.link('Phone', 'eve', 'publishable');
    await world.settle();
    const atFirst = ['eve active at wait', 'ann active at wait', 'Phone merged'];
    expect(await world.stands()).toEqual(atFirst);
    await linked();
    expect(await world.stands()).toEqual(atFirst);
    const into = async () => {
      const merges = await world.select('into_run_id, undone_at', 'automations.run_merges');
      const runs = await world.runs();
      const ids = (await world.select('run_id', 'automations.runs'))
        .map(({ run_id }) => run_id as string)
        .toSorted();
      return merges
        .filter(({ undone_at }) => undone_at === null)
        .map(({ into_run_id }) => runs[ids.indexOf(into_run_id)]?.who);
    };
    expect(await into()).toEqual(['ann']);
    await undone();
    expect(await world.stands()).toEqual(atFirst);
    expect(await into()).toEqual(['eve']);
  });
});

describe('what cannot be taken back', () => {
  test('an email that a merge cancelled does not come, and the log says so once', async () => {
    await world.activate(SERIES);
    await both();
    await world.passFor('Phone');
    await world.advance();
    expect(await world.emails()).toEqual(['Phone mail queued']);
    await linked();
    for (const _ of [1, 2]) {
      await undone();
      expect(await notRestored('Phone')).toEqual(['mail email_cancelled']);
      await linked();
    }
    await undone();
    for (const _ of [1, 2]) await world.nextDay();
    expect(await world.emails()).toEqual([
      'Phone mail cancelled/run_merged',
      'ann mail accepted',
      'Phone last accepted',
      'ann last accepted',
    ]);
  });

  test('an email that the other run sent to the same address meanwhile is not sent again', async () => {
    await world.activate(SERIES);
    await both('ann', 'Phone', 'ann@example.com');
    await linked();
    await world.nextDay();
    expect(await world.emails()).toEqual(['ann mail accepted']);
    await undone();
    expect(await notRestored('Phone')).toEqual(['mail email_sent']);
    await world.nextDay();
    expect(await world.emails()).toEqual([
      'ann mail accepted',
      'ann last accepted',
      'Phone last accepted',
    ]);
    expect(await world.decided('Phone')).toEqual([
      'delayed',
      'merged',
      'restored',
      'not_restored',
      'delay_over',
      'sent_by_other_run',
      'delayed',
      'delay_over',
      'send_queued',
    ]);
  });

  test('an email that went to the other person’s address is sent to this one', async () => {
    await world.activate(SERIES);
    await both();
    // What a server said of Ann last counts for both.
    await world.know('ann');
    await linked();
    await world.nextDay();
    await undone();
    expect(await notRestored('Phone')).toEqual([]);
    await world.setQueued('accepted');
    expect(await world.emails()).toEqual(['ann mail accepted', 'Phone mail accepted']);
  });

  test('an email that a run left out for the other’s does not come, and the log says so', async () => {
    await world.activate(SERIES);
    await both();
    await world.passFor('Phone');
    await world.advance();
    await world.setQueued('accepted');
    await linked();
    await world.nextDay();
    expect(await world.decided('ann')).toContain('sent_by_other_run');
    await undone();
    expect(await notRestored('ann')).toEqual(['mail email_left_out']);
    expect(await notRestored('Phone')).toEqual([]);
    await linked();
    await undone();
    expect(await notRestored('ann')).toEqual(['mail email_left_out']);
  });

  test('of two runs that have ended, the email that was cancelled does not come, and the log says so', async () => {
    await world.activate({
      settings: { re_entry: 'once' },
      entry: 'mail',
      steps: { mail: mail() },
    });
    await both();
    await linked();
    expect(await world.emails()).toEqual([
      'ann mail queued',
      'Phone mail cancelled/sent_by_other_run',
    ]);
    await undone();
    expect(await notRestored('Phone')).toEqual(['mail email_cancelled']);
    expect(await notRestored('ann')).toEqual([]);
  });
});
