// What must be true of the schema, read from the system tables of a migrated database.
// Each rule is shown to be able to fail: something wrong is made, reported, and rolled back.
import { describe, expect, test } from 'vitest';
import { accessRules } from './support/access_rules.ts';
import { listViolations, listViolationsOf } from './support/catalogue.ts';
import { purityRules } from './support/catalogue_purity_rules.ts';
import { tableRules } from './support/catalogue_rules.ts';
import { testDatabase } from './support/database.ts';
import { peopleRules } from './support/people_rules.ts';

const database = testDatabase();

describe.each([...tableRules, ...purityRules, ...accessRules, ...peopleRules])(
  'rule $name',
  (rule) => {
    test('holds', async () => {
      expect(await listViolations(database.owner, rule)).toEqual([]);
    });

    test.each(rule.examples)('notices: $says', async (example) => {
      const said = await listViolationsOf(database.owner, rule, example);
      expect(said).toEqual(expect.arrayContaining([expect.stringContaining(example.says)]));
    });
  },
);
