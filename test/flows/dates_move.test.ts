// Runs wait for the end of a trial. The service runs as processes, with a mail server: the end moves by requests of a
// backend, and a page tries to move it. The email comes when it should.
import { beforeAll, describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { saveProvider } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { askService } from '../support/ask_service.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const DAY_MS = 86_400_000;
const world = testWorld();
let service: Service;
let automationId: string;

beforeAll(async () => {
  const { deps, project, sink } = world;
  const providerId = await saveProvider(deps, project.project_id, {
    display_name: 'Sink',
    from_email: 'trial@shop.test',
    from_name: null,
    reply_to: null,
    ...sink.settings,
  });
  automationId = await inProject(deps, project.project_id, async (scope) => {
    const mail = async (subject: string) => ({
      kind: 'send_email' as const,
      provider_id: providerId,
      template_id: await saveTemplate(scope, {
        name: subject,
        subject,
        html: '<p>Hello</p>',
        text: null,
      }),
      template_version: 1,
      next: null,
    });
    return automations.createActive(scope, 'Trial', {
      trigger: { kind: 'event', event: 'trial_started' },
      entry: 'ends',
      steps: {
        ends: {
          kind: 'delay_until',
          until: { trait: 'trial_ends_at' },
          next: 'ended',
          otherwise: 'no_date',
        },
        ended: await mail('Ended'),
        no_date: await mail('No date'),
      },
    });
  });
  service = await world.start('all');
  await world.start('worker');
}, TEST_TIMEOUT_MS);

const call = async (
  method: string,
  path: string,
  body?: object,
  key = world.project.server_key,
) => {
  const { status, body: answer } = await askService(service, method, path, { key, body });
  expect([path, status < 300, answer]).toEqual([path, true, answer]);
  return answer;
};
const ahead = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** A person whose trial ends in ten days, in a run that waits for that. */
const beginTrial = async (who: string) => {
  const email = `${who}@people.test`;
  const identify = (traits: object) => call('POST', '/v1/identify', { external_id: who, traits });
  const endsAt = ahead(10 * DAY_MS);
  await identify({ email, trial_ends_at: endsAt });
  await call('POST', '/v1/events', { event: 'trial_started', external_id: who });
  const waitsUntil = (at: string) =>
    until(`${who}: the run waits until ${at}`, async () => {
      const { items: people } = await call('GET', `/v1/profiles?external_id=${who}`);
      const [person] = people;
      if (!person) return null;
      const path = `/v1/automations/${automationId}/runs?profile_id=${person.id}`;
      const [run] = (await call('GET', path)).items;
      return run?.wake_at === at;
    });
  await waitsUntil(endsAt);
  const mailed = () =>
    until(`${who}: an email`, () => {
      const subjects = world.sink.mails
        .filter(({ to }) => to.includes(email))
        .map(({ subject }) => subject);
      return subjects.length > 0 && subjects;
    });
  return { identify, waitsUntil, mailed };
};

describe.concurrent('the end of a trial', { timeout: TEST_TIMEOUT_MS }, () => {
  test('moves near: the email comes then', async () => {
    const { identify, mailed } = await beginTrial('near');
    await identify({ trial_ends_at: ahead(4_000) });
    expect(await mailed()).toEqual(['Ended']);
  });

  test('moves away and back: the email comes once', async () => {
    const { identify, waitsUntil, mailed } = await beginTrial('away');
    const later = ahead(30 * DAY_MS);
    await identify({ trial_ends_at: later });
    await waitsUntil(later);
    await identify({ trial_ends_at: ahead(4_000) });
    expect(await mailed()).toEqual(['Ended']);
  });

  test.each([
    ['is removed', 'removed', null],
    ['is no date', 'no_date', 'soon'],
    ['moves into the past', 'past', new Date(0).toISOString()],
  ])('%s: the other email comes', async (_what, who, value) => {
    const { identify, mailed } = await beginTrial(who);
    await identify({ trial_ends_at: value });
    expect(await mailed()).toEqual(['No date']);
  });

  test('is not what a page says, where a server said it', async () => {
    const { waitsUntil, identify } = await beginTrial('page');
    const later = ahead(20 * DAY_MS);
    await identify({ trial_ends_at: later });
    const wish = { external_id: 'page', anonymous_id: 'b1', traits: { trial_ends_at: ahead(0) } };
    await call('POST', '/v1/identify', wish, world.project.publishable_key);
    await waitsUntil(later);
    expect(world.sink.mails.filter(({ to }) => to.includes('page@people.test'))).toEqual([]);
  });
});
