/** Who may ask whom, besides `base`: src/README.md as data. A room asks downwards only. */
export const ROOMS: Record<string, string[]> = {
  projects: [],
  alerts: [],
  ingest: [],
  identity: [],
  rendering: [],
  providers: ['alerts'],
  suppression: [],
  quotas: ['identity', 'ingest'],
  profiles: ['identity', 'ingest', 'suppression', 'quotas'],
  segments: ['profiles', 'identity', 'ingest', 'suppression'],
  delivery: ['projects', 'profiles', 'rendering', 'providers', 'suppression', 'ingest', 'alerts'],
  automations: ['segments', 'profiles', 'ingest', 'delivery', 'alerts'],
  feedback: ['delivery', 'providers', 'suppression', 'profiles', 'ingest', 'alerts'],
  segment_door: ['profiles', 'ingest', 'quotas'],
};

/** Where callers come in: they may open every room's front door, and mount what rooms hold out to them. */
export const DOORS = ['http', 'admin', 'worker'];

/** Know nothing of the server but types. */
export const CLIENTS = ['sdk', 'console', 'cli'];
/** What the command line takes of the admin door along: neither knows the server either. */
const TAKEN_ALONG = [
  'src/admin/client.ts',
  'src/admin/cookie_names.ts',
  'src/admin/folder/disk.ts',
];
/** What the SDKs and the admin API hold out to the Console. Both files import nothing. */
const FOR_CONSOLE = ['src/sdk/snippets.ts', 'src/admin/cookie_names.ts'];

/** Schemas that functions of a room may name besides those of rooms it may ask. */
export const SHARED_SCHEMAS = ['base', 'pg_catalog'];
export const OWN_SCHEMAS: Record<string, string[]> = {
  base: [],
  queue: ['graphile_worker'],
  analytics: Object.keys(ROOMS),
};

const frontDoor = (room: string): string => `src/${room}/${room}.ts`;
/** What admin holds out besides: a job or a command that needs one of them does not load the whole door. */
const BY_THEMSELVES = [
  'src/admin/audit_log.ts',
  'src/admin/folder/disk.ts',
  'src/admin/folder/folder.ts',
];
/** Of the doors, admin holds one out too: http mounts it, and `make start` makes its first person. */
export const FRONT_DOORS = new Set([
  ...[...Object.keys(ROOMS), 'admin'].map(frontDoor),
  ...BY_THEMSELVES,
]);

type Place = { zone: string; path: string };

/** The part of the map that a file belongs to: a folder of src, `main`, `config`, `tasks`. */
export const zoneOf = (path: string): string => {
  const [top = '', next = '', rest] = path.split('/');
  if (top !== 'src') return top;
  return rest === undefined ? next.replace(/\.ts$/, '') : next;
};

const isHeldOut = (path: string): boolean => /\/(?:routes|admin)\.ts$/.test(path);
const isFrontDoor = ({ path }: Place): boolean => FRONT_DOORS.has(path);
const isConfig = ({ zone }: Place): boolean => zone === 'config';

const zoneRules: Record<string, (to: Place, isType: boolean) => boolean> = {
  base: (to, isType) => isConfig(to) && isType,
  config: () => false,
  main: (to) => DOORS.includes(to.zone) || isConfig(to),
  runtime: (to) => isFrontDoor(to) || isConfig(to),
  tasks: isFrontDoor,
  db: isFrontDoor,
};

/** Whether one file may import another. */
export const mayImport = (from: string, to: string, isType: boolean): boolean => {
  const here = zoneOf(from);
  const there = { zone: zoneOf(to), path: to };
  if (here === 'console' && FOR_CONSOLE.includes(to)) return true;
  if (here === 'cli' && TAKEN_ALONG.includes(to)) return true;
  if (CLIENTS.includes(here)) return here === there.zone || isType;
  if (there.zone === 'base' && here !== 'config') return true;
  if (here === there.zone && here !== 'tasks') return true;
  if (here in ROOMS) return ROOMS[here]?.includes(there.zone) === true && isFrontDoor(there);
  if (DOORS.includes(here)) {
    return isFrontDoor(there) || isConfig(there) || (there.zone in ROOMS && isHeldOut(to));
  }
  return zoneRules[here]?.(there, isType) ?? false;
};

/** The folders of src that the map knows. */
export const ZONES = new Set([
  ...Object.keys(ROOMS),
  ...DOORS,
  ...CLIENTS,
  ...Object.keys(zoneRules),
  'analytics',
  // Guides in Markdown: no code imports from it.
  'docs',
]);
