// Why one mail did not go out, or did: each cause by its own name.
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { SEND_DECISIONS } from '../../src/automations/send_explanation.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { LINKS_PER_PROVIDER_MAX, noteFailure, park } from '../../src/providers/providers.ts';
import { sendsOf } from '../delivery/one_send.ts';
import { SHOWN_ID } from '../http/as_shown.ts';
import { expectRefusal } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';
import { used } from '../providers/used.ts';

const database = testDatabase();
const { api, ask, happen, live, pass } = automationsThroughApi(database);

const EVENT = 'trial_started';
const mailing = (given: Partial<NewDefinition> = {}): NewDefinition => ({
  trigger: { kind: 'event', event: EVENT },
  entry: 'mail',
  steps: { mail: mailShown() },
  ...given,
});
/** A mail that an automation planned for Ann, and what is said of it. */
const planned = async (given: Partial<NewDefinition> = {}) => {
  const id = await live(mailing(given));
  await happen(EVENT);
  return { id, ...(await found(id)) };
};
const found = async (automationId: string) => {
  const { items } = (await ask('GET', `/v1/sends?automation_id=${automationId}`)).body;
  const sendId: string = items[0]?.id;
  const explain = async () => (await ask('GET', `/v1/sends/${sendId}/explain`)).body;
  return {
    sendId,
    explain,
    decisions: async (): Promise<string[]> =>
      (await explain()).decisions.map(({ decision }: { decision: string }) => decision),
    stoppedBy: async () => (await explain()).stopped_by,
    set: (changes: string) =>
      database.owner.query(
        `update delivery.sends set ${changes} where project_id = $1 and send_id = $2`,
        [api.project.project_id, sendId],
      ),
  };
};
const attempt = (sendId: string, number: number, outcome: string, reason: string | null) =>
  database.owner.query(
    `insert into delivery.attempts (project_id, send_id, attempt, lease_owner, message_id, started_at, ended_at,
       outcome, reason)
     select $1, $2, $3, 'w', 'm' || $3::int, at, at, $4, $5
     from (select now() - interval '1 minute' * (10 - $3::int)) as moment (at)`,
    [api.project.project_id, sendId, number, outcome, reason],
  );
const within = <T>(work: Parameters<typeof inProject<T>>[2]): Promise<T> =>
  inProject(database.deps, api.project.project_id, work);

test('trigger, run, plan: in their order, and nothing stopped it', async () => {
  const delay = { kind: 'delay' as const, duration: 'P1D', next: 'mail' };
  const id = await live(
    mailing({
      entry: 'wait',
      steps: { wait: delay, mail: mailShown('after'), after: { kind: 'exit' as const } },
    }),
  );
  await happen(EVENT);
  await pass('1 day');
  const { explain, decisions } = await found(id);
  expect(await decisions()).toEqual(['entered', 'delayed', 'delay_over', 'send_queued']);
  expect(await explain()).toMatchObject({
    automation_id: id,
    stopped_by: null,
    decisions: [
      { detail: { event_id: expect.any(String), version: '1' } },
      { step_id: 'wait' },
      { step_id: 'wait' },
      { step_id: 'mail', at: expect.any(String), detail: { category: 'marketing' } },
    ],
  });
});

test('quiet hours and a frequency cap that it waited for are told before it', async () => {
  const quiet = { from: '00:00', to: '23:59' };
  const id = await live(mailing({ settings: { quiet_hours: quiet } }));
  await happen(EVENT);
  expect((await ask('GET', `/v1/sends?automation_id=${id}`)).body.items).toEqual([]);
  await database.owner.query(
    `with without as (
      insert into automations.versions (project_id, automation_id, version, definition, created_at)
      select project_id, automation_id, 2, jsonb_set(definition, '{settings,quiet_hours}', 'null'), now()
      from automations.versions where project_id = $1 and version = 1
      returning automation_id
    )
    update automations.runs as run set version = 2 from without where run.automation_id = without.automation_id`,
    [api.project.project_id],
  );
  await pass('1 day');
  expect(await (await found(id)).decisions()).toEqual(['entered', 'quiet_hours', 'send_queued']);
});

describe('it waits because', () => {
  test('its provider is parked: with what to do', async () => {
    const { stoppedBy } = await planned();
    await within((scope) => park(scope, used(SHOWN_ID), 'authentication_failed'));
    expect(await stoppedBy()).toMatchObject({
      decision: 'provider_parked',
      detail: { reason: 'authentication_failed', fix: expect.stringMatching(/save the provider/) },
    });
  });

  test('its provider is left alone for a while', async () => {
    const { stoppedBy } = await planned();
    for (let failures = 0; failures < 5; failures += 1)
      await within((scope) => noteFailure(scope, used(SHOWN_ID), { isProbe: false }));
    expect(await stoppedBy()).toMatchObject({
      decision: 'waits_for_circuit',
      detail: { until: expect.any(String) },
    });
  });

  test('its provider does not answer', async () => {
    const { stoppedBy, set } = await planned();
    await set("due_at = now() - interval '1 minute'");
    const sends = sendsOf(database, api.project.project_id);
    for (let at = 0; at < LINKS_PER_PROVIDER_MAX; at += 1) {
      const { sendId } = await sends.handingOff({ providerId: SHOWN_ID });
      await sends.update(sendId, "handed_off_at = now() - interval '1 minute'");
    }
    expect(await stoppedBy()).toMatchObject({
      decision: 'waits_for_answers',
      detail: { fix: expect.stringContaining('under way (10)') },
    });
  });

  test('a ramp has had its day', async () => {
    const { stoppedBy, set } = await planned();
    await set(`status_reason = 'ramp', due_at = now() + interval '1 day'`);
    expect(await stoppedBy()).toMatchObject({
      decision: 'waits_for_ramp',
      detail: { until: expect.any(String) },
    });
  });

  test.each([
    ['quiet_hours', 'quiet_hours'],
    ['frequency_cap', 'frequency_cap'],
    ['unconfirmed_address', 'waits_for_another'],
  ])('%s was found when it was to be handed over: until when', async (reason, decision) => {
    const { explain, set } = await planned();
    await set(`status_reason = '${reason}', due_at = now() + interval '1 hour'`);
    const { decisions, stopped_by } = await explain();
    expect(decisions.at(-1)).toMatchObject({ decision, detail: { until: expect.any(String) } });
    expect(stopped_by).toBeNull();
  });

  test('its automation is paused; and it has ended once that is archived', async () => {
    const { stoppedBy, set } = await planned();
    await set(`status_reason = 'automation_paused', due_at = now() + interval '1 hour'`);
    expect(await stoppedBy()).toMatchObject({ decision: 'automation_paused' });
    await set(`status_reason = 'automation_archived', status = 'cancelled'`);
    expect(await stoppedBy()).toMatchObject({ decision: 'automation_archived' });
  });

  test('it was not taken and is tried again: every hand-off is told', async () => {
    const { sendId, decisions, explain, set } = await planned();
    await attempt(sendId, 1, 'deferred', 'connection_failed');
    await set(
      `status_reason = 'connection_failed', attempt_count = 1, due_at = now() + interval '1 minute'`,
    );
    expect((await decisions()).slice(1)).toEqual([
      'send_queued',
      'handed_to_provider',
      'attempt_deferred',
      'waits_for_retry',
    ]);
    const said = await explain();
    expect(said.stopped_by).toBeNull();
    expect(said.decisions.at(-1)).toMatchObject({
      detail: { fix: expect.stringMatching(/^Check host/) },
    });
  });
});

describe('it ended because', () => {
  test.each([
    ['suppressed', 'hard_bounce', 'send_suppressed'],
    ['suppressed', 'unsubscribed', 'send_unsubscribed'],
    [
      'failed_render',
      'html, line 1, column 4: undefined variable: profile.x',
      'send_failed_render',
    ],
    ['expired', 'expired', 'send_expired'],
    ['cancelled', 'cancelled', 'send_cancelled'],
    ['cancelled', 'frequency_cap', 'frequency_cap_skipped'],
    ['cancelled', 'unconfirmed_address', 'unconfirmed_address'],
    ['rejected', 'sender_not_verified', 'send_rejected'],
    ['unknown', 'outcome_unknown', 'send_unknown'],
    ['not_sent', 'resolved', 'send_not_sent'],
  ])('%s (%s): %s', async (status, reason, decision) => {
    const { stoppedBy, set } = await planned();
    await set(`status = '${status}', status_reason = '${reason}'`);
    expect(await stoppedBy()).toMatchObject({ decision, detail: { reason }, step_id: 'mail' });
  });
});

test('what to do about an address that only a browser has said', async () => {
  const { sendId, stoppedBy, set } = await planned();
  await set(`status = 'cancelled', status_reason = 'unconfirmed_address'`);
  const fix = expect.stringMatching(/Identify the person with a server key/);
  expect(await stoppedBy()).toMatchObject({ detail: { fix } });
  expect((await ask('GET', `/v1/sends/${sendId}`)).body).toMatchObject({ status_fix: fix });
});

test('what was taken after a retry is told to its end; a bounce after all that stops', async () => {
  const { sendId, decisions, stoppedBy, set } = await planned();
  await attempt(sendId, 1, 'deferred', 'throttled');
  await attempt(sendId, 2, 'accepted', null);
  await database.owner.query(
    `insert into delivery.contents (project_id, send_id, subject, html, text) values ($1, $2, 's', 'h', 't')`,
    [api.project.project_id, sendId],
  );
  await set(
    `status = 'accepted', handed_off_at = now(), accepted_at = now(), delivered_at = now() + interval '1 s'`,
  );
  const whole = [
    'entered',
    'send_queued',
    'rendered',
    'handed_to_provider',
    'attempt_deferred',
    'handed_to_provider',
    'attempt_accepted',
    'send_accepted',
    'send_delivered',
  ];
  expect(await decisions()).toEqual(whole);
  expect(await stoppedBy()).toBeNull();
  await set(`bounced_at = now() + interval '2 s'`);
  expect(await decisions()).toEqual([...whole, 'send_bounced']);
  expect(await stoppedBy()).toMatchObject({ decision: 'send_bounced' });
});

test('what was refused as a bounce was not taken', async () => {
  const { sendId, explain, set } = await planned();
  await attempt(sendId, 1, 'rejected', 'recipient_refused');
  await database.owner.query(
    `update delivery.attempts set reply_code = 550, reply_enhanced = '5.1.1', reply_text = 'no such user'
    where send_id = $1`,
    [sendId],
  );
  // The bounce has the time at which its hand-off began.
  await set(
    `status = 'rejected', status_reason = 'recipient_refused', bounced_at = now() - interval '20 minutes'`,
  );
  const { decisions, stopped_by } = await explain();
  const last: { decision: string; at: string; detail: object }[] = decisions.slice(-3);
  expect(last.map(({ decision }) => decision)).toEqual([
    'handed_to_provider',
    'attempt_rejected',
    'send_bounced',
  ]);
  expect(last.map(({ at }) => at)).toEqual(last.map(({ at }) => at).toSorted());
  expect(last[1]?.detail).toMatchObject({ answer: '550 5.1.1 no such user' });
  expect(stopped_by).toMatchObject({
    decision: 'send_bounced',
    detail: { reason: 'recipient_refused', fix: 'Check the address.' },
  });
});

test('what somebody found out, and had sent again, is told, with no age that was another’s', async () => {
  const { sendId, decisions, explain, set } = await planned();
  await attempt(sendId, 1, 'unknown', 'outcome_unknown');
  await set(`status = 'unknown', status_reason = 'outcome_unknown', attempt_count = 1`);
  const found_out = { outcome: 'not_sent', send_again_after: 1 };
  expect((await ask('POST', `/v1/sends/${sendId}/resolve`, found_out)).status).toBe(200);
  await attempt(sendId, 2, 'accepted', null);
  await set(`status = 'accepted', accepted_at = now(), attempt_count = 2`);
  expect(await decisions()).toEqual([
    'entered',
    'send_queued',
    'handed_to_provider',
    'attempt_unknown',
    'found_not_taken',
    'handed_to_provider',
    'attempt_accepted',
    'send_accepted',
  ]);
  expect((await explain()).decisions[1].detail).toEqual({ category: 'marketing' });
});

test('of the automation: what has become of a mail since has its own time, or none', async () => {
  const { id, set } = await planned();
  const told = async () =>
    (await ask('GET', `/v1/automations/${id}/explain?profile_id=external_id:ann`)).body
      .decisions[1];
  const queued = await told();
  expect(queued).toMatchObject({ decision: 'send_queued', at: expect.any(String) });
  await set(`status = 'accepted', accepted_at = '2026-03-01T00:00:00Z'`);
  expect(await told()).toMatchObject({
    decision: 'send_accepted',
    at: '2026-03-01T00:00:00.000Z',
  });
  await set(`bounced_at = '2026-03-02T00:00:00Z'`);
  expect(await told()).toMatchObject({ decision: 'send_bounced', at: '2026-03-02T00:00:00.000Z' });
  await set(`bounced_at = null, accepted_at = null, status = 'expired'`);
  expect(await told()).toMatchObject({ decision: 'send_expired', at: null });
});

test.each([
  [`status = 'rejected', status_reason = 'blocked_by_policy'`, 'send_rejected', /^Let the login/],
  [
    `status = 'cancelled', status_reason = 'unconfirmed_address'`,
    'unconfirmed_address',
    /server key/,
  ],
  [
    `status = 'unknown', status_reason = 'outcome_unknown'`,
    'send_unknown',
    /^Look for the message/,
  ],
  [`status_reason = 'connection_failed'`, 'send_queued', /^Check host/],
])('of the automation: %s has what to do', async (how, decision, fix) => {
  const { id, set } = await planned();
  await set(how);
  const { body } = await ask('GET', `/v1/automations/${id}/explain?profile_id=external_id:ann`);
  expect(body.decisions[1]).toMatchObject({
    decision,
    detail: { fix: expect.stringMatching(fix) },
  });
});

test('of the automation: there is nothing to do about what was delivered after all', async () => {
  const { id, set } = await planned();
  await set(`status = 'unknown', status_reason = 'outcome_unknown', delivered_at = now()`);
  const { body } = await ask('GET', `/v1/automations/${id}/explain?profile_id=external_id:ann`);
  expect(body.decisions[1].decision).toBe('send_delivered');
  expect(body.decisions[1].detail).not.toHaveProperty('fix');
});

test('one that nobody knows of and that is sent again by itself is not stopped: it waits', async () => {
  const { id, sendId, explain, stoppedBy, set } = await planned({
    settings: { on_unknown: 'resend' },
  });
  await attempt(sendId, 1, 'unknown', 'outcome_unknown');
  await set(`status = 'unknown', status_reason = 'outcome_unknown', attempt_count = 1,
    due_at = now() + interval '10 minutes'`);
  const said = await explain();
  expect(said.stopped_by).toBeNull();
  expect(said.decisions.at(-1)).toMatchObject({
    decision: 'waits_for_resend',
    detail: { until: expect.any(String), fix: expect.stringContaining('by itself') },
  });
  const ofRun = `/v1/automations/${id}/explain?profile_id=external_id:ann`;
  expect((await ask('GET', ofRun)).body).toMatchObject({
    decisions: [{ decision: 'entered' }, { decision: 'waits_for_resend' }],
    stopped_by: null,
  });
  await set(`due_at = 'infinity'`);
  expect(await stoppedBy()).toMatchObject({ decision: 'send_unknown' });
});

test('a mail is kept for as long as its automation says, to the second', async () => {
  const { sendId } = await planned({ settings: { expires_after: 'PT12M30S' } });
  const { rows } = await database.owner.query<{ minutes: number }>(
    `select extract(epoch from expires_at - queued_at)::float8 / 60 as minutes from delivery.sends
    where send_id = $1`,
    [sendId],
  );
  expect(rows).toEqual([{ minutes: 12.5 }]);
});

test('GET 404: no such send; of an erased person’s run nothing is told', async () => {
  expectRefusal(
    await ask('GET', `/v1/sends/${'0'.repeat(8)}-0000-7000-8000-000000000000/explain`),
    'not_found',
  );
  const { decisions } = await planned();
  await database.owner.query('delete from automations.run_log where project_id = $1', [
    api.project.project_id,
  ]);
  expect(await decisions()).toEqual(['entered', 'send_queued']);
});

test('each decision says in a sentence what it means', () => {
  for (const { says } of Object.values(SEND_DECISIONS)) expect(says).toMatch(/^[A-Z].*\.$/);
});
