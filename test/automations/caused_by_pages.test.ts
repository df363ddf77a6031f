// What a web page causes besides email, by an event or an identify with the publishable key. The guide "Security model"
// names each of these effects.
import { beforeEach, expect, test } from 'vitest';
import { identify } from '../../src/profiles/identify.ts';
import { newEvent } from '../ingest/some_events.ts';
import { ordered } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { mail } from './journeys.ts';
import { onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
beforeEach(() => {
  world = withSegments(database);
});

type Source = 'server' | 'browser';
const happen = async (source: Source, name: string, external_id = 'ann'): Promise<void> => {
  const key_kind = source === 'server' ? 'server' : 'publishable';
  await world.flush(newEvent({ name, external_id, source, key_kind, properties: '{}' }));
  await workOn(database, world.projectId);
  await world.work();
};
const say = async (source: Source, traits: object, external_id = 'ann'): Promise<void> => {
  const kind = source === 'server' ? ('server' as const) : ('publishable' as const);
  const given = { external_id, anonymous_id: 'page', traits } as never;
  await identify(database.deps, { projectId: world.projectId, kind }, given);
  await world.work();
};
const historyOf = async (segmentId: string) =>
  (
    await database.owner.query(
      'select change, source from segments.history where segment_id = $1 order by entry',
      [segmentId],
    )
  ).rows;
const traitsOf = async (external_id = 'ann'): Promise<Record<string, unknown>> => {
  const { rows } = await database.owner.query(
    `select profile.traits from identity.identities as known join profiles.profiles as profile
       using (project_id, profile_id) where known.project_id = $1 and known.value = $2`,
    [world.projectId, external_id],
  );
  return rows[0]?.traits ?? {};
};

test('a page moves a person into segments and out of them, and the history says that a browser did', async () => {
  const pro = await world.segment(onPlan('pro'));
  const buyers = await world.segment(ordered());
  await say('server', { known: true });
  await say('browser', { plan: 'pro' });
  await say('browser', { plan: 'free' });
  await happen('browser', 'order_completed');
  expect(await historyOf(pro)).toEqual([
    { change: 'entered', source: 'browser' },
    { change: 'left', source: 'browser' },
  ]);
  expect(await historyOf(buyers)).toEqual([{ change: 'entered', source: 'browser' }]);
});

test('attack: a page does not move a person into a segment of a trait that a server set', async () => {
  const pro = await world.segment(onPlan('pro'));
  await say('server', { plan: 'free' });
  await say('browser', { plan: 'pro' });
  expect(await historyOf(pro)).toEqual([]);
});

test('a page has automations write traits with the authority of a server, and only those of their steps', async () => {
  const set = {
    kind: 'update_profile' as const,
    traits: { stage: 'trial' },
    traits_from_event: { plan: 'plan' },
    next: null,
  };
  const trigger = { kind: 'event' as const, event: 'trial_started' };
  await world.live({ trigger, entry: 'set', steps: { set } });
  await say('server', { plan: 'free' });
  await world.flush(
    newEvent({
      name: 'trial_started',
      source: 'browser',
      key_kind: 'publishable',
      properties: JSON.stringify({ plan: 'pro' }),
    }),
  );
  await workOn(database, world.projectId);
  await world.work();
  // The step's own word is the author's. What the event says is a browser's, and a server said otherwise.
  expect(await traitsOf()).toMatchObject({ stage: 'trial', plan: 'free' });
  await say('browser', { stage: 'none' });
  expect(await traitsOf()).toMatchObject({ stage: 'trial' });
});

test('a page writes email_skipped on the timeline of a person, once a day for each automation', async () => {
  const trigger = { kind: 'event' as const, event: 'trial_started' };
  const settings = { re_entry: 'every_time' as const };
  await world.live({ trigger, settings, entry: 'mail', steps: { mail: mail() } });
  await happen('browser', 'trial_started');
  await happen('browser', 'trial_started');
  const { rows } = await database.owner.query(
    `select source, properties ->> 'reason' as reason from ingest.events
     where project_id = $1 and name = 'email_skipped'`,
    [world.projectId],
  );
  expect(rows).toEqual([{ source: 'system', reason: 'no_address' }]);
});

const runsOf = async (settings: object, source?: 'server'): Promise<(string | null)[]> => {
  const trigger = { kind: 'event' as const, event: 'trial_started', ...(source ? { source } : {}) };
  await world.live({ trigger, settings });
  await happen('browser', 'trial_started');
  await happen('server', 'trial_started');
  return (await world.select('source', 'automations.runs')).map(({ source: by }) => by);
};

test('attack: a page uses up the one entry of a person, and the event of the server starts no run', async () => {
  expect(await runsOf({ re_entry: 'once' })).toEqual(['browser']);
});

test('a trigger that requires a server keeps the one entry of a person for its event', async () => {
  expect(await runsOf({ re_entry: 'once' }, 'server')).toEqual(['server']);
});
