// What time it is for somebody, and when something is due: each test is named after what was decided.
import { describe, expect, test, vi } from 'vitest';
import {
  firstZone,
  isZone,
  later,
  nextTimeOfDay,
  onDate,
  quietUntil,
  ZONES_REMEMBERED_MAX,
} from '../../src/automations/clock.ts';

const BERLIN = 'Europe/Berlin';
const at = (text: string) => new Date(text);
const said = (date: Date | null) => date?.toISOString().replace('.000Z', 'Z') ?? null;

describe('a duration', () => {
  test('of days keeps the time of day when clocks go forward, and when they go back', () => {
    expect(said(later(at('2026-03-28T11:00:00Z'), 'P1D', BERLIN))).toBe('2026-03-29T10:00:00Z');
    expect(said(later(at('2026-10-24T10:00:00Z'), 'P1D', BERLIN))).toBe('2026-10-25T11:00:00Z');
  });

  test('of hours is that many hours, whatever clocks do', () => {
    expect(said(later(at('2026-03-28T11:00:00Z'), 'PT24H', BERLIN))).toBe('2026-03-29T11:00:00Z');
  });

  test('of days that ends in the hour that is left out ends when clocks go forward', () => {
    expect(said(later(at('2026-03-28T01:30:00Z'), 'P1D', BERLIN))).toBe('2026-03-29T01:30:00Z');
  });

  test('of a month after the last of a month is the last of the next', () => {
    expect(said(later(at('2026-01-31T12:00:00Z'), 'P1M', 'UTC'))).toBe('2026-02-28T12:00:00Z');
    expect(said(later(at('2028-01-31T12:00:00Z'), 'P1M', 'UTC'))).toBe('2028-02-29T12:00:00Z');
  });

  test('of a year after 29 February is 28 February', () => {
    expect(said(later(at('2028-02-29T12:00:00Z'), 'P1Y', 'UTC'))).toBe('2029-02-28T12:00:00Z');
  });
});

describe('a time of day', () => {
  const next = (from: string, zone: string, rule = { time: '09:00' }) =>
    said(nextTimeOfDay(at(from), rule, zone));

  test('is now when it is exactly now, and tomorrow a millisecond later', () => {
    expect(next('2026-06-01T07:00:00Z', BERLIN)).toBe('2026-06-01T07:00:00Z');
    expect(next('2026-06-01T07:00:00.001Z', BERLIN)).toBe('2026-06-02T07:00:00Z');
  });

  test('is that of the person: at both ends of the day it is another date', () => {
    const noon = '2026-06-01T12:00:00Z';
    expect(next(noon, 'Pacific/Kiritimati')).toBe('2026-06-01T19:00:00Z');
    expect(next(noon, 'Pacific/Pago_Pago')).toBe('2026-06-01T20:00:00Z');
    expect(next(noon, 'Asia/Kathmandu')).toBe('2026-06-02T03:15:00Z');
  });

  test('that is left out when clocks go forward is an hour later on the wall', () => {
    expect(next('2026-03-29T00:00:00Z', BERLIN, { time: '02:30' })).toBe('2026-03-29T01:30:00Z');
  });

  test('that comes twice when clocks go back is the first, and not again', () => {
    const rule = { time: '02:30' };
    expect(next('2026-10-25T00:00:00Z', BERLIN, rule)).toBe('2026-10-25T00:30:00Z');
    expect(next('2026-10-25T00:45:00Z', BERLIN, rule)).toBe('2026-10-26T01:30:00Z');
  });

  test('on weekdays is one of the person’s weekdays, not of ours', () => {
    const rule = { time: '09:00', weekdays: ['monday'] as const };
    const sunday = at('2026-06-07T21:00:00Z');
    expect(said(nextTimeOfDay(sunday, rule, 'Pacific/Auckland'))).toBe('2026-06-07T21:00:00Z');
    expect(said(nextTimeOfDay(sunday, rule, BERLIN))).toBe('2026-06-08T07:00:00Z');
    expect(said(nextTimeOfDay(at('2026-06-08T07:00:01Z'), rule, BERLIN))).toBe(
      '2026-06-15T07:00:00Z',
    );
  });

  test('on a date that a zone never had is on the next that it has', () => {
    expect(next('2011-12-30T09:30:00Z', 'Pacific/Apia', { time: '00:00' })).toBe(
      '2011-12-30T10:00:00Z',
    );
  });
});

describe('a date trait', () => {
  const now = at('2026-06-01T12:00:00Z');
  const due = (value: unknown, rule: Parameters<typeof onDate>[1] = {}, zone = BERLIN) =>
    said(onDate(value, rule, now, zone));

  test('that is a day is midnight on the person’s wall, or the time that is said', () => {
    expect(due('2026-06-10')).toBe('2026-06-09T22:00:00Z');
    expect(due('2026-06-10', { time: '09:00' })).toBe('2026-06-10T07:00:00Z');
    expect(due('2026-06-10', { time: '09:00' }, 'America/New_York')).toBe('2026-06-10T13:00:00Z');
  });

  test('that is a moment is that moment, and with a time of day that day on the person’s wall', () => {
    expect(due('2026-06-10T23:30:00Z')).toBe('2026-06-10T23:30:00Z');
    expect(due('2026-06-10T23:30:00Z', { time: '09:00' })).toBe('2026-06-11T07:00:00Z');
  });

  test('is so long before or after', () => {
    expect(due('2026-06-10', { offset: '-P3D', time: '09:00' })).toBe('2026-06-07T07:00:00Z');
    expect(due('2026-06-10', { offset: 'P1M' })).toBe('2026-07-09T22:00:00Z');
    expect(due('2026-06-10T23:30:00Z', { offset: '-PT2H' })).toBe('2026-06-10T21:30:00Z');
  });

  test('that has passed is no date ahead, nor is what is no date', () => {
    expect(due('2026-05-31')).toBeNull();
    for (const value of [
      undefined,
      null,
      '',
      'soon',
      42,
      true,
      '2026-02-30',
      '2026-13-01',
      '10.6.2026',
      [],
    ])
      expect([value, due(value)]).toEqual([value, null]);
  });

  test('beyond what anybody writes down is no date', () => {
    expect(due('9999-12-30T23:59:59Z')).toBe('9999-12-30T23:59:59Z');
    for (const value of ['+275760-09-13T00:00:00Z', '+010000-01-01T00:00:00Z', '9999-12-31'])
      expect([value, due(value, { offset: 'P3D' })]).toEqual([value, null]);
    expect(due('-271821-04-20T00:00:00Z', { offset: '-P3D' })).toBeNull();
  });

  test('that comes every year is the next, and 29 February is 28 February in other years', () => {
    const yearly = { repeats: 'yearly' as const, time: '09:00' };
    expect(due('1990-06-10', yearly)).toBe('2026-06-10T07:00:00Z');
    expect(due('1990-05-10', yearly)).toBe('2027-05-10T07:00:00Z');
    expect(due('1992-02-29', yearly)).toBe('2027-02-28T08:00:00Z');
    expect(said(onDate('1992-02-29', yearly, at('2028-02-01T00:00:00Z'), BERLIN))).toBe(
      '2028-02-29T08:00:00Z',
    );
    expect(due('1990-06-02', { ...yearly, offset: '-P7D' })).toBe('2027-05-26T07:00:00Z');
  });
});

describe('quiet hours', () => {
  const overNight = { from: '21:00', to: '08:00' };
  const until = (now: string, zone = BERLIN, hours = overNight) =>
    said(quietUntil(at(now), hours, zone));

  test('begin with their first minute and end before their last', () => {
    expect(until('2026-06-01T18:59:59Z')).toBeNull();
    expect(until('2026-06-01T19:00:00Z')).toBe('2026-06-02T06:00:00Z');
    expect(until('2026-06-02T05:59:59Z')).toBe('2026-06-02T06:00:00Z');
    expect(until('2026-06-02T06:00:00Z')).toBeNull();
  });

  test('are those of the person’s wall', () => {
    expect(until('2026-06-01T19:00:00Z', 'America/New_York')).toBeNull();
    expect(until('2026-06-01T19:00:00Z', 'Asia/Tokyo')).toBe('2026-06-01T23:00:00Z');
  });

  test('within a day do not reach over midnight', () => {
    const siesta = { from: '13:00', to: '15:00' };
    expect(until('2026-06-01T11:30:00Z', BERLIN, siesta)).toBe('2026-06-01T13:00:00Z');
    expect(until('2026-06-01T22:30:00Z', BERLIN, siesta)).toBeNull();
  });

  test('end the second time, where clocks show their end twice, and are followed by no second night', () => {
    const late = { from: '22:00', to: '02:30' };
    expect(until('2026-10-24T22:00:00Z', BERLIN, late)).toBe('2026-10-25T01:30:00Z');
    expect(until('2026-10-25T01:10:00Z', BERLIN, late)).toBe('2026-10-25T01:30:00Z');
    expect(until('2026-10-25T01:30:00Z', BERLIN, late)).toBeNull();
  });

  test('end on the wall also in a night in which clocks change', () => {
    expect(until('2026-03-28T22:00:00Z')).toBe('2026-03-29T06:00:00Z');
    expect(until('2026-10-24T22:00:00Z')).toBe('2026-10-25T07:00:00Z');
  });
});

test('a time zone is a name of the IANA database: anything else counts for none', () => {
  for (const zone of [BERLIN, 'UTC', 'America/Argentina/Ushuaia']) expect(isZone(zone)).toBe(true);
  for (const zone of ['', 'Mars/Olympus', '+02:00', '-05', null, 1, undefined, {}])
    expect(isZone(zone)).toBe(false);
  expect(firstZone('Mars/Olympus', BERLIN)).toBe(BERLIN);
  expect(firstZone(undefined)).toBe('UTC');
});

/** Names of zones in old Java, which ICU still knows. */
const OF_JAVA = (
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST ' +
  'SystemV/AST4 SystemV/PST8PDT EST MST HST PST8PDT GMT Zulu UCT Etc/GMT+12'
).split(' ');

test.each(OF_JAVA)(
  '%s is a time zone where the clock can be read in it, and only there',
  (zone) => {
    const read = () => later(new Date(0), 'P1D', zone);
    if (isZone(zone)) expect(read().getTime()).toBe(86_400_000);
    else expect(read).toThrow(RangeError);
    expect(() => later(new Date(0), 'P1D', firstZone(zone, BERLIN))).not.toThrow();
  },
);

test('a timestamp with a time zone in it is none, though Temporal takes it', () => {
  expect(isZone('2026-01-01T00:00[Europe/Berlin]')).toBe(false);
});

describe('whether there is a time zone', () => {
  test('is asked once for a name, whatever the answer, and remembered of so many', () => {
    const asked = vi.spyOn(Intl, 'DateTimeFormat');
    try {
      for (const _ of [1, 2, 3]) {
        expect(isZone('America/Danmarkshavn')).toBe(true);
        expect(isZone('Mars/Valles')).toBe(false);
      }
      expect(asked).toHaveBeenCalledTimes(2);
      for (let at = 0; at < ZONES_REMEMBERED_MAX; at += 1) isZone(`Mars/${at}`);
      asked.mockClear();
      expect(isZone('Mars/Valles')).toBe(false);
      expect(asked).toHaveBeenCalledTimes(1);
    } finally {
      asked.mockRestore();
    }
  });

  test('needs no asking of a name that is longer than any', () => {
    expect(isZone('x'.repeat(1_000_000))).toBe(false);
  });
});
