import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { hint } from '../base/hints.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { Refusal } from '../base/refusal.ts';
import { todayAt } from './compile.ts';
import { explain } from './explain.ts';
import { importPeople, undoImport } from './import_people.ts';
import type { PeopleImport } from './import_people.ts';
import { listHistory, listMembers } from './read_queries.ts';
import { changeSegment, createSegment, deleteSegment } from './records.ts';
import type { ListUsers } from './records.ts';
import { listSegments } from './record_queries.ts';
import type { SegmentRow } from './record_queries.ts';
import { refreshHint } from './segments.ts';
import { toChange, toSegment } from './shown.ts';

// What people with a server key or the Console do with segments; both doors answer the same.

export type Where = { deps: Deps; projectId: string };

/** Changes something, and wakes a worker to look at who comes or goes by it. */
const change = async <T>({ deps, projectId }: Where, work: (scope: Scope) => Promise<T>) => {
  const changed = await inProject(deps, projectId, work);
  await hint(deps, refreshHint(projectId));
  return changed;
};

type Wanted = Parameters<typeof createSegment>[1];
export const addSegment = (where: Where, wanted: Wanted) =>
  change(where, async (scope) => toSegment(scope, await createSegment(scope, wanted)));

type Edit = Parameters<typeof changeSegment>[2];
export const editSegment = (where: Where, segmentId: string, edit: Edit) =>
  change(where, async (scope) => toSegment(scope, await changeSegment(scope, segmentId, edit)));

export const removeSegment = async (where: Where, id: string, listUsers: ListUsers) => {
  await change(where, (scope) => deleteSegment(scope, id, listUsers));
  return { id, deleted: true as const };
};

/** One page of the rows of segments, the newest first. */
export const pageRows = async (scope: Scope, { limit, cursor }: PageQuery) => {
  const beforeId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
  const rows = await listSegments(scope, { limit: limit + 1, beforeId });
  return toPage(rows, limit, {
    item: (row: SegmentRow) => row,
    position: ({ segment_id }) => [segment_id],
  });
};

export const pageMembers = async (
  scope: Scope,
  segmentId: string,
  { limit, cursor }: PageQuery,
) => {
  const afterId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
  return toPage(await listMembers(scope, segmentId, { limit: limit + 1, afterId }), limit, {
    item: (row) => ({ ...row, entered_at: row.entered_at.toISOString() }),
    position: ({ profile_id }) => [profile_id],
  });
};

export const pageHistory = async (
  scope: Scope,
  segmentId: string,
  { limit, cursor }: PageQuery,
) => {
  const position = readCursor(z.tuple([z.string().regex(/^\d{1,15}$/)]), cursor);
  const before = position ? Number(position[0]) : null;
  return toPage(await listHistory(scope, segmentId, { limit: limit + 1, before }), limit, {
    item: toChange,
    position: ({ entry }) => [String(entry)],
  });
};

/** Why somebody is in a segment, or is not. */
export const explainPerson = async (scope: Scope, row: SegmentRow, profileId: string) => {
  if (row.definition === null) throw new Error('a segment without a version');
  const explained = await explain(scope, row.definition, {
    profileId,
    today: todayAt(new Date()),
  });
  if (!explained) throw new Refusal('not_found');
  return { profile_id: profileId, ...explained };
};

export const importInto = async (
  where: Where,
  { kind, segment_id: segmentId }: SegmentRow,
  { importId, people }: { importId: string; people: z.output<typeof PeopleImport> },
) => {
  if (kind !== 'static') throw new Refusal('segment_not_static');
  return change(where, (scope) => importPeople(scope, { segmentId, importId }, people));
};

export const takeBack = async (where: Where, importId: string) => {
  await change(where, (scope) => undoImport(scope, importId));
  return { import_id: importId, undone: true as const };
};
