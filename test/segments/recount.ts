import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { DAY_MS } from '../../src/segments/moments.ts';
import { Definition } from '../../src/segments/schema.ts';
import type { Condition, NewDefinition } from '../../src/segments/schema.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { NEVER } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';

/** What is counted of a project, and what should be, from its timeline alone. */
export const recount = async ({ owner }: TestDatabase, projectId: string) => {
  const { rows } = await owner.query(
    `select counted.identity_id, counted.condition_id, counted.day::text, counted.count::integer,
       counted.first_at, counted.last_at
     from segments.counters as counted where project_id = $1 order by 1, 2, 3`,
    [projectId],
  );
  const { rows: expected } = await owner.query(
    `select known.identity_id, condition.condition_id,
       (case when is_daily then (occurred_at at time zone 'UTC')::date else '1970-01-01' end)::text as day,
       count(*)::integer, min(occurred_at) as first_at, max(occurred_at) as last_at
     from segments.conditions as condition
     join ingest.events as event on event.project_id = $1 and event.name = condition.event_name
     join identity.identities as known on known.project_id = $1
       and known.kind = case when external_id is null then 'anonymous' else 'external' end
       and known.value = coalesce(external_id, anonymous_id)
     where condition.project_id = $1 and condition.status = 'ready'
     and (event.source = 'system' or event.name !~ '^email_')
     and segments.passes(event.properties, condition.filters)
     group by 1, 2, 3 order by 1, 2, 3`,
    [projectId],
  );
  return { rows, expected };
};

/** Makes a segment of whoever passes a condition. */
export const create = (
  { deps }: TestDatabase,
  projectId: string,
  where: Condition,
  given: Partial<NewDefinition> = {},
) =>
  inProject(deps, projectId, (scope) =>
    createSegment(scope, {
      segmentId: newId(),
      name: 'a',
      definition: Definition.parse({ ...given, where }),
    }),
  );

/** A moment of a day counted from 1970. */
export const dayAt = (day: number): Date => new Date(day * DAY_MS + 7_200_000);

/** Brings the segments of a project up to date, as on a day counted from 1970; today if none is given. */
export const refreshOn = (
  { deps }: TestDatabase,
  projectId: string,
  today?: number,
): Promise<boolean> =>
  refreshSegments(deps, projectId, {
    signal: NEVER,
    ...(today === undefined ? {} : { now: () => dayAt(today) }),
  });

/** The profiles in a segment, in their order. */
export const listKept = async ({ owner }: TestDatabase, segmentId: string): Promise<string[]> => {
  const { rows } = await owner.query<{ profile_id: string }>(
    'select profile_id from segments.members where segment_id = $1 order by profile_id',
    [segmentId],
  );
  return rows.map(({ profile_id }) => profile_id);
};

export const ordered = (within_days?: number): Condition => ({
  kind: 'event',
  event: 'order_completed',
  where: [],
  count: { is: 'at_least', value: 1 },
  ...(within_days === undefined ? {} : { within_days }),
});
