// Who enters, how often, and what is noted of who does not.
import { describe, expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { copy, journeysOf } from './journeys.ts';

const database = testDatabase();

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const ordered = (id: string | null, given: object = {}) =>
  newEvent({ properties: JSON.stringify(id === null ? {} : { order_id: id }), ...given });

const opened = async (settings: NewDefinition['settings']) => {
  const journeys = journeysOf(database);
  await journeys.activate({ settings: settings ?? {}, entry: 'a', steps: { a: copy({ x: 'x' }) } });
  const refused = () => journeys.select('reason, event_id', 'automations.refusals');
  return { ...journeys, refused };
};

describe('once per duration', () => {
  test('lets a person in again when it has passed since they last entered, and not before', async () => {
    const { tell, pass, refused } = await opened({ re_entry: { once_per: 'P30D' } });
    expect(await tell(ordered('a'))).toBe(1);
    const second = ordered('b');
    expect(await tell(second, ordered('x', { external_id: 'bob' }))).toBe(1);
    expect(await refused()).toEqual([{ reason: 're_entry', event_id: second.event_id }]);
    await pass('29 days 23 hours');
    expect(await tell(ordered('c'))).toBe(0);
    await pass('2 hours');
    expect(await tell(ordered('d'))).toBe(1);
  });

  test('lets one in of many that come at once', async () => {
    const { flush, start, pass, tell } = await opened({ re_entry: { once_per: 'P1D' } });
    for (let round = 0; round < 3; round += 1) {
      const flushes = await Promise.all(
        Array.from({ length: 5 }, (_, at) => flush(ordered(`${at}`))),
      );
      const started = await Promise.all(flushes.map((flushId) => start(flushId)));
      expect(started.reduce((sum, count) => sum + count, 0)).toBe(1);
      await tell();
      await pass('25 hours');
    }
  });
});

test('by a property of the trigger event: once for each value, with its own type', async () => {
  const { tell, select } = await opened({ re_entry: { by_property: 'order_id' } });
  const seven = newEvent({ properties: JSON.stringify({ order_id: 7 }) });
  expect(await tell(ordered('7'), ordered('7'), ordered('8'), seven, ordered(null))).toBe(4);
  expect(await tell(ordered('7'), ordered('9'), ordered(null))).toBe(1);
  expect(await tell(ordered('7', { external_id: 'bob' }))).toBe(1);
  const keys = await select('entry_key', 'automations.runs');
  expect(keys.map(({ entry_key }) => entry_key).join(' ')).not.toContain('"7"');
});

test('once: a person whose device was in is kept out under their own id, too', async () => {
  const { tell, link } = await opened({ re_entry: 'once' });
  expect(await tell(ordered('a', { external_id: null, anonymous_id: 'device' }))).toBe(1);
  await tell(newEvent({ name: 'seen' }));
  await link('device');
  expect(await tell(ordered('b'))).toBe(0);
});

describe('late events', () => {
  test('older than 24 h when received start nothing, and that is noted', async () => {
    const { tell, refused } = await opened({ re_entry: 'every_time' });
    const late = ordered('a', { occurred_at: hoursAgo(24.1) });
    expect(await tell(late, ordered('b', { occurred_at: hoursAgo(23.9) }))).toBe(1);
    expect(await refused()).toEqual([{ reason: 'late', event_id: late.event_id }]);
  });

  test('start a run where the setting says so', async () => {
    const { tell } = await opened({ re_entry: 'every_time', late_events: 'accept' });
    expect(await tell(ordered('a', { occurred_at: hoursAgo(100) }))).toBe(1);
  });
});

test('a thousand refusals of one person are one row, of the last', async () => {
  const { tell, refused } = await opened({ re_entry: 'once' });
  await tell(ordered('first'));
  const events = Array.from({ length: 100 }, (_, at) => ordered(`${at}`));
  await tell(...events);
  expect(await refused()).toEqual([{ reason: 're_entry', event_id: expect.any(String) }]);
});
