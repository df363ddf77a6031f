import { dirname, join } from 'node:path/posix';
import { filesOf } from './tree.ts';
import type { Rule, Tree } from './tree.ts';

/** Imports of values that are followed when a file is loaded: neither types nor `import()`. */
const LOADED =
  /(?:^|\n)\s*(?:import|export)\s(?!type\s)(?:[^;'"]*?\sfrom\s)?\s*['"](\.[^'"]+)['"]/g;

/** What only an api serves, and what only a worker does. */
const OF_AN_API = ['src/http/doors.ts', 'src/http/routes.ts', 'src/admin/admin.ts'];
const OF_A_WORKER = ['src/worker/worker.ts'];

/** Whoever loads one of the first must not load any of the second. */
const APART: [loads: RegExp, not: string[]][] = [
  [/^src\/main\.ts$/, [...OF_AN_API, ...OF_A_WORKER]],
  [/^src\/worker\/worker\.ts$/, OF_AN_API],
  [/^tasks\/.*\.ts$/, OF_AN_API],
  [/^src\/http\/doors\.ts$/, OF_A_WORKER],
  [/^src\/runtime\/(?:erasures|export_apply|resume_sending)\.ts$/, OF_AN_API],
];

/** Everything that is loaded with a file. */
const closureOf = ({ paths, read }: Tree, path: string): Set<string> => {
  const known = new Set([path]);
  for (const file of known)
    for (const [, named = ''] of read(file).matchAll(LOADED)) {
      const target = join(dirname(file), named);
      if (paths.includes(target)) known.add(target);
    }
  return known;
};

export const loadRules: Rule[] = [
  {
    name: 'a process loads what its role needs',
    find: (tree) =>
      APART.flatMap(([loads, not]) =>
        filesOf(tree, loads).flatMap(({ path }) => {
          const loaded = closureOf(tree, path);
          return not.filter((other) => loaded.has(other)).map((other) => `${path} loads ${other}`);
        }),
      ),
    examples: [
      {
        files: {
          'src/main.ts': `import { openApi } from './http/api.ts';`,
          'src/http/api.ts': `import { mountDoors } from './doors.ts';`,
          'src/http/doors.ts': '',
        },
        says: 'src/main.ts loads src/http/doors.ts',
      },
      {
        files: {
          'tasks/admin/a.ts': `import {\n  forget,\n} from '../../src/admin/admin.ts';`,
          'src/admin/admin.ts': '',
        },
        says: 'tasks/admin/a.ts loads src/admin/admin.ts',
      },
    ],
  },
];
