// How the code is written, as far as a test can tell. Each rule is shown to be able to fail.
import { describe, expect, test } from 'vitest';
import { jobRules } from './support/tidy/job_rules.ts';
import { linkRules } from './support/tidy/link_rules.ts';
import { loadRules } from './support/tidy/load_rules.ts';
import { mapRules } from './support/tidy/map_rules.ts';
import { migrationRules } from './support/tidy/migration_rules.ts';
import { sizeRules } from './support/tidy/size_rules.ts';
import { imagineTree, readTree } from './support/tidy/tree.ts';
import { wordRules } from './support/tidy/word_rules.ts';

const tree = readTree();

test('there are files to judge', () => {
  expect(tree.paths).toEqual(
    expect.arrayContaining(['src/main.ts', 'tasks/crontab', 'db/schema.sql']),
  );
});

describe.each([
  ...mapRules,
  ...loadRules,
  ...linkRules,
  ...jobRules,
  ...migrationRules,
  ...wordRules,
  ...sizeRules,
])('$name', (rule) => {
  test('holds', () => {
    expect(rule.find(tree)).toEqual([]);
  });

  test.each(rule.examples)('notices: $says', ({ files, says }) => {
    expect(rule.find(imagineTree(files))).toEqual(
      expect.arrayContaining([expect.stringContaining(says)]),
    );
  });
});
