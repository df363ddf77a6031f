// Three people wait for nine in the morning on the day when the clocks of their zones change. The service runs as
// processes, and the database has a clock of its own, which the test sets.
import { beforeAll, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { YEAR } from '../ingest/some_events.ts';
import { callService } from '../support/ask_service.ts';
import { saveMailStep, saveSink } from '../support/mail_steps.ts';
import { until } from '../support/until.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const DAY_MS = 86_400_000;
const world = testWorld();
const clock = virtualClock(world);
let service: Service;
let automationId: string;

/** The nth Sunday of a month of last year, from its first or, with -1, from its end. */
const sunday = (month: number, nth: number): Date => {
  const first = new Date(Date.UTC(YEAR - 1, month - 1, 1));
  const days = Array.from({ length: 31 }, (_, at) => new Date(first.getTime() + at * DAY_MS));
  const sundays = days.filter((day) => day.getUTCMonth() === month - 1 && day.getUTCDay() === 0);
  const found = sundays.at(nth > 0 ? nth - 1 : nth);
  if (!found) throw new Error('no such Sunday');
  return found;
};
const plus = (at: Date, ms: number) => new Date(at.getTime() + ms);
const toDay = (at: Date): string => at.toISOString().slice(0, 10);
const hours = (count: number) => count * 3_600_000;

/** When the clocks change, and at which moment it is nine there after that: by the offsets of the new time. */
const ZONES = [
  { name: 'york', timezone: 'America/New_York', changes: sunday(3, 2), nineAt: hours(13) },
  { name: 'berlin', timezone: 'Europe/Berlin', changes: sunday(3, -1), nineAt: hours(7) },
  { name: 'sydney', timezone: 'Australia/Sydney', changes: sunday(4, 1), nineAt: hours(-1) },
] as const;
const BEGINNING = plus(sunday(3, 2), -7 * DAY_MS);

const call = (method: string, path: string, body?: object) =>
  callService(service, method, path, { key: world.project.server_key, body });
/** Lets the queue go by the clock of the machine: its jobs are due at once, and its workers count as alive. */
const keepQueueClock = async (): Promise<void> => {
  const { rows } = await world.owner.query<{ name: string }>('select current_database() as name');
  const name = rows[0]?.name ?? '';
  await world.owner.query(
    `alter role trunkline_queue in database ${name} set search_path = "$user", public`,
  );
};
const activate = async (): Promise<string> => {
  const { deps, project, sink } = world;
  const providerId = await saveSink(deps, project.project_id, sink, 'trial@shop.test');
  return inProject(deps, project.project_id, async (scope) =>
    automations.createActive(scope, 'Renewal', {
      trigger: { kind: 'event', event: 'subscribed' },
      entry: 'before',
      steps: {
        before: {
          kind: 'delay_until',
          until: { trait: 'renews_on', offset: '-P1D', time: '09:00' },
          next: 'mail',
        },
        mail: await saveMailStep(scope, providerId, { subject: 'Tomorrow' }),
      },
    }),
  );
};
const wakesOf = async (): Promise<(string | null)[]> => {
  const { items } = await call('GET', `/v1/automations/${automationId}/runs`);
  return items.map(({ wake_at }: { wake_at: string | null }) => wake_at).toSorted();
};
const mailed = (): string[] => world.sink.mails.flatMap(({ to }) => to);

beforeAll(async () => {
  await keepQueueClock();
  await clock.set(BEGINNING);
  service = await world.start('all');
}, TEST_TIMEOUT_MS);

test(
  'a date moves onto the day of the change: the email comes at nine by the new clock',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    automationId = await activate();
    const occurred_at = BEGINNING.toISOString();
    for (const { name, timezone, changes } of ZONES) {
      const traits = {
        email: `${name}@people.test`,
        timezone,
        renews_on: toDay(plus(changes, 9 * DAY_MS)),
      };
      await call('POST', '/v1/identify', { external_id: name, traits, occurred_at });
      await call('POST', '/v1/events', { event: 'subscribed', external_id: name, occurred_at });
    }
    const nines = ZONES.map(({ changes, nineAt }) => plus(changes, nineAt));
    // A week later it is nine by the same clock.
    const first = nines.map((at) => plus(at, 8 * DAY_MS).toISOString());
    await until('all wait', async () => JSON.stringify(await wakesOf()) === JSON.stringify(first));
    for (const { name, changes } of ZONES) {
      const traits = { renews_on: toDay(plus(changes, DAY_MS)) };
      const told = plus(BEGINNING, 1_000).toISOString();
      await call('POST', '/v1/identify', { external_id: name, traits, occurred_at: told });
    }
    const moved = nines.map((at) => at.toISOString());
    await until('all moved', async () => JSON.stringify(await wakesOf()) === JSON.stringify(moved));
    for (const [at, nine] of nines.entries()) {
      await clock.set(nine);
      const expected = ZONES.slice(0, at + 1).map(({ name }) => `${name}@people.test`);
      await until('the email is here', () => mailed().length > at);
      expect(mailed()).toEqual(expected);
    }
  },
);
