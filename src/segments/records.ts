import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import * as profiles from '../profiles/profiles.ts';
import { listReached, listUsed } from './conditions.ts';
import {
  findSegment,
  holdProject,
  insertProject,
  insertSegment,
  insertVersion,
  listInForce,
  listLatest,
  listStands,
  raiseVersion,
  setDeleting,
  setDue,
  setName,
  setVersion,
} from './record_queries.ts';
import type { SegmentRow } from './record_queries.ts';
import { definitionOfStatic } from './static.ts';
import type { Definition } from './schema.ts';

/** Each costs whatever happens to a person its share. */
export const SEGMENTS_MAX = 100;

const refuseDefinition = (message: string): never => {
  throw new Refusal('invalid_request', { issues: [{ path: '/definition/where', message }] });
};

/** Refuses a definition that asks about segments that are not there, or about itself. */
export const checkUsed = async (
  scope: Scope,
  segmentId: string | null,
  definition: Definition,
): Promise<void> => {
  const used = listUsed(definition);
  if (used.length === 0) return;
  const stands = await listStands(scope);
  const there = new Set(
    stands.flatMap(({ segment_id, status }) => (status === 'deleting' ? [] : segment_id)),
  );
  const missing = used.find((id) => !there.has(id));
  if (missing !== undefined) refuseDefinition(`there is no segment ${missing}`);
  if (segmentId === null) return;
  const latest = new Map((await listLatest(scope)).map((one) => [one.segment_id, one]));
  if (listReached(definition, latest).includes(segmentId))
    refuseDefinition('asks about the segment itself, by way of another');
};

/** Holds the project's segments until the transaction ends: their definitions are changed one after the other. */
export const holdDefinitions = async (scope: Scope): Promise<void> => {
  await insertProject(scope);
  await holdProject(scope);
};

const hold = async (scope: Scope): Promise<void> => {
  await holdDefinitions(scope);
  await profiles.watch(scope);
  await setDue(scope, true);
};

const getSegment = async (scope: Scope, segmentId: string): Promise<SegmentRow> => {
  const row = await findSegment(scope, segmentId);
  if (!row) throw new Refusal('not_found');
  return row;
};

export type NewSegment = { segmentId: string; name: string; definition: Definition | null };

/** Makes a segment; its members are found soon. Static without a definition. The same id again changes nothing. */
export const createSegment = async (
  scope: Scope,
  { segmentId, name, definition }: NewSegment,
): Promise<SegmentRow> => {
  const known = await findSegment(scope, segmentId);
  if (known) return known;
  await hold(scope);
  const stands = await listStands(scope);
  if (stands.length >= SEGMENTS_MAX) throw new Refusal('too_many_segments');
  const kind = definition === null ? 'static' : 'dynamic';
  await insertSegment(scope, { segment_id: segmentId, name, kind });
  if (definition !== null) await checkUsed(scope, null, definition);
  await insertVersion(scope, segmentId, 1, definition ?? definitionOfStatic(segmentId));
  return getSegment(scope, segmentId);
};

export type SegmentChange = {
  /** The version that the change was made from. */
  version: number;
  name?: string | undefined;
  definition?: Definition | undefined;
};

/** Changes a segment that nobody changed since. A new definition is its next version, and so is another name. */
export const changeSegment = async (
  scope: Scope,
  segmentId: string,
  { version, name, definition }: SegmentChange,
): Promise<SegmentRow> => {
  await hold(scope);
  const row = await getSegment(scope, segmentId);
  if (row.version !== version) throw new Refusal('segment_changed');
  const isRenamed = name !== undefined && name !== row.name;
  if (isRenamed) await setName(scope, segmentId, name);
  if (definition !== undefined) {
    if (row.kind === 'static') refuseDefinition('the members of a static segment are imported');
    await checkUsed(scope, segmentId, definition);
    await insertVersion(scope, segmentId, version + 1, definition);
    await setVersion(scope, segmentId, version + 1);
  } else if (isRenamed && row.definition !== null) {
    await insertVersion(scope, segmentId, version + 1, row.definition);
    await raiseVersion(scope, segmentId, version + 1);
  }
  return getSegment(scope, segmentId);
};

/** Who else needs a segment, in words for whoever wants to delete it; asked by its id. */
export type ListUsers = (scope: Scope, segmentId: string) => Promise<readonly string[]>;

/**
 * Deletes a segment with its members and history, unless somebody asks about it. Others are asked when it cannot
 * be named any more: whoever held it before is seen.
 */
export const deleteSegment = async (
  scope: Scope,
  segmentId: string,
  listUsers: ListUsers,
): Promise<void> => {
  await hold(scope);
  await getSegment(scope, segmentId);
  // Also by a definition that counts for some as long as the one after it fills.
  const asking = [...(await listLatest(scope)), ...(await listInForce(scope))];
  const by = asking.find(
    (one) => one.segment_id !== segmentId && listUsed(one.definition).includes(segmentId),
  );
  if (by !== undefined) {
    const { name } = await getSegment(scope, by.segment_id);
    throw new Refusal('segment_in_use', {
      detail: `It is asked about by the segment "${name}". Change or delete that first.`,
    });
  }
  await setDeleting(scope, segmentId);
  const users = await listUsers(scope, segmentId);
  if (users.length > 0)
    throw new Refusal('segment_in_use', {
      detail: `It is asked about by ${users.join(', ')}. Change or archive that first.`,
    });
};
