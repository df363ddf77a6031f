// The service in processes of its own. An import of old events sends no email, also with merges before, during and
// after it. Neither does the undo of a merge.
import { beforeAll, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { inProject } from '../../src/base/db.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { counted, DAY_MS, HOUR_MS, never } from '../segments/late_world.ts';
import { create } from '../segments/recount.ts';
import { askService } from '../support/ask_service.ts';
import { makeMail } from '../support/planned_sends.ts';
import type { Mail } from '../support/planned_sends.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 180_000;
const OLD_MS = 40 * DAY_MS;
const MINUTE_MS = 60_000;

const world = testWorld();
let api: Service;
let worker: Service;
let mail: Mail;
let buyers = '';
let newcomers = '';

const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
const call = async (method: string, path: string, body?: object, key?: string) => {
  const asked = { key: key ?? world.project.server_key, body };
  const { status, body: answer } = await askService(api, method, path, asked);
  expect(status, JSON.stringify(answer)).toBeLessThan(300);
  return answer;
};
const segmentBatch = async (batch: object[]): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${api.port}/segment/v1/batch`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${world.project.server_key}:`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ batch }),
  });
  expect(await response.json()).toEqual({ success: true });
};

type Who = { external_id: string } | { anonymous_id: string };
const person = (external_id: string): Who => ({ external_id });
const device = (of: string): Who => ({ anonymous_id: `device-${of}` });
const bought = (lagMs: number, ...whose: Who[]) =>
  call('POST', '/v1/events/batch', {
    events: whose.map((who) => ({ event: 'bought', ...who, occurred_at: ago(lagMs) })),
  });
const know = async (...people: string[]): Promise<void> => {
  for (const one of people)
    await call('POST', '/v1/identify', { external_id: one, traits: { email: addressOf(one) } });
};
/** Starts runs of an automation in which people wait. */
const begin = (name: string, ...who: string[]) =>
  call('POST', '/v1/events/batch', {
    events: who.map((one) => ({ event: `${name}_started`, ...person(one) })),
  });
const link = (of: string, external_id = of) =>
  call('POST', '/v1/identify/alias', { anonymous_id: `device-${of}`, external_id });
const undo = async (of: string): Promise<void> => {
  const { items } = await call('GET', '/v1/identity-links?limit=100');
  const made = items.find(
    (one: { anonymous_id: string; status: string }) =>
      one.anonymous_id === `device-${of}` && one.status === 'active',
  );
  await call('POST', `/v1/identity-links/${made.id}/undo`);
};

/** Waits until the worker has nothing left to do: no event, no person, no entry, no run and no send. */
const idle = () =>
  until('the worker is idle', async () => {
    const { rows } = await world.owner.query<{ is_idle: boolean }>(
      `select not exists (select from ingest.pending)
         and not exists (select from profiles.changes)
         and not exists (select from segments.segments where status <> 'ready')
         and not exists (
           select from segments.projects join automations.segment_readers using (project_id)
           where last_entry > seen_entry
         )
         and not exists (select from automations.runs where status = 'active' and wake_at <= now())
         and not exists (select from delivery.sends where status in ('queued', 'handing_off')) as is_idle`,
    );
    return rows[0]?.is_idle === true;
  });
/** The subjects of the emails to a person, in order of the alphabet. */
const mailsTo = (who: string): string[] =>
  world.sink.mails
    .filter(({ to }) => to.includes(addressOf(who)))
    .map(({ subject }) => subject ?? '')
    .toSorted();
const mailsToAll = async (...people: string[]) => {
  await idle();
  return Object.fromEntries(people.map((one) => [one, mailsTo(one)]));
};
const outcomesOf = async (name: string): Promise<Record<string, string>> => {
  const { rows } = await world.owner.query<{ value: string; outcome: string | null }>(
    `select known.value, run.outcome from automations.runs as run
     join automations.automations as automation using (project_id, automation_id)
     join identity.identities as known on known.identity_id = run.identity_id
     where automation.name = $1`,
    [name],
  );
  return Object.fromEntries(rows.map(({ value, outcome }) => [value, outcome ?? 'inside']));
};

const settings = { re_entry: 'every_time' as const };
/** An automation that sends one email, whose subject is its name. */
const mailing = (name: string, trigger: NewDefinition['trigger']) =>
  inProject(world.deps, world.project.project_id, async (scope) => {
    const text = { name, subject: name, html: '<p>Hello</p>', text: null };
    const templateId = await saveTemplate(scope, text);
    await automations.createActive(scope, name, {
      trigger,
      settings,
      entry: 'mail',
      steps: {
        mail: {
          kind: 'send_email',
          provider_id: mail.providerId,
          template_id: templateId,
          template_version: 1,
          next: null,
        },
      },
    });
  });
/** An automation in which people wait until they come into a segment. */
const waiting = (name: string, segment_id: string) =>
  inProject(world.deps, world.project.project_id, (scope) =>
    automations.createActive(scope, name, {
      trigger: { kind: 'event', event: `${name}_started` },
      settings: { ...settings, goal: { segment_id } },
      entry: 'delay',
      steps: { delay: { kind: 'delay', duration: 'P3D', next: null } },
    }),
  );

beforeAll(async () => {
  const { project_id: projectId } = world.project;
  mail = await makeMail(world.deps, projectId, world.sink);
  api = await world.start('api');
  worker = await world.start('worker');
  buyers = (await create(world, projectId, counted('bought'))).segment_id;
  newcomers = (await create(world, projectId, never('bought'))).segment_id;
  await idle();
  await mailing('in', { kind: 'segment_entered', segment_id: buyers });
  await mailing('out', { kind: 'segment_left', segment_id: newcomers });
  await waiting('until_buying', buyers);
}, TEST_TIMEOUT_MS);

test(
  'old events start no run by a segment, through either API; events inside late_events do',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const late = ['late-rest', 'late-past-bound', 'late-segment'];
    await know(...late, 'inside-bound', 'fresh-segment');
    await idle();
    const track = (userId: string, lagMs: number) => ({
      type: 'track',
      userId,
      event: 'Bought',
      timestamp: ago(lagMs),
    });
    const identified = (userId: string) => ({
      type: 'identify',
      userId,
      traits: { email: addressOf(userId) },
    });
    await bought(OLD_MS, person('late-rest'));
    await bought(24 * HOUR_MS + MINUTE_MS, person('late-past-bound'));
    await bought(24 * HOUR_MS - 10 * MINUTE_MS, person('inside-bound'));
    await segmentBatch([
      track('late-segment', OLD_MS),
      identified('late-new'),
      track('late-new', OLD_MS),
      track('fresh-segment', 0),
      identified('fresh-new'),
      track('fresh-new', 0),
    ]);
    expect(await mailsToAll(...late, 'inside-bound', 'fresh-segment', 'late-new')).toEqual({
      'late-rest': [],
      'late-past-bound': [],
      'late-segment': [],
      'late-new': [],
      'inside-bound': ['in', 'out'],
      'fresh-segment': ['in', 'out'],
    });
    expect(mailsTo('fresh-new').filter((subject) => subject === 'in')).toEqual(['in']);
    const { items } = await call('GET', '/v1/automations');
    const { id } = items.find(({ name }: { name: string }) => name === 'in');
    const profile = (await call('GET', '/v1/profiles?external_id=late-new')).items[0];
    const explained = await call('GET', `/v1/automations/${id}/explain?profile_id=${profile.id}`);
    expect(explained.stopped_by).toMatchObject({ decision: 'late' });
  },
);

test(
  'merges before, during and after an import change nothing of that; with fresh events each sends once',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const late = ['late-before', 'late-during', 'late-after'];
    const fresh = ['fresh-before', 'fresh-during', 'fresh-after'];
    await know(...late, ...fresh);
    await idle();
    await link('late-before');
    await link('fresh-before');
    await bought(OLD_MS, device('late-before'), device('late-after'));
    await bought(0, device('fresh-before'), device('fresh-after'));
    await idle();
    await link('late-after');
    await link('fresh-after');
    await idle();
    // Accepted, and not processed before they are merged.
    await worker.stop('SIGTERM');
    await bought(OLD_MS, device('late-during'));
    await bought(0, device('fresh-during'));
    await link('late-during');
    await link('fresh-during');
    worker = await world.start('worker');
    expect(await mailsToAll(...late, ...fresh)).toEqual({
      ...Object.fromEntries(late.map((one) => [one, []])),
      ...Object.fromEntries(fresh.map((one) => [one, ['in', 'out']])),
    });
  },
);

test(
  'a goal is reached by what happened since the run began, and not by an import of what was before',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const people = ['goal-late', 'goal-merged', 'goal-fresh'];
    await know(...people);
    await bought(OLD_MS, device('goal-merged'));
    await begin('until_buying', ...people);
    await idle();
    await bought(OLD_MS, person('goal-late'));
    await link('goal-merged');
    await bought(0, person('goal-fresh'));
    await idle();
    expect(await outcomesOf('until_buying')).toEqual({
      'goal-late': 'inside',
      'goal-merged': 'inside',
      'goal-fresh': 'converted',
    });
  },
);

test(
  'the undo of a merge starts no run and ends none, before, while and after a run waits',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const people = ['undo-before', 'undo-while', 'undo-after', 'robbed'];
    await know(...people, 'owner');
    await begin('until_buying', 'undo-after');
    await idle();
    await bought(0, ...people.map(device));
    await idle();
    for (const one of people.slice(0, 3)) await link(one);
    // A page says whose device it is. Later a server contradicts it.
    const claim = { anonymous_id: 'device-robbed', external_id: 'robbed' };
    await call('POST', '/v1/identify', claim, world.project.publishable_key);
    const mails = Object.fromEntries(people.map((one) => [one, ['in', 'out']]));
    expect(await mailsToAll(...people)).toEqual(mails);

    await mailing('gone', { kind: 'segment_left', segment_id: buyers });
    await mailing('back', { kind: 'segment_entered', segment_id: newcomers });
    await waiting('until_new', newcomers);
    await undo('undo-before');
    await idle();
    await begin('until_new', 'undo-before', 'undo-while', 'robbed');
    await idle();
    await undo('undo-while');
    await undo('undo-after');
    await link('robbed', 'owner');
    expect(await mailsToAll(...people)).toEqual(mails);
    expect(await outcomesOf('until_new')).toEqual({
      'undo-before': 'inside',
      'undo-while': 'inside',
      robbed: 'inside',
    });
    expect((await outcomesOf('until_buying'))['undo-after']).toBe('converted');
    const { items } = await call('GET', `/v1/segments/${newcomers}/history?limit=10`);
    const undone = items.filter(({ cause }: { cause: string }) => cause === 'undo');
    expect(undone.map(({ change }: { change: string }) => change)).toEqual(
      people.map(() => 'entered'),
    );
    // What they do themselves afterwards counts as ever.
    await bought(0, person('undo-while'));
    expect(await mailsToAll('undo-while')).toEqual({ 'undo-while': ['in', 'in', 'out', 'out'] });
  },
);
