import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
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

/** Those whose members are not all known yet. */
export const listUnready = ({ tx, projectId }: Scope, limit: number) =>
  tx.any(sql.type(Segment)`
    select ${columns} from ${from(projectId)}
    where segment.project_id = ${projectId} and segment.status in ('counting', 'filling')
    order by segment.segment_id desc
    limit ${limit}
  `);

const Project = z.strictObject({ last_entry: z.int(), is_due: z.boolean() });

/** Makes the row that whoever changes segments or members of the project holds. */
export const insertProject = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    insert into segments.projects (project_id, due_at) values (${projectId}, now()) on conflict do nothing
  `);

/** Holds the project's segments until the transaction ends; null where there never were any. */
export const holdProject = ({ tx, projectId }: Scope) =>
  tx.maybeOne(sql.type(Project)`
    select last_entry, due_at is not null as is_due from segments.projects where project_id = ${projectId}
    for no key update
  `);

/** Whether definitions of the project that came, changed or went ask for work. */
export const isFillDue = ({ tx, projectId }: Scope): Promise<boolean> =>
  tx.exists(sql.unsafe`
    select from segments.projects where project_id = ${projectId} and due_at is not null
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

/**
 * A new version is not looked at before what it asks of events is counted; until then the old one counts, whose fill
 * goes on to its end.
 */
export const setVersion = ({ tx, projectId }: Scope, segmentId: string, version: number) =>
  tx.query(sql.unsafe`
    update segments.segments
    set version = ${version}, status = 'counting', examined_count = 0, updated_at = now()
    where project_id = ${projectId} and segment_id = ${segmentId}
  `);

/** A new version that says what the one before says: whoever is a member stays one, and a fill goes on where it is. */
export const raiseVersion = ({ tx, projectId }: Scope, segmentId: string, version: number) =>
  tx.query(sql.unsafe`
    update segments.segments
    set version = ${version}, updated_at = now(),
      active_version = case when active_version = version then ${version}::integer else active_version end
    where project_id = ${projectId} and segment_id = ${segmentId}
  `);

export const setDeleting = ({ tx, projectId }: Scope, segmentId: string) =>
  tx.query(sql.unsafe`
    update segments.segments
    set status = 'deleting', filled_to = null, filling_since = null, former_version = null
    where project_id = ${projectId} and segment_id = ${segmentId}
  `);

const Version = z.strictObject({
  segment_id: z.uuid(),
  version: z.int(),
  definition: Stored,
});
/** A version of a segment's definition. */
export type Version = z.output<typeof Version>;

const InForce = Version.extend({
  is_former: z.boolean(),
  filled_to: z.uuid().nullable(),
  filling_since: z.date().nullable(),
});
/**
 * A definition that members are of. While one fills, it is the definition of those whom the fill has reached and of
 * those who came since; of the others it is the former one, where there was one.
 */
export type Defined = z.output<typeof InForce>;

/** The definitions that members are of today. */
export const listInForce = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(InForce)`
    select segment.segment_id, version.version, version.definition,
      version.version <> segment.active_version as is_former, segment.filled_to, segment.filling_since
    from segments.segments as segment
    join segments.versions as version
      on version.project_id = segment.project_id and version.segment_id = segment.segment_id
      and version.version in (segment.active_version, segment.former_version)
    where segment.project_id = ${projectId} and version.project_id = ${projectId}
    and segment.status <> 'deleting'
    order by segment.segment_id, version.version
  `);

/** The newest definitions. */
export const listLatest = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Version)`
    select segment.segment_id, version.version, version.definition
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
  filling_since: z.date().nullable(),
});
export type Stand = z.output<typeof Stand>;

/** How each segment of the project stands, also those that are being deleted. */
export const listStands = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Stand)`
    select segment_id, kind, status, version, filled_to, filling_since from segments.segments
    where project_id = ${projectId} order by segment_id
  `);
