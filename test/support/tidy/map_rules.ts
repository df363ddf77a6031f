import { dirname, join } from 'node:path/posix';
import {
  FRONT_DOORS,
  mayImport,
  OWN_SCHEMAS,
  ROOMS,
  SHARED_SCHEMAS,
  zoneOf,
  ZONES,
} from './map.ts';
import { filesOf, matches } from './tree.ts';
import type { Rule, Tree } from './tree.ts';

const IMPORT =
  /(?:^|\n)\s*(import|export)\s(type\s)?(?:[^;'"]*?\sfrom\s)?\s*['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/g;
const OTHER_KINDS = /\/(?:utils?|helpers?|types|index|services?|common|misc|lib)\.ts$/;
const TOP_LEVEL = new Set([
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'Makefile',
  'README.md',
  'LICENSE',
  'src',
  'db',
  'tasks',
  'test',
]);

const withoutComments = (sql: string): string => sql.replaceAll(/--[^\n]*/g, '');

const SCHEMA = new RegExp(
  `(?<![\\w.])(${[...Object.keys(ROOMS), 'queue', 'admin', 'analytics', 'graphile_worker'].join('|')})\\.[\\w%]`,
  'g',
);

/** The schemas that a function of a room names, and may not. */
const findStrangeSchemas = (room: string, sql: string): string[] => {
  const allowed = [room, ...SHARED_SCHEMAS, ...(ROOMS[room] ?? []), ...(OWN_SCHEMAS[room] ?? [])];
  return [...new Set(matches(sql, SCHEMA))].filter((schema) => !allowed.includes(schema));
};

/** The tables and functions that a room's TypeScript names, and may not: what db/schema.sql calls by that name. */
const findStrangeObjects = ({ paths, read }: Tree, room: string, text: string): string[] => {
  const schema = paths.includes('db/schema.sql') ? read('db/schema.sql') : '';
  const made = new Set(matches(schema, /^create (?:table|view|function) (\w+\.\w+)/gm));
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
  return [...new Set(matches(code, /(?<![\w.])([a-z_]+\.[a-z_]+)\b/g))]
    .filter((name) => made.has(name))
    .filter((name) => findStrangeSchemas(room, name).length > 0);
};

export const mapRules: Rule[] = [
  {
    name: 'imports follow the map and enter by the front door',
    find: (tree) =>
      filesOf(tree, /^(?:src|tasks|db)\/.*\.(?:ts|tsx|mjs)$/).flatMap(({ path, text }) =>
        [...text.matchAll(IMPORT)].flatMap(([, , type, named, loaded]) => {
          const target = join(dirname(path), named ?? loaded ?? '');
          return mayImport(path, target, type !== undefined) ? [] : [`${path} -> ${target}`];
        }),
      ),
    examples: [
      {
        files: { 'src/ingest/ingest.ts': `import { plan } from '../delivery/delivery.ts';` },
        says: 'src/ingest/ingest.ts -> src/delivery/delivery.ts',
      },
      {
        files: { 'src/delivery/message.ts': `import { x } from '../profiles/queries.ts';` },
        says: 'src/profiles/queries.ts',
      },
      {
        files: { 'src/base/db.ts': `import { readConfig } from '../config.ts';` },
        says: 'src/config.ts',
      },
      {
        files: { 'src/base/db.ts': `import { x } from '../ingest/ingest.ts';` },
        says: 'src/ingest/ingest.ts',
      },
      {
        files: { 'src/http/api.ts': `export * from '../ingest/schema.ts';` },
        says: 'src/ingest/schema.ts',
      },
      {
        files: { 'src/main.ts': `import '../src/ingest/ingest.ts';` },
        says: 'src/ingest/ingest.ts',
      },
      {
        files: { 'tasks/ingest/x.ts': `import { x } from '../../src/ingest/queries.ts';` },
        says: 'tasks/ingest/x.ts -> src/ingest/queries.ts',
      },
      {
        files: { 'src/ingest/ingest.ts': `const x = await import('../worker/worker.ts');` },
        says: 'src/worker/worker.ts',
      },
      {
        files: { 'src/console/app.tsx': `import { router } from '../admin/router.ts';` },
        says: 'src/admin/router.ts',
      },
      {
        files: { 'src/cli/run.ts': `import { applyFolder } from '../admin/folder/folder.ts';` },
        says: 'src/admin/folder/folder.ts',
      },
    ],
  },
  {
    name: 'SQL follows the same map: functions and queries name only schemas that their room may ask',
    find: (tree) => [
      ...filesOf(tree, /^db\/fixtures\/\w+\/.*\.sql$/).flatMap(({ path, text }) =>
        findStrangeSchemas(path.split('/')[2] ?? '', withoutComments(text)).map(
          (schema) => `${path} -> ${schema}`,
        ),
      ),
      ...filesOf(tree, /^src\/\w+\/.*\.ts$/)
        .filter(({ path }) => zoneOf(path) in ROOMS)
        .flatMap(({ path, text }) =>
          findStrangeObjects(tree, zoneOf(path), text).map((name) => `${path} -> ${name}`),
        ),
    ],
    examples: [
      {
        files: { 'db/fixtures/ingest/x.sql': 'select * from delivery.sends' },
        says: 'db/fixtures/ingest/x.sql -> delivery',
      },
      {
        files: {
          'db/fixtures/delivery/x.sql': `execute format('select from automations.%I', name)`,
        },
        says: 'db/fixtures/delivery/x.sql -> automations',
      },
      {
        files: {
          'db/schema.sql': 'create table profiles.traits (\n',
          'src/ingest/queries.ts': 'sql`select ${x} from profiles.traits`',
        },
        says: 'src/ingest/queries.ts -> profiles.traits',
      },
    ],
  },
  {
    name: 'every folder of src is on the map, and every room has a front door',
    find: ({ paths }) => {
      const folders = new Set(matches(paths.join('\n'), /^src\/(\w+)\//gm));
      const rooms = [...folders].filter((folder) => folder in ROOMS);
      return [
        ...[...folders]
          .filter((folder) => !ZONES.has(folder))
          .map((folder) => `src/${folder} is not on the map`),
        ...rooms
          .map((room) => `src/${room}/${room}.ts`)
          .filter((door) => FRONT_DOORS.has(door) && !paths.includes(door)),
      ];
    },
    examples: [
      { files: { 'src/emails/emails.ts': '' }, says: 'src/emails is not on the map' },
      { files: { 'src/ingest/queries.ts': '' }, says: 'src/ingest/ingest.ts' },
    ],
  },
  {
    name: 'files are named after what they hold: no utils, helpers, types, index, service',
    find: ({ paths }) => paths.filter((path) => OTHER_KINDS.test(path)),
    examples: [
      { files: { 'src/ingest/utils.ts': '' }, says: 'src/ingest/utils.ts' },
      { files: { 'src/ingest/index.ts': '' }, says: 'src/ingest/index.ts' },
      { files: { 'test/support/helpers.ts': '' }, says: 'test/support/helpers.ts' },
    ],
  },
  {
    name: 'the top level is fixed',
    find: ({ paths }) =>
      [...new Set(paths.map((path) => path.split('/')[0] ?? ''))].filter(
        (entry) => !entry.startsWith('.') && !TOP_LEVEL.has(entry),
      ),
    examples: [
      { files: { 'docs/x.md': '' }, says: 'docs' },
      { files: { 'vite.config.ts': '' }, says: 'vite.config.ts' },
    ],
  },
];
