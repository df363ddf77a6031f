import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faults } from './faults.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FAULTS = 37;

test('every fault of the design is here, once', () => {
  expect(faults.map(({ id }) => id)).toEqual(
    Array.from({ length: FAULTS }, (_, at) => `F${at + 1}`),
  );
});

test('what is not brought about here names the tests that show it, and they are there', () => {
  const named = faults.flatMap((fault) =>
    'elsewhere' in fault
      ? [[fault.id, fault.elsewhere.match(/test\/[\w/]+\.test\.ts/g) ?? []] as const]
      : [],
  );
  expect(named.filter(([, files]) => files.length === 0)).toEqual([]);
  expect(
    named.flatMap(([, files]) => files.filter((file) => !existsSync(join(ROOT, file)))),
  ).toEqual([]);
});
