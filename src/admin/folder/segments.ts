import { z } from 'zod';
import type { Scope } from '../../base/db.ts';
import { newId } from '../../base/ids.ts';
import * as segments from '../../segments/segments.ts';
import type { Become, Say } from './applying.ts';
import { readKind, toJson } from './files.ts';
import type { Folder } from './files.ts';
import { FolderError } from './folder_error.ts';
import { inFile } from './in_file.ts';
import { listNamedChanges } from './in_names.ts';
import { byKey, listMembers, renamed } from './names.ts';

/** A segment as a file: another that it asks about is named by its key. Static ones have no definition. */
const SegmentFile = z.strictObject({
  name: segments.Name,
  version: z.int().optional(),
  definition: z.record(z.string(), z.unknown()).optional(),
});
type SegmentFile = z.output<typeof SegmentFile>;

/** Ids by keys. */
export type SegmentIds = Map<string, string>;

const LISTED_MAX = 1_000;
const listAll = (scope: Scope) =>
  segments.listSegments(scope, { limit: LISTED_MAX, beforeId: null });

export const exportSegments = async (scope: Scope, folder: Folder): Promise<SegmentIds> => {
  const found = byKey('segments', (await listAll(scope)).toReversed());
  const ids: SegmentIds = new Map([...found].map(([key, { segment_id }]) => [key, segment_id]));
  const keys = new Map([...ids].map(([key, id]) => [id, key]));
  for (const [key, { name, version, kind, definition }] of found) {
    const isStatic = kind === 'static' || definition === null;
    const read = (id: string) => keys.get(id) ?? id;
    const asFile = renamed(definition, 'segment_id', { to: 'segment', read });
    folder.set(
      `segments/${key}.json`,
      toJson(isStatic ? { name, version } : { name, version, definition: asFile }),
    );
  }
  return ids;
};

/** Those first that others ask about. */
const inOrder = (files: ReadonlyMap<string, SegmentFile>): string[] => {
  const ordered: string[] = [];
  const open = new Set<string>();
  const visit = (key: string, by: string): void => {
    if (ordered.includes(key)) return;
    const file = files.get(key);
    if (!file)
      throw new FolderError(
        `segments/${by}.json asks about "${key}": there is no segments/${key}.json`,
      );
    if (open.has(key))
      throw new FolderError(`segments/${key}.json asks about itself, by way of another`);
    open.add(key);
    for (const used of listMembers(file.definition, 'segment')) visit(used, key);
    ordered.push(key);
  };
  for (const key of files.keys()) visit(key, key);
  return ordered;
};

type Row = Awaited<ReturnType<typeof listAll>>[number];
type Wanted = { name: string; definition: segments.Definition | null };

const change = async (
  scope: Scope,
  key: string,
  row: Row,
  { definition, version }: Wanted & { version: number | undefined },
): Promise<Become> => {
  const was = `${row.segment_id} ${row.version}`;
  const same = { changes: [], was, version: row.version };
  if (definition === null || row.kind === 'static') return same;
  const changes = await listNamedChanges(scope, row.definition ?? {}, definition);
  if (changes.length === 0) return same;
  if (version !== undefined && version !== row.version)
    throw new FolderError(
      `segments/${key}.json is of version ${version}, and there is version ${row.version}: ` +
        'export it again, or take its version out.',
      { isStale: true },
    );
  const after = await segments.changeSegment(scope, row.segment_id, {
    version: row.version,
    definition,
  });
  return { changes, was, version: after.version };
};

const parse = (key: string, definition: unknown): segments.Definition => {
  const parsed = segments.Definition.safeParse(definition);
  if (parsed.success) return parsed.data;
  throw new FolderError(`segments/${key}.json: ${z.prettifyError(parsed.error)}`);
};

/** Makes the project's segments of those names what the files say. Members of static ones are not in files. */
export const applySegments = async (
  scope: Scope,
  folder: Folder,
  say: Say,
): Promise<SegmentIds> => {
  const files = readKind(folder, 'segments', SegmentFile);
  const rows = Map.groupBy(await listAll(scope), (one) => one.name);
  const ids: SegmentIds = new Map();
  for (const key of inOrder(files)) {
    const { name, version, definition: written } = files.get(key) ?? { name: key };
    const read = (used: string) => ids.get(used) ?? used;
    const asked = renamed(written, 'segment', { to: 'segment_id', read });
    const definition = written === undefined ? null : parse(key, asked);
    const [row, other] = rows.get(name) ?? [];
    if (other) throw new FolderError(`Two segments are called "${name}". Rename one first.`);
    const id = row?.segment_id ?? newId();
    ids.set(key, id);
    if (row) {
      const become = await inFile(`segments/${key}`, () =>
        change(scope, key, row, { name, definition, version }),
      );
      say(`segments/${key}`, become);
      continue;
    }
    const made = await inFile(`segments/${key}`, () =>
      segments.createSegment(scope, { segmentId: id, name, definition }),
    );
    const said = { name, ...(written ? { definition } : {}) };
    const changes = await listNamedChanges(scope, {}, said);
    say(`segments/${key}`, { changes, was: null, version: made.version });
  }
  return ids;
};
