import { expect, test } from 'vitest';
import { readRetryAfter, RETRY_AFTER_SECONDS_MAX } from '../../src/base/retry_after.ts';

const NOW = Date.parse('2026-11-06T08:49:00Z');

test.each([
  ['0', 0],
  [' 30 ', 30],
  [String(RETRY_AFTER_SECONDS_MAX), RETRY_AFTER_SECONDS_MAX],
  [String(RETRY_AFTER_SECONDS_MAX + 1), RETRY_AFTER_SECONDS_MAX],
  // RFC 9110 §5.6.7: IMF-fixdate, and the obsolete forms of RFC 850 and asctime().
  ['Fri, 06 Nov 2026 08:49:37 GMT', 37],
  ['Friday, 06-Nov-26 08:49:37 GMT', 37],
  ['Fri Nov  6 08:49:37 2026', 37],
  ['Fri, 06 Nov 2026 08:48:00 GMT', 0],
  ['Sun, 08 Nov 2026 08:49:00 GMT', RETRY_AFTER_SECONDS_MAX],
])('%j is %d seconds', (text, seconds) => {
  expect(readRetryAfter(text, NOW)).toBe(seconds);
});

test.each([undefined, '', 'soon', '-1', '1.5', '2026-11-06T08:49:37Z', 'Fri, soon', '1234567890'])(
  '%j is neither seconds nor a date',
  (text) => {
    expect(readRetryAfter(text, NOW)).toBeNull();
  },
);
