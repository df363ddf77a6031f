import { expect, test } from 'vitest';
import { sayEnd } from '../../src/runtime/everything.ts';

test('a service that ended is said to have ended how it did, and what it said last', () => {
  expect(sayEnd(null, 'SIGKILL', null)).toBe(
    'the service stopped by itself (killed by SIGKILL; it did not say why)',
  );
  expect(sayEnd(1, null, 'queue stopped by itself')).toBe(
    'the service stopped by itself (exit code 1; queue stopped by itself)',
  );
});
