// What an address was left alone for at a moment is what was answered at that moment, whatever was said since.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as suppression from '../../src/suppression/suppression.ts';
import { testDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';

const database = testDatabase();
const clock = virtualClock(database);
const EMAIL = 'ann@example.com';
const START = Date.UTC(2026, 0, 1);
const STEP_MS = 60_000;
const SEED = 4_711;
const SCRIPTS = 30;

const REASONS = ['hard_bounce', 'complaint', 'manual', 'provider_suppressed'] as const;
const step = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...REASONS) },
  fc.constantFrom('unsubscribe' as const, 'resubscribe' as const),
  fc.constantFrom('lift' as const, 'lift also complaints' as const),
  fc.constantFrom('soft bounces' as const, 'delivered again' as const),
  fc.constantFrom('import' as const, 'import of unsubscribes' as const, 'undo imports' as const),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const IMPORTS: Record<string, suppression.ImportItem['reason']> = {
  import: 'manual',
  'import of unsubscribes': 'unsubscribed',
};

const perform = async (scope: Scope, one: Step, at: Date, imports: string[]): Promise<void> => {
  const said = { email: EMAIL, source: 'test' };
  switch (one) {
    case 'unsubscribe':
      await suppression.unsubscribe(scope, said);
      return;
    case 'resubscribe':
      await suppression.resubscribe(scope, said);
      return;
    case 'lift':
    case 'lift also complaints': {
      const reasons = await suppression.listReasons(scope, EMAIL);
      const liftsComplaints = one !== 'lift' || reasons.includes('complaint');
      await suppression.lift(scope, { ...said, note: '', liftsComplaints });
      return;
    }
    case 'soft bounces':
    case 'delivered again':
      await suppression.suppressSoftBounced(scope, [
        { ...said, since: one === 'soft bounces' ? at : null },
      ]);
      return;
    case 'import':
    case 'import of unsubscribes': {
      const importId = newId();
      imports.push(importId);
      const items = [{ email: EMAIL, reason: IMPORTS[one] ?? ('manual' as const) }];
      await suppression.addImport(scope, { importId, source: 'test', note: null }, items);
      return;
    }
    case 'undo imports':
      for (const importId of imports.splice(0))
        await suppression.takeImportBack(scope, { importId, source: 'test' }, 10);
      return;
    default:
      await suppression.suppress(scope, { ...said, reason: one });
  }
};

test('the words that had been said by then say what was so then', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 3, maxLength: 20 }),
    async (script) => {
      const projectId = newId();
      const imports: string[] = [];
      const answered: { at: Date; reasons: string[] }[] = [];
      for (const [place, one] of script.entries()) {
        const at = new Date(START + place * STEP_MS);
        await clock.set(at);
        await inProject(database.deps, projectId, (scope) => perform(scope, one, at, imports));
        const reasons = await inProject(database.deps, projectId, (scope) =>
          suppression.listReasons(scope, EMAIL),
        );
        // A word may be put a moment after those before it.
        answered.push({ at: new Date(at.getTime() + STEP_MS / 2), reasons: reasons.toSorted() });
      }
      const said = await inProject(database.deps, projectId, (scope) =>
        suppression.readWordsOf(scope, [EMAIL, 'nobody@example.com']),
      );
      expect(said.get('nobody@example.com')).toEqual([]);
      const words = said.get(EMAIL) ?? [];
      for (const { at, reasons } of answered)
        expect([at, suppression.reasonsAt(words, at).toSorted()]).toEqual([at, reasons]);
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS });
}, 120_000);
