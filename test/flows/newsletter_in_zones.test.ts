// A monthly newsletter by the clock of each person, through SMTP. The service runs as processes, and the database has a
// clock of its own, which the test sets.
import { beforeAll, expect, test } from 'vitest';
import { saveProvider } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { inProject } from '../../src/base/db.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { YEAR } from '../ingest/some_events.ts';
import { askService } from '../support/ask_service.ts';
import { until } from '../support/until.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const world = testWorld();
const clock = virtualClock(world);
let service: Service;

/** When it is nine there on the first of two months: in summer, and in winter. */
const ZONES = {
  sydney: { timezone: 'Australia/Sydney', nines: ['06-30T23:00', '10-31T22:00'] },
  berlin: { timezone: 'Europe/Berlin', nines: ['07-01T07:00', '11-01T08:00'] },
  york: { timezone: 'America/New_York', nines: ['07-01T13:00', '11-01T13:00'] },
} as const;
const BEGINNING = new Date(`${YEAR - 1}-06-15T12:00:00Z`);

const ask = async (method: string, path: string, body?: object) => {
  const key = world.project.server_key;
  const { status, body: answer } = await askService(service, method, path, { key, body });
  expect([path, status < 300, answer]).toEqual([path, true, answer]);
  return answer;
};
/** Lets the queue go by the clock of the machine: its jobs are due at once, and its workers count as alive. */
const keepQueueClock = async (): Promise<void> => {
  const { rows } = await world.owner.query<{ name: string }>('select current_database() as name');
  await world.owner.query(
    `alter role trunkline_queue in database ${rows[0]?.name ?? ''} set search_path = "$user", public`,
  );
};
const newsletter = async (segment_id: string) => {
  const { deps, project, sink } = world;
  const provider_id = await saveProvider(deps, project.project_id, {
    display_name: 'Sink',
    from_email: 'news@shop.test',
    from_name: null,
    reply_to: null,
    ...sink.settings,
  });
  const template_id = await inProject(deps, project.project_id, (scope) =>
    saveTemplate(scope, { name: 'News', subject: 'This month', html: '<p>Hello</p>', text: null }),
  );
  return {
    trigger: {
      kind: 'schedule',
      segment_id,
      start: `${YEAR - 1}-07-01T09:00`,
      rule: 'FREQ=MONTHLY;INTERVAL=4;BYMONTHDAY=1',
      zone: 'person',
    },
    settings: { re_entry: 'every_time' },
    entry: 'mail',
    steps: {
      mail: { kind: 'send_email', provider_id, template_id, template_version: 1, next: null },
    },
  };
};
const mailed = (): string[] => world.sink.mails.flatMap(({ to }) => to);

beforeAll(async () => {
  await keepQueueClock();
  await clock.set(BEGINNING);
  service = await world.start('all');
}, TEST_TIMEOUT_MS);

test(
  'comes at nine in the morning of each person, in summer and in winter, once',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    for (const [external_id, { timezone }] of Object.entries(ZONES)) {
      const traits = { email: `${external_id}@people.test`, plan: 'pro', timezone };
      await ask('POST', '/v1/identify', {
        external_id,
        traits,
        occurred_at: BEGINNING.toISOString(),
      });
    }
    const where = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } };
    const segment = await ask('POST', '/v1/segments', { name: 'Pro', definition: { where } });
    await until('all are in the segment', async () => {
      const { items } = await ask('GET', `/v1/segments/${segment.id}/members`);
      return items.length === 3;
    });
    const definition = await newsletter(segment.id);
    const { id } = await ask('POST', '/v1/automations', { name: 'News', definition });
    const { occurrences } = await ask('POST', `/v1/automations/${id}/activate`);
    expect(
      occurrences.map(({ occurrence }: { occurrence: string }) => occurrence).slice(0, 2),
    ).toEqual([`${YEAR - 1}-07-01T09:00`, `${YEAR - 1}-11-01T09:00`]);
    const expected: string[] = [];
    for (const month of [0, 1])
      for (const [name, { nines }] of Object.entries(ZONES)) {
        await clock.set(new Date(`${YEAR - 1}-${nines[month] ?? ''}:00Z`));
        expected.push(`${name}@people.test`);
        await until(`${name} has it`, () => mailed().length >= expected.length);
        expect(mailed()).toEqual(expected);
      }
    const { items } = await ask('GET', `/v1/automations/${id}/segment-starts`);
    expect(
      items.map(({ occurrence, started }: { occurrence: string; started: number }) => [
        occurrence,
        started,
      ]),
    ).toEqual([
      [`${YEAR - 1}-11-01T09:00`, 3],
      [`${YEAR - 1}-07-01T09:00`, 3],
    ]);
  },
);
