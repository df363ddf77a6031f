import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';
import type { Definition } from './schema.ts';

export const KINDS = ['dynamic', 'static'] as const;
export const STATUSES = ['counting', 'filling', 'ready'] as const;

/** Was checked where it came in. */
const Stored = z.custom<Definition>((value) => typeof value === 'object' && value !== null);

const Segment = z.strictObject({
  segment_id: z.uuid(),
  name: z.string(),
  kind: z.enum(KINDS),
  status: z.enum(STATUSES),
  version: z.int(),
  active_version: z.int().nullable(),
  examined_count: z.int(),
  filled_at: z.date().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
  definition: Stored.nullable(),
});
export type SegmentRow = z.output<typeof Segment>;

const columns = sql.fragment`segment.segment_id, segment.name, segment.kind, segment.status, segment.version,
  segment.active_version, segment.examined_count, segment.filled_at, segment.created_at, segment.updated_at,
  version.definition`;

/** Segments with the newest version of their definitions. */
const from = (projectId: string) => sql.fragment`segments.segments as segment
  left join segments.versions as version
    on version.project_id = segment.project_id and version.segment_id = segment.segment_id
    and version.version = segment.version and version.project_id = ${projectId}`;

export const findSegment = ({ tx, projectId }: Scope, segmentId: string) =>
  tx.maybeOne(sql.type(Segment)`
    select ${columns} from ${from(projectId)}
    where segment.project_id = ${projectId} and segment.segment_id = ${segmentId} and segment.status <> 'deleting'
  `);

const Held = z.strictObject({ segment_id: z.uuid() });

/** Which of some segments there are; whoever wants to delete one of them waits until the transaction ends. */
export const holdSegments = async (
  { tx, projectId }: Scope,
  segmentIds: readonly string[],
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(Held)`
    select segment_id from segments.segments
    where project_id = ${projectId} and segment_id = any (${sql.array([...segmentIds], 'uuid')})
    and status <> 'deleting'
    order by segment_id
    for share
  `);
  return new Set(rows.map(({ segment_id }) => segment_id));
};

export const listSegments = (
  { tx, projectId }: Scope,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) => {
  const earlier = beforeId ? sql.fragment`and segment.segment_id < ${beforeId}` : sql.fragment``;
  return tx.any(sql.type(Segment)`
    select ${columns} from ${from(projectId)}
    where segment.project_id = ${projectId} and segment.status <> 'deleting' ${earlier}
    order by segment.segment_id desc
    limit ${limit}
  `);
};

const Project = z.strictObject({ last_entry: z.int(), is_due: z.boolean() });

/** Makes the row that whoever changes segments or members of the project holds. */
export const insertProject = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    insert into segments.projects (project_id, due_at) values (${projectId}, now()) on conflict do nothing
  `);

/** Holds the project's segments until the transaction ends; null where there never were any. */
export const holdProject = ({ tx, projectId }: Scope) =>
  tx.maybeOne(sql.type(Project)`
    select last_entry, due_at is not null as is_due from segments.projects where project_id = ${projectId} for update
  `);

export const setDue = ({ tx, projectId }: Scope, isDue: boolean) =>
  tx.query(sql.unsafe`
    update segments.projects set due_at = ${isDue ? sql.fragment`now()` : null}
    where project_id = ${projectId} and (due_at is not null) <> ${isDue}
  `);

export type NewSegment = Pick<SegmentRow, 'segment_id' | 'name' | 'kind'>;

export const insertSegment = ({ tx, projectId }: Scope, { segment_id, name, kind }: NewSegment) =>
  tx.query(sql.unsafe`
    insert into segments.segments (project_id, segment_id, name, kind, status, version, created_at, updated_at)
    values (${projectId}, ${segment_id}, ${name}, ${kind}, 'counting', 1, now(), now())
  `);

export const insertVersion = (
  { tx, projectId }: Scope,
  segmentId: string,
  version: number,
  definition: Definition,
) =>
  tx.query(sql.unsafe`
    insert into segments.versions (project_id, segment_id, version, definition, created_at)
    values (${projectId}, ${segmentId}, ${version}, ${JSON.stringify(definition)}::jsonb, now())
  `);

export const setName = ({ tx, projectId }: Scope, segmentId: string, name: string) =>
  tx.query(sql.unsafe`
    update segments.segments set name = ${name}, updated_at = now()
    where project_id = ${projectId} and segment_id = ${segmentId}
  `);

/** A new version is not looked at before what it asks of events is counted; until then the old one counts. */
export const setVersion = ({ tx, projectId }: Scope, segmentId: string, version: number) =>
  tx.query(sql.unsafe`
    update segments.segments
    set version = ${version}, status = 'counting', filled_to = null,
      examined_count = 0, updated_at = now()
    where project_id = ${projectId} and segment_id = ${segmentId}
  `);

export const setDeleting = ({ tx, projectId }: Scope, segmentId: string) =>
  tx.query(sql.unsafe`
    update segments.segments set status = 'deleting', filled_to = null
    where project_id = ${projectId} and segment_id = ${segmentId}
  `);

const Active = z.strictObject({
  segment_id: z.uuid(),
  version: z.int(),
  definition: Stored,
  is_latest: z.boolean(),
});
/** A definition that members are of, or will be of. */
export type Defined = z.output<typeof Active>;

/** The definitions that members are of today: of each segment at most one. */
export const listActive = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Active)`
    select segment.segment_id, version.version, version.definition, version.version = segment.version as is_latest
    from segments.segments as segment
    join segments.versions as version
      on version.project_id = segment.project_id and version.segment_id = segment.segment_id
      and version.version = segment.active_version
    where segment.project_id = ${projectId} and version.project_id = ${projectId}
    and segment.status <> 'deleting'
    order by segment.segment_id
  `);

/** The newest definitions. */
export const listLatest = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Active)`
    select segment.segment_id, version.version, version.definition, true as is_latest
    from segments.segments as segment
    join segments.versions as version
      on version.project_id = segment.project_id and version.segment_id = segment.segment_id
      and version.version = segment.version
    where segment.project_id = ${projectId} and version.project_id = ${projectId}
    and segment.status <> 'deleting'
    order by segment.segment_id
  `);

const Stand = z.strictObject({
  segment_id: z.uuid(),
  kind: z.enum(KINDS),
  status: z.enum([...STATUSES, 'deleting']),
  version: z.int(),
  filled_to: z.uuid().nullable(),
});
export type Stand = z.output<typeof Stand>;

/** How each segment of the project stands, also those that are being deleted. */
export const listStands = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Stand)`
    select segment_id, kind, status, version, filled_to from segments.segments
    where project_id = ${projectId} order by segment_id
  `);

export const startFill = ({ tx, projectId }: Scope, segmentId: string) =>
  tx.query(sql.unsafe`
    update segments.segments
    set status = 'filling', active_version = version, filled_to = ${FIRST_ID}, examined_count = 0
    where project_id = ${projectId} and segment_id = ${segmentId} and status = 'counting'
  `);

/** How far a fill has come. */
export const moveFill = (
  { tx, projectId }: Scope,
  segmentId: string,
  { filledTo, examined }: { filledTo: string; examined: number },
) =>
  tx.query(sql.unsafe`
    update segments.segments
    set filled_to = ${filledTo}, examined_count = examined_count + ${examined}
    where project_id = ${projectId} and segment_id = ${segmentId} and status = 'filling'
  `);

export const endFill = ({ tx, projectId }: Scope, segmentId: string, examined: number) =>
  tx.query(sql.unsafe`
    update segments.segments
    set status = 'ready', filled_to = null, filled_at = now(), examined_count = examined_count + ${examined}
    where project_id = ${projectId} and segment_id = ${segmentId} and status = 'filling'
  `);

const Page = z.strictObject({ profile_id: z.uuid() });

/** The profiles after one, in the order of their ids, living or not. */
export const listProfilesAfter = async (
  { tx, projectId }: Scope,
  after: string,
  limit: number,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Page)`
    select profile_id from profiles.profiles
    where project_id = ${projectId} and profile_id > ${after}
    order by profile_id
    limit ${limit}
  `);
  return rows.map(({ profile_id }) => profile_id);
};
