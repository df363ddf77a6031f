// What the traits of one identify cost in the database grows with their number, not with its square.
import { expect, test } from 'vitest';
import { changeTraits } from '../../src/profiles/profiles.ts';
import { TRAIT_KEYS_MAX } from '../../src/profiles/traits.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';
import type { PlanMode } from '../support/rows_read.ts';
import { newPerson } from './people.ts';

const database = testDatabase();
/** Each trait is read to be compared, ranked, deleted and folded: a few times, however many there are. */
const READS_PER_TRAIT = 12;

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 31, 12, 0, second));
const traitsOf = (name: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}_${n}`, `value ${n}`]));

type Case = { count: number; table: string; mode: PlanMode };

/** Tells a person three times, with other names each time: the third pushes the first out. */
const readFor = async ({ count, table, mode }: Case, authority: 'publishable' | 'server') => {
  const { projectId, identityId } = await newPerson(database);
  let rows = 0;
  for (const [second, name] of ['first', 'second', 'third'].entries()) {
    const traits = traitsOf(authority === 'server' ? 'same' : name, count);
    const { read } = await withRowsRead(database, { projectId, table, mode }, (scope) =>
      changeTraits(scope, { identityId, traits, setAt: at(second), authority }),
    );
    rows = Math.max(rows, read);
  }
  return rows;
};

const TABLES = ['profiles.traits', 'profiles.browser_traits'];

test.each(PLAN_MODES.flatMap((mode) => TABLES.map((table) => [table, mode] as const)))(
  'attack: identifies of a page with ever other traits read each of %s a few times (%s)',
  async (table, mode) => {
    for (const count of [TRAIT_KEYS_MAX / 16, TRAIT_KEYS_MAX]) {
      const read = await readFor({ count, table, mode }, 'publishable');
      expect(read).toBeLessThan(2 * count * READS_PER_TRAIT);
    }
  },
);

test.each(PLAN_MODES)('the same of a server (%s)', async (mode) => {
  for (const count of [TRAIT_KEYS_MAX / 16, TRAIT_KEYS_MAX]) {
    const read = await readFor({ count, table: 'profiles.traits', mode }, 'server');
    expect(read).toBeLessThan(count * READS_PER_TRAIT);
  }
});
