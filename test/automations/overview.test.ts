import { expect, test } from 'vitest';
import { COUNTED_RUNS } from '../../src/automations/overview.ts';
import { countedOfEach } from '../../src/base/counted_of_each.ts';
import { PAGE_ITEMS_MAX } from '../../src/base/page.ts';

test.each([
  [0, COUNTED_RUNS.each],
  [1, COUNTED_RUNS.each],
  [2, COUNTED_RUNS.each],
  [6, 3_333],
  [PAGE_ITEMS_MAX, 100],
])(
  'of %i automations a list counts the newest %i runs each, and no more rows for more of them',
  (many, each) => {
    expect(countedOfEach(COUNTED_RUNS, many)).toBe(each);
    expect(many * each).toBeLessThanOrEqual(COUNTED_RUNS.together);
  },
);
