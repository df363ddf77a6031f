// Whatever a mail waited for in the queue, it goes out when its person may have it: by real workers, over a real relay.
import { beforeAll, describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { sendHint } from '../../src/delivery/delivery.ts';
import { writeSettings } from '../../src/delivery/settings.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { identify } from '../../src/profiles/identify.ts';
import { saveProvider, setPlan } from '../../src/providers/providers.ts';
import { EXAMPLE_EVENT } from '../../src/runtime/example.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { cap, limitedSends, QUIET_NOW } from '../delivery/limited.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;

/** The world's project with another provider and a template, and mails that wait there with limits. */
const openedIn = async (world: World) => {
  const { project_id: projectId } = world.project;
  const sender = { display_name: 'T', from_name: null, reply_to: null };
  const connect = (name: string) =>
    saveProvider(world.deps, projectId, {
      ...sender,
      from_email: `${name}@x.test`,
      ...world.sink.settings,
    });
  const providerIds = [await connect('one'), await connect('two')] as const;
  const templateId = await inProject(world.deps, projectId, (scope) =>
    saveTemplate(scope, { name: 'T', subject: 'T', html: '<p>Hi</p>', text: 'T' }),
  );
  const limited = limitedSends(world, projectId);
  const wake = async () => {
    for (const providerId of providerIds) await hint(world.deps, sendHint(projectId, providerId));
  };
  /** Of the sends of these providers, how many stand how. */
  const counts = async (): Promise<Record<string, number>> => {
    const { rows } = await world.owner.query<{ stands: string; count: number }>(
      `select concat_ws('/', status, status_reason) as stands, count(*)::int from delivery.sends
      where provider_id = any ($1) group by stands`,
      [providerIds],
    );
    return Object.fromEntries(rows.map(({ stands, count }) => [stands, count]));
  };
  /** It is as much later for all that waits. */
  const endNight = () =>
    world.owner.query(
      `update delivery.sends set due_at = now() - interval '1 minute', limits = limits - 'quiet_hours'
      where status = 'queued'`,
    );
  return { ...limited, providerIds, templateId, wake, counts, endNight };
};
type Opened = Awaited<ReturnType<typeof openedIn>>;

describe.concurrent('a backlog that is let go in quiet hours', () => {
  const world = testWorld();
  let opened: Opened;
  beforeAll(async () => {
    opened = await openedIn(world);
  });

  test(
    'waits until they end, costs its provider nothing, and then goes out, found by the sweeper',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const { person, plan, providerIds, templateId, wake, counts, endNight } = opened;
      const [providerId] = providerIds;
      const ramp = { started_on: new Date().toISOString().slice(0, 10), stages: [13, 14] };
      await inProject(world.deps, world.project.project_id, (scope) =>
        setPlan(scope, providerId, { rate_per_second: null, ramp }),
      );
      for (let at = 0; at < 10; at += 1)
        await plan(await person(), { providerId, templateId, limits: QUIET_NOW });
      const awake = await plan(await person(), { providerId, templateId });
      const worker = await world.start('worker');
      await wake();
      await until('all but one wait', async () => (await counts())['queued/quiet_hours'] === 10);
      await until('that one is sent', async () => (await counts())['accepted'] === 1);
      expect(world.sink.mails.flatMap(({ to }) => to)).toEqual([awake.recipient]);
      await endNight();
      await until('the others are, on the same day of the ramp', async () => {
        return (await counts())['accepted'] === 11;
      });
      expect(new Set(world.sink.mails.flatMap(({ to }) => to)).size).toBe(11);
      await worker.stop();
    },
  );
});

describe.concurrent('two workers and a cap of one', () => {
  const world = testWorld();
  let opened: Opened;
  beforeAll(async () => {
    opened = await openedIn(world);
  });

  test(
    'hand one mail to each person, through whichever provider; the others wait for their day',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const { person, plan, providerIds, templateId, wake, counts } = opened;
      const people = await Promise.all(Array.from({ length: 15 }, person));
      for (const someone of people)
        for (const providerId of [...providerIds, ...providerIds]) {
          const recipient = `${someone.profileId}@people.test`;
          await plan(someone, { providerId, templateId, recipient, limits: cap() });
        }
      await Promise.all([world.start('worker'), world.start('worker')]);
      await wake();
      // Of two that begin together the second is asked again in a moment, and then waits for a day.
      await until('everybody has one', async () => {
        const { rowCount } = await world.owner.query(
          `select from delivery.sends where status = 'queued' and due_at < now() + interval '23 hours'`,
        );
        return rowCount === 0 && (await counts())['accepted'] === people.length;
      });
      expect(await counts()).toEqual({
        accepted: people.length,
        'queued/frequency_cap': 3 * people.length,
      });
      const received = world.sink.mails.flatMap(({ to }) => to);
      expect(received.toSorted()).toEqual(
        people.map(({ profileId }) => `${profileId}@people.test`).toSorted(),
      );
    },
  );
});

describe.concurrent('many visitors who type in one address', () => {
  const world = testWorld();
  const VICTIM = 'victim@people.test';

  /** Three more automations of the same event as the example's. */
  const activateMore = async (): Promise<void> => {
    const { project_id: projectId } = world.project;
    await inProject(world.deps, projectId, async (scope) => {
      const example = await automations.findAutomationByName(scope, 'Welcome');
      const definition =
        example && (await automations.findVersion(scope, example.automation_id, 1));
      if (!definition) throw new Error('there is no example');
      for (const name of ['two', 'three', 'four'])
        await automations.createActive(scope, name, definition);
    });
  };
  const visit = (visitors: readonly string[], kind: 'publishable' | 'server') =>
    accept(
      world.deps,
      { projectId: world.project.project_id, kind },
      {
        events: visitors.map((visitor) => ({
          event: EXAMPLE_EVENT,
          ...(kind === 'server' ? { external_id: visitor } : { anonymous_id: visitor }),
          properties: { email: VICTIM },
        })),
        admit: () => Promise.resolve(() => {}),
      },
    );
  const settled = (runs: number) =>
    until('all runs have ended and nothing waits', async () => {
      const { rows } = await world.owner.query<{ ended: number; waiting: number }>(
        `select (select count(*)::int from automations.runs where ended_at is not null) as ended,
          (select count(*)::int from delivery.sends where status in ('queued', 'handing_off')) as waiting`,
      );
      return rows[0]?.ended === runs && rows[0].waiting === 0;
    });
  const received = () => world.sink.mails.filter(({ to }) => to.includes(VICTIM));

  test(
    'get it one mail of an automation and three a day in all, until a server says whose it is',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      await activateMore();
      // The cap per recipient is about confirmed addresses, too: here it leaves room.
      await inProject(world.deps, world.project.project_id, (scope) =>
        writeSettings(scope, { recipient_sends_max: 100, unconfirmed_sends_max: 200 }),
      );
      await Promise.all([world.start('worker'), world.start('worker')]);
      const visitors = Array.from({ length: 12 }, (_, at) => `visitor-${at}`);
      await Promise.all(visitors.map((visitor) => visit([visitor], 'publishable')));
      await settled(4 * visitors.length);
      expect(received()).toHaveLength(3);
      const { rows } = await world.owner.query<{ mails: number }>(
        `select count(*)::int as mails from delivery.sends where status = 'accepted' group by automation_id`,
      );
      expect(rows.map(({ mails }) => mails)).toEqual([1, 1, 1]);

      const { project_id: projectId } = world.project;
      const caller = { projectId, kind: 'server' } as const;
      const known = { external_id: 'ann', anonymous_id: 'visitor-0', traits: { email: VICTIM } };
      await identify(world.deps, caller, known);
      await visit(['visitor-0', 'visitor-1'], 'publishable');
      await settled(4 * visitors.length + 8);
      expect(received()).toHaveLength(3 + 4);
    },
  );
});

describe.concurrent.each(['before_hand_off_commit', 'after_not_begun'])(
  'a worker killed at %s in quiet hours',
  (failpoint) => {
    const world = testWorld();

    test(
      'loses no mail: it waits, and goes out once when they end',
      { timeout: TEST_TIMEOUT_MS },
      async () => {
        const { person, plan, providerIds, templateId, wake, counts, endNight } =
          await openedIn(world);
        const [providerId] = providerIds;
        const send = await plan(await person(), { providerId, templateId, limits: QUIET_NOW });
        // As if it was planned just now, however long a worker takes to start: what has waited is not even rendered.
        await world.owner.query(
          "update delivery.sends set queued_at = now() + interval '5 minutes' where send_id = $1",
          [send.sendId],
        );
        const doomed = await world.start('worker', { TEST_FAILPOINT: failpoint });
        await wake();
        await until('the worker is killed', () => doomed.child.signalCode === 'SIGKILL');
        await world.start('worker');
        await until('it waits', async () => (await counts())['queued/quiet_hours'] === 1);
        await endNight();
        await until('it is sent', async () => (await counts())['accepted'] === 1);
        expect(world.sink.mails.map(({ to }) => to)).toEqual([[send.recipient]]);
      },
    );
  },
);
