// Runs wait for the end of a trial. The service runs as processes, with a mail server: the end moves by requests of a
// backend, and a page tries to move it. The email comes when it should.
import { beforeAll, describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { callService } from '../support/ask_service.ts';
import { saveMailStep, saveSink } from '../support/mail_steps.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const DAY_MS = 86_400_000;
const world = testWorld();
let service: Service;
let automationId: string;

beforeAll(async () => {
  const { deps, project, sink } = world;
  const providerId = await saveSink(deps, project.project_id, sink, 'trial@shop.test');
  automationId = await inProject(deps, project.project_id, async (scope) => {
    return automations.createActive(scope, 'Trial', {
      trigger: { kind: 'event', event: 'trial_started' },
      entry: 'remember',
      steps: {
        remember: {
          kind: 'update_profile',
          traits_from_event: { email: 'email', trial_ends_at: 'trial_ends_at' },
          next: 'ends',
        },
        ends: {
          kind: 'delay_until',
          until: { trait: 'trial_ends_at' },
          next: 'ended',
          otherwise: 'no_date',
        },
        ended: await saveMailStep(scope, providerId, { subject: 'Ended' }),
        no_date: await saveMailStep(scope, providerId, { subject: 'No date' }),
      },
    });
  });
  service = await world.start('all');
  await world.start('worker');
}, TEST_TIMEOUT_MS);

const call = (method: string, path: string, body?: object, key = world.project.server_key) =>
  callService(service, method, path, { key, body });
type Who = { external_id: string } | { anonymous_id: string };
const idOf = async (who: Who): Promise<string | null> => {
  const { items } = await call('GET', `/v1/profiles?${new URLSearchParams(who).toString()}`);
  return items[0]?.id ?? null;
};
/** Waits until the person has a run that waits until a moment. */
const waitsUntil = (who: Who, at: string) =>
  until(`${JSON.stringify(who)}: the run waits until ${at}`, async () => {
    const id = await idOf(who);
    if (id === null) return null;
    const { items } = await call('GET', `/v1/automations/${automationId}/runs?profile_id=${id}`);
    return items.some(({ wake_at }: { wake_at: string | null }) => wake_at === at);
  });
const decisionsOf = async (who: Who): Promise<string[]> => {
  const path = `/v1/automations/${automationId}/explain?profile_id=${await idOf(who)}`;
  const { decisions } = await call('GET', path);
  return decisions.map(({ decision }: { decision: string }) => decision);
};
const mailsTo = (email: string): (string | null)[] =>
  world.sink.mails.filter(({ to }) => to.includes(email)).map(({ subject }) => subject);
const mailed = (email: string) =>
  until(`an email to ${email}`, () => mailsTo(email).length > 0 && mailsTo(email));
const start = (who: Who, properties = {}) =>
  call('POST', '/v1/events', { event: 'trial_started', ...who, properties });
const ahead = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** A person whose trial ends in ten days, in a run that waits for that. */
const beginTrial = async (name: string) => {
  const who = { external_id: name };
  const email = `${name}@people.test`;
  const identify = (traits: object) => call('POST', '/v1/identify', { ...who, traits });
  const endsAt = ahead(10 * DAY_MS);
  await identify({ email, trial_ends_at: endsAt });
  await start(who);
  await waitsUntil(who, endsAt);
  return { who, email, identify };
};

describe.concurrent('the end of a trial', { timeout: TEST_TIMEOUT_MS }, () => {
  test('moves near: the email comes then', async () => {
    const { email, identify } = await beginTrial('near');
    await identify({ trial_ends_at: ahead(4_000) });
    expect(await mailed(email)).toEqual(['Ended']);
  });

  test('moves away and back: the email comes once', async () => {
    const { who, email, identify } = await beginTrial('away');
    const later = ahead(30 * DAY_MS);
    await identify({ trial_ends_at: later });
    await waitsUntil(who, later);
    await identify({ trial_ends_at: ahead(4_000) });
    expect(await mailed(email)).toEqual(['Ended']);
  });

  test.each([
    ['is removed', 'removed', null],
    ['is no date', 'no_date', 'soon'],
    ['moves into the past', 'past', new Date(0).toISOString()],
  ])('%s: the other email comes', async (_what, name, value) => {
    const { email, identify } = await beginTrial(name);
    await identify({ trial_ends_at: value });
    expect(await mailed(email)).toEqual(['No date']);
  });

  test('is not what a page says, where a server said it', async () => {
    const { who, email, identify } = await beginTrial('page');
    const later = ahead(20 * DAY_MS);
    await identify({ trial_ends_at: later });
    const wish = { ...who, anonymous_id: 'b1', traits: { trial_ends_at: ahead(0) } };
    await call('POST', '/v1/identify', wish, world.project.publishable_key);
    await waitsUntil(who, later);
    // The run follows the next change of the server. So it has passed the one of the page.
    const last = ahead(30 * DAY_MS);
    await identify({ trial_ends_at: last });
    await waitsUntil(who, last);
    expect(mailsTo(email)).toEqual([]);
    expect(await decisionsOf(who)).toEqual([
      'entered',
      'nothing_to_update',
      'delayed',
      'date_moved',
      'date_moved',
    ]);
  });
});

/** A device in a run that waits for ten days, and a customer whose trial ends in forty. */
const beginTwo = async (name: string) => {
  const device = { anonymous_id: `${name}-device` };
  const customer = { external_id: `${name}-customer` };
  const email = `${name}@people.test`;
  const [own, hers] = [ahead(10 * DAY_MS), ahead(40 * DAY_MS)];
  const startDevice = (at = own) =>
    start(device, { email: `${name}-d@people.test`, trial_ends_at: at });
  const identify = (endsAt: string) =>
    call('POST', '/v1/identify', { ...customer, traits: { email, trial_ends_at: endsAt } });
  const link = async (): Promise<string> =>
    (await call('POST', '/v1/identify/alias', { ...device, ...customer })).link.id;
  const undo = (linkId: string) => call('POST', `/v1/identity-links/${linkId}/undo`);
  return { device, customer, email, own, hers, startDevice, identify, link, undo };
};

describe.concurrent('a device is linked to a customer', { timeout: TEST_TIMEOUT_MS }, () => {
  test('before its run begins: the run follows the date of the person', async () => {
    const { device, customer, email, hers, startDevice, identify, link } = await beginTwo('before');
    await call('POST', '/v1/events', { event: 'seen', ...device });
    await identify(hers);
    await link();
    await startDevice();
    await identify(hers);
    await waitsUntil(customer, hers);
    await identify(ahead(4_000));
    expect(await mailed(email)).toEqual(['Ended']);
  });

  test('while its run waits: the run takes the date of the person, and an undo returns its own', async () => {
    const story = await beginTwo('during');
    const { device, customer, own, hers, startDevice, identify, link, undo } = story;
    await startDevice();
    await waitsUntil(device, own);
    await identify(hers);
    const linkId = await link();
    await waitsUntil(customer, hers);
    await undo(linkId);
    await waitsUntil(device, own);
  });

  test('after its email: no other comes', async () => {
    const { device, customer, email, hers, startDevice, identify, link } = await beginTwo('after');
    await startDevice(ahead(3_000));
    expect(await mailed('after-d@people.test')).toEqual(['Ended']);
    await identify(hers);
    await link();
    const id = await until('both are one', async () => {
      const [one, other] = await Promise.all([idOf(device), idOf(customer)]);
      return one === other && one;
    });
    await identify(ahead(0));
    // Another run follows its date. So the note before it was seen.
    const other = await beginTrial('after-other');
    const moved = ahead(20 * DAY_MS);
    await other.identify({ trial_ends_at: moved });
    await waitsUntil(other.who, moved);
    const { items } = await call('GET', `/v1/automations/${automationId}/runs?profile_id=${id}`);
    expect(items.map(({ status }: { status: string }) => status)).toEqual(['ended']);
    expect(mailsTo(email)).toEqual([]);
  });
});
