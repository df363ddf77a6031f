// Why somebody who came into a segment, or did not, was not let in; and what the past would have made of it.
import { beforeEach, describe, expect, test } from 'vitest';
import { explain } from '../../src/automations/explain.ts';
import { pause } from '../../src/automations/life.ts';
import { getAutomation } from '../../src/automations/queries.ts';
import { simulate } from '../../src/automations/simulate.ts';
import { identify } from '../../src/profiles/identify.ts';
import { refreshOn } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
let segment_id: string;
beforeEach(async () => {
  world = withSegments(database);
  segment_id = await world.segment(onPlan('pro'));
});

const entered = () => ({ trigger: { kind: 'segment_entered' as const, segment_id } });
const explained = async (automationId: string, who = 'ann') => {
  const { rows } = await database.owner.query<{ profile_id: string }>(
    'select profile_id from identity.identities where project_id = $1 and value = $2',
    [world.projectId, who],
  );
  const profileId = rows[0]?.profile_id ?? '';
  return world.within(async (scope) =>
    explain(scope, await getAutomation(scope, automationId), { profileId }),
  );
};
const stoppedBy = async (automationId: string): Promise<string | undefined> =>
  (await explained(automationId)).stopped_by?.decision;

describe('somebody was not let in because', () => {
  test('they did not come into the segment', async () => {
    await world.tell('ann', { plan: 'free' });
    const { stopped_by } = await explained(await world.live(entered()));
    expect(stopped_by).toMatchObject({ decision: 'not_entered', detail: { segment_id } });
  });

  test('they did not leave it', async () => {
    await world.tell('ann', { plan: 'pro' });
    const trigger = { kind: 'segment_left' as const, segment_id };
    expect(await stoppedBy(await world.live({ trigger }))).toBe('not_left');
  });

  test('they were found in it by the look at everybody', async () => {
    await world.tell('ann', { plan: 'team' });
    segment_id = await world.segment(onPlan('team'));
    await world.work();
    expect(await stoppedBy(await world.live(entered()))).toBe('found_by_fill');
  });

  test('they came in before the automation was active', async () => {
    await world.tell('ann', { plan: 'pro' });
    const id = await world.live(entered());
    const { stopped_by } = await explained(id);
    expect(stopped_by).toMatchObject({
      decision: 'not_active_then',
      at: expect.any(String),
      detail: { segment_id, entry: expect.any(String) },
    });
    await world.within((scope) => pause(scope, id));
    expect(await stoppedBy(id)).toBe('automation_paused');
  });

  test('they came in a moment ago, which nobody has read yet', async () => {
    const id = await world.live(entered());
    await identify(database.deps, world.caller, { external_id: 'ann', traits: { plan: 'pro' } });
    await refreshOn(database, world.projectId);
    expect(await stoppedBy(id)).toBe('not_read_yet');
    await world.work();
    expect(await stoppedBy(id)).toBeUndefined();
  });

  test('re_entry does not let them in again: which entry it was', async () => {
    const id = await world.live({ ...entered(), settings: { re_entry: 'once' } });
    for (const plan of ['pro', 'free', 'pro']) await world.tell('ann', { plan });
    const { decisions } = await explained(id);
    expect(decisions.map(({ decision }) => decision)).toEqual([
      'entered',
      'profile_updated',
      're_entry',
    ]);
    expect(decisions.at(-1)?.detail).toEqual({ entry: expect.any(String) });
  });
});

describe('a simulation', () => {
  test('goes by who came into a segment then, and when they reached a goal that is one', async () => {
    const team = await world.segment(onPlan('team'));
    await world.tell('zoe', { plan: 'team' });
    for (const plan of ['pro', 'free', 'pro', 'team']) await world.tell('ann', { plan });
    const id = await world.live({
      ...entered(),
      settings: { re_entry: 'every_time', goal: { segment_id: team } },
      entry: 'wait',
      steps: { wait: { kind: 'delay', duration: 'P1D', next: null } },
    });
    const kept = await world.within((scope) => getAutomation(scope, id));
    expect(
      await simulate(database.deps, world.projectId, kept, { days: 1, version: 1 }),
    ).toMatchObject({ triggered: 2, entered: 2, outcomes: { converted: 2 } });
    const once = await world.live(
      { trigger: { kind: 'segment_left', segment_id }, settings: { re_entry: 'once' } },
      'Left',
    );
    const left = await world.within((scope) => getAutomation(scope, once));
    expect(
      await simulate(database.deps, world.projectId, left, { days: 1, version: 1 }),
    ).toMatchObject({ triggered: 2, entered: 1, kept_out: { re_entry: 1, late: 0 } });
  });
});
