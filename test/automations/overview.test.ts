import { expect, test } from 'vitest';
import {
  COUNTED_ROWS_MAX,
  COUNTED_RUNS_MAX,
  countedOfEach,
} from '../../src/automations/overview.ts';
import { PAGE_ITEMS_MAX } from '../../src/base/page.ts';

test.each([
  [0, COUNTED_RUNS_MAX],
  [1, COUNTED_RUNS_MAX],
  [2, COUNTED_RUNS_MAX],
  [6, 3_333],
  [PAGE_ITEMS_MAX, 100],
])(
  'of %i automations a list counts the newest %i runs each, and no more rows for more of them',
  (many, each) => {
    expect(countedOfEach(many)).toBe(each);
    expect(many * each).toBeLessThanOrEqual(COUNTED_ROWS_MAX);
  },
);
