// Trying an automation for one person, to an address of one's own: whatever its steps wait for, its mails come now.
import { describe, expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { expectRefusal } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, get, post, happen, make, live, pass } = automationsThroughApi(database);

const EVENT = 'trial_started';
const TO = 'me@example.com';
const mailing = (given: Partial<NewDefinition> = {}): NewDefinition => ({
  trigger: { kind: 'event', event: EVENT },
  entry: 'mail',
  steps: { mail: mailShown() },
  ...given,
});
const tryIt = async (id: string, given: object = {}, who = 'ann') => {
  const run = await post(`/${id}/test`, { profile_id: `external_id:${who}`, to: TO, ...given });
  await pass('0');
  return run.id as string;
};
const sendsOf = async (id: string) =>
  (await ask('GET', `/v1/sends?automation_id=${id}`)).body.items.toReversed();
const decisionsOf = async (id: string, runId: string, who = 'ann') => {
  const { decisions } = await get(`/${id}/explain?profile_id=external_id:${who}&run_id=${runId}`);
  return decisions.map(({ decision }: { decision: string }) => decision);
};
/** Ten waits of a test. */
const passWaits = async () => {
  for (let wait = 0; wait < 10; wait += 1) await pass('5 seconds');
};

test('goes through every kind of step in seconds, and says what was decided at each', async () => {
  const endpoint = await ask('POST', '/v1/webhook-endpoints', {
    name: 'CRM',
    url: 'https://crm.example.com/hooks',
  });
  expect(endpoint.status).toBe(201);
  const ways = [
    { name: 'a', weight: 1, next: 'tell' },
    { name: 'b', weight: 1, next: 'tell' },
  ];
  const id = await make(
    mailing({
      entry: 'note',
      steps: {
        note: { kind: 'update_profile', traits: { stage: 'tested' }, next: 'month' },
        month: { kind: 'delay', duration: 'P1M', next: 'morning' },
        morning: { kind: 'delay_until', until: { time: '09:00' }, next: 'birthday' },
        birthday: {
          kind: 'delay_until',
          until: { trait: 'born', repeats: 'yearly' },
          otherwise: 'wait',
          next: 'wait',
        },
        wait: {
          kind: 'wait_for_event',
          event: 'paid',
          timeout: 'P30D',
          next: null,
          on_timeout: 'which',
        },
        which: {
          kind: 'branch',
          branches: [
            {
              when: {
                kind: 'trigger',
                where: [{ property: 'plan', test: { is: 'equals' as const, value: 'pro' } }],
              },
              next: 'half',
            },
          ],
          otherwise: null,
        },
        half: { kind: 'split', ways },
        tell: { kind: 'webhook', endpoint_id: endpoint.body.endpoint.id, next: 'mail' },
        mail: mailShown('end'),
        end: { kind: 'exit' },
      },
    }),
  );
  await happen(EVENT, { plan: 'pro' });
  const runId = await tryIt(id);
  await passWaits();
  expect(await decisionsOf(id, runId)).toEqual([
    'entered',
    'profile_updated',
    'delayed',
    'delay_over',
    'delayed',
    'delay_over',
    'no_date_ahead',
    'waits_for_event',
    'wait_timed_out',
    'branched',
    'split',
    'webhook_left_out',
    'send_queued',
    'exited',
  ]);
  expect(await sendsOf(id)).toMatchObject([{ to: TO, run_id: runId }]);
});

test('mails at once in quiet hours, and past a cap that the person has reached', async () => {
  const frequency_cap = { sends: 1, per: 'P7D' as const, over: 'skip' as const };
  const quiet_hours = { from: '00:00', to: '23:59' };
  const capped = await live(mailing({ settings: { re_entry: 'every_time', frequency_cap } }));
  await happen(EVENT);
  const id = await make(mailing({ settings: { frequency_cap, quiet_hours } }), 'Tried');
  const runId = await tryIt(id);
  expect(await decisionsOf(id, runId)).toEqual(['entered', 'send_queued']);
  expect(await sendsOf(capped)).toHaveLength(1);
});

test('counts for no cap of the person’s', async () => {
  const frequency_cap = { sends: 1, per: 'P7D' as const, over: 'skip' as const };
  const id = await live(mailing({ settings: { frequency_cap } }));
  for (const _ of [1, 2, 3]) await tryIt(id);
  await happen(EVENT);
  expect(await sendsOf(id)).toMatchObject([
    { to: TO },
    { to: TO },
    { to: TO },
    { to: 'ann@example.com' },
  ]);
});

test('mails also for somebody who has no address', async () => {
  const id = await make(mailing());
  await happen('seen', {}, 'ben');
  const runId = await tryIt(id, {}, 'ben');
  expect(await decisionsOf(id, runId, 'ben')).toEqual(['entered', 'send_queued']);
  expect(await sendsOf(id)).toMatchObject([{ to: TO }]);
});

describe('the trigger event', () => {
  const sentFor = async (id: string) => {
    const { rows } = await database.owner.query(
      `select event.properties from delivery.sends as send
       left join ingest.events as event using (project_id, event_id) where send.automation_id = $1`,
      [id],
    );
    return rows.map(({ properties }) => properties);
  };

  test('is the last of the person’s that would have started it', async () => {
    const where = [{ property: 'plan', test: { is: 'exists' as const } }];
    const id = await make(mailing({ trigger: { kind: 'event', event: EVENT, where } }));
    await happen(EVENT, { plan: 'free' });
    await happen(EVENT, { plan: 'pro' });
    await tryIt(id);
    expect(await sentFor(id)).toEqual([{ plan: 'pro' }]);
  });

  test('is none where they never did it', async () => {
    const id = await make(mailing());
    await tryIt(id);
    expect(await sentFor(id)).toEqual([null]);
  });

  test('may be old: only what happens from now on counts for its waits and its goal', async () => {
    const wait = {
      kind: 'wait_for_event' as const,
      event: 'paid',
      timeout: 'P3D',
      next: null,
      on_timeout: 'mail',
    };
    const id = await make(
      mailing({
        settings: { goal: { event: 'ordered' } },
        entry: 'wait',
        steps: { wait, mail: mailShown() },
      }),
    );
    for (const name of [EVENT, 'paid', 'ordered']) await happen(name);
    const runId = await tryIt(id);
    await happen('paid');
    expect(await decisionsOf(id, runId)).toEqual(['entered', 'waits_for_event', 'event_came']);
  });
});

test('several at once do not meet, nor the person’s own run', async () => {
  const wait = { kind: 'delay' as const, duration: 'P3D', next: 'mail' };
  const id = await live(mailing({ entry: 'wait', steps: { wait, mail: mailShown() } }));
  await happen(EVENT);
  const runIds = [await tryIt(id), await tryIt(id, { to: 'you@example.com' })];
  await passWaits();
  const sends = await sendsOf(id);
  expect(sends.map(({ to }: { to: string }) => to).toSorted()).toEqual([TO, 'you@example.com']);
  for (const runId of runIds)
    expect(await decisionsOf(id, runId)).toEqual([
      'entered',
      'delayed',
      'delay_over',
      'send_queued',
    ]);
  const { decisions, stopped_by } = await get(`/${id}/explain?profile_id=external_id:ann`);
  expect(decisions.map(({ decision }: { decision: string }) => decision)).toEqual([
    'entered',
    'delayed',
  ]);
  expect(stopped_by).toBeNull();
});

test('says why its mail does not come: the chosen address is suppressed', async () => {
  await ask('POST', '/v1/suppressions', { email: TO });
  const id = await make(mailing());
  const runId = await tryIt(id);
  expect(await decisionsOf(id, runId)).toEqual(['entered', 'send_suppressed']);
});

test('is no answer to why a person was not mailed', async () => {
  const id = await live(mailing());
  await tryIt(id);
  const { stopped_by } = await get(`/${id}/explain?profile_id=external_id:ann`);
  expect(stopped_by).toMatchObject({ decision: 'not_triggered' });
});

test('404: a run that is not theirs is not explained', async () => {
  const id = await live(mailing());
  await happen('seen', {}, 'ben');
  const runId = await tryIt(id);
  const asked = `/v1/automations/${id}/explain?profile_id=external_id:ben&run_id=${runId}`;
  expect((await ask('GET', asked)).status).toBe(404);
});

test('POST 409: nothing of an archived automation is tried any more', async () => {
  const id = await make(mailing());
  await happen('seen');
  await post(`/${id}/archive`);
  const given = { profile_id: 'external_id:ann', to: TO };
  expectRefusal(await ask('POST', `/v1/automations/${id}/test`, given), 'automation_state');
});

test('its mail says that it is a test in the send log', async () => {
  const id = await make(mailing());
  await happen('seen');
  await tryIt(id);
  expect(await sendsOf(id)).toMatchObject([{ is_test: true }]);
});

test('counts for no address that only a browser has said', async () => {
  const id = await live(mailing());
  await tryIt(id, {}, 'ann');
  const said = { external_id: 'eve', traits: { email: TO } };
  expect((await ask('POST', '/v1/identify', said, api.project.publishable_key)).status).toBe(202);
  await happen(EVENT, {}, 'eve');
  expect(await sendsOf(id)).toMatchObject([{ is_test: true }, { is_test: false, to: TO }]);
});
