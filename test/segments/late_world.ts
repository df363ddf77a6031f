// One project with events whose lag is exact, and the entries that its segments have.
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { alias, identify } from '../../src/profiles/identify.ts';
import { unlinkPeople } from '../../src/profiles/profiles.ts';
import type { Condition } from '../../src/segments/schema.ts';
import { newEvent } from '../ingest/some_events.ts';
import type { TestDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { create, refreshOn } from './recount.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The condition that an event was counted so often. */
export const counted = (event: string, value = 1, within_days?: number): Condition => ({
  kind: 'event',
  event,
  where: [],
  count: { is: 'at_least', value },
  ...(within_days === undefined ? {} : { within_days }),
});
export const never = (event: string, within_days?: number): Condition => ({
  kind: 'event',
  event,
  where: [],
  count: { is: 'at_most', value: 0 },
  ...(within_days === undefined ? {} : { within_days }),
});
export const onPlan = (value: string): Condition => ({
  kind: 'trait',
  trait: 'plan',
  test: { is: 'equals', value },
});

type Who = { external_id: string } | { external_id: null; anonymous_id: string };
export const ann: Who = { external_id: 'ann' };
export const phone: Who = { external_id: null, anonymous_id: 'phone' };

export const lateWorld = (database: TestDatabase, projectId = newId()) => {
  const { deps, owner } = database;
  const caller = (kind: 'server' | 'publishable' = 'server') => ({ projectId, kind });
  /** Stores an event that is received so long after it occurred, to the millisecond. */
  const track = async (
    name: string,
    lagMs = 0,
    { who = ann, ...given }: { who?: Who } & Partial<EventRow> = {},
  ): Promise<void> => {
    const occurred_at = new Date(Date.now() - lagMs).toISOString();
    const event = newEvent({ name, occurred_at, ...who, ...given });
    await acceptEvents(deps.db, projectId, newId(), [event]);
    await owner.query(
      `update ingest.events set received_at = occurred_at + $3 * interval '1 millisecond'
       where project_id = $1 and event_id = $2`,
      [projectId, event.event_id, lagMs],
    );
  };
  const process = () => workOn(database, projectId);
  const refresh = (today?: number) => refreshOn(database, projectId, today);
  const work = async (): Promise<void> => {
    await process();
    await refresh();
  };
  /** An event, and what a worker does about it. */
  const happen = async (...event: Parameters<typeof track>): Promise<void> => {
    await track(...event);
    await work();
  };
  const segment = async (where: Condition): Promise<string> => {
    const { segment_id } = await create(database, projectId, where);
    await refresh();
    return segment_id;
  };
  const tell = (traits: Record<string, string>, external_id = 'ann') =>
    identify(deps, caller(), { external_id, traits });
  const link = (external_id = 'ann') =>
    alias(deps, caller(), { anonymous_id: 'phone', external_id });
  const linkByPage = (external_id: string) =>
    identify(deps, caller('publishable'), { anonymous_id: 'phone', external_id });
  const unlink = () =>
    inProject(deps, projectId, async (scope) => {
      const filter = { limit: 9, beforeId: null, profileId: null, status: 'active' as const };
      for (const { link_id } of await identity.listLinks(scope, filter))
        await unlinkPeople(scope, link_id, 'test');
    });
  /** What a segment's history says, in order: `entered change 5000` with the lag, where there is one. */
  const entries = async (segmentId: string, who: string | null = null): Promise<string[]> => {
    const { rows } = await owner.query<{ said: string }>(
      `select concat_ws(' ', told.change, case when told.is_undo then 'undo' else told.cause end, told.lag_ms) as said
       from segments.history as told
       where told.project_id = $1 and told.segment_id = $2
       and ($3::text is null or exists (
         select from identity.identities as known
         where known.project_id = $1 and known.own_profile_id = told.profile_id and known.value = $3
       ))
       order by told.entry`,
      [projectId, segmentId, who],
    );
    return rows.map(({ said }) => said);
  };
  return {
    projectId,
    track,
    happen,
    process,
    refresh,
    work,
    segment,
    tell,
    link,
    linkByPage,
    unlink,
    entries,
  };
};
