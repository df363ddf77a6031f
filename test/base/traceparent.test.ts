// W3C Trace Context, at the bounds of what it takes for a traceparent (https://www.w3.org/TR/trace-context-2/).
import { expect, test } from 'vitest';
import { beginTrace, continueTrace, traceHeader, traceIdOf } from '../../src/base/traceparent.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const given = (changed: { version?: string; traceId?: string; parentId?: string; end?: string }) =>
  [
    changed.version ?? '00',
    changed.traceId ?? TRACE_ID,
    changed.parentId ?? PARENT_ID,
    changed.end ?? '01',
  ].join('-');
const partsOf = (traceparent: string | null) => traceparent?.split('-') ?? [];

test('a trace goes on under its id with a parent id of our own, another each time', () => {
  const [first, second] = [continueTrace(given({})), continueTrace(given({}))].map(partsOf);
  expect(first).toEqual(['00', TRACE_ID, expect.stringMatching(/^[0-9a-f]{16}$/), '01']);
  expect(new Set([PARENT_ID, first?.[2], second?.[2]]).size).toBe(3);
});

test.each([
  { traceId: `${'0'.repeat(31)}1` },
  { traceId: 'f'.repeat(32) },
  { parentId: `${'0'.repeat(15)}1` },
  { parentId: 'f'.repeat(16) },
])('what is least and most of an id is one: %j', (changed) => {
  expect(partsOf(continueTrace(given(changed)))[1]).toBe(changed.traceId ?? TRACE_ID);
});

test.each([
  ['00', '00'],
  ['01', '01'],
  ['02', '02'],
  ['03', '03'],
  ['04', '00'],
  ['fd', '01'],
  ['ff', '03'],
])('of the flags %s only those that are known go on: %s', (end, kept) => {
  expect(partsOf(continueTrace(given({ end })))[3]).toBe(kept);
});

test.each(['01', '01-', '01-what-will-be-said.then', '01-'.padEnd(500, 'x')])(
  'a version to come is read as far as it is known, and answered in ours: %s',
  (end) => {
    for (const version of ['01', 'cc', 'fe'])
      expect(partsOf(continueTrace(given({ version, end })))).toEqual([
        '00',
        TRACE_ID,
        expect.stringMatching(/^[0-9a-f]{16}$/),
        '01',
      ]);
  },
);

test.each([
  '',
  'nonsense',
  '00',
  given({ version: 'ff' }),
  given({ version: '0' }),
  given({ version: '000' }),
  given({ version: '0g' }),
  given({ traceId: '0'.repeat(32) }),
  given({ traceId: TRACE_ID.slice(1) }),
  given({ traceId: `${TRACE_ID}0` }),
  given({ traceId: TRACE_ID.toUpperCase() }),
  given({ parentId: '0'.repeat(16) }),
  given({ parentId: PARENT_ID.slice(1) }),
  given({ parentId: `${PARENT_ID}0` }),
  given({ parentId: PARENT_ID.toUpperCase() }),
  given({ end: '' }),
  given({ end: '1' }),
  given({ end: '0A' }),
  given({ end: '011' }),
  given({ end: '01-' }),
  given({ end: '01-more' }),
  given({ version: '01', end: '011' }),
  given({ version: '01', end: '01.more' }),
  ` ${given({})}`,
  `${given({})} `,
  `${given({})}\n`,
  given({ version: '01', end: '01-more\n' }),
  // Of two headers Node makes one.
  `${given({})}, ${given({})}`,
  `${given({ version: '01', end: '01-more' })}, ${given({})}`,
])('is none: %j', (wrong) => {
  expect(continueTrace(wrong)).toBeNull();
});

test('a trace that begins here is one, each time another, and is not sampled', () => {
  const [first, second] = [beginTrace(), beginTrace()];
  expect(continueTrace(first)).not.toBeNull();
  expect(partsOf(first)[3]).toBe('00');
  expect(traceIdOf(first)).not.toBe(traceIdOf(second));
});

test('a call out bears the trace where there is one', () => {
  const traceparent = continueTrace(given({}));
  const { traceparent: sent = '' } = traceHeader(traceparent);
  expect(traceIdOf(sent)).toBe(TRACE_ID);
  expect(sent).not.toBe(traceparent);
  expect([traceHeader(null), traceIdOf(null)]).toEqual([{}, undefined]);
});
