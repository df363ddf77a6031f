import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { watch } from '../base/feeds.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { liveProcedure, projectProcedure, router } from '../base/procedure.ts';
import { toEntry } from './entry.ts';
import { listNewest } from './queries.ts';
import { isReserved, SYSTEM_EVENTS } from './reserved_names.ts';

/** So many are shown to whoever looks on. */
export const LATEST_EVENTS_MAX = 20;

/** So many of the newest events have their names proposed. */
const NAMED_EVENTS_MAX = 200;

const pageNewest = async (scope: Scope, { limit, cursor }: PageQuery) => {
  const beforeId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
  const rows = await listNewest(scope, { limit: limit + 1, beforeId });
  return toPage(rows, limit, { item: toEntry, position: (row) => [row.event_id] });
};

const latest = {
  name: 'events.latest',
  read: (scope: Scope) => pageNewest(scope, { limit: LATEST_EVENTS_MAX }),
};

export const eventProcedures = router({
  /** The project's events, the last to arrive first. */
  list: projectProcedure
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => pageNewest(scope, input)),
    ),

  /**
   * Returns the names to choose from: those of the newest events first, then those of all events that the service
   * records. It leaves out reserved names that clients sent once, because they never count.
   */
  names: projectProcedure.query(({ ctx, input: { projectId } }) =>
    inProject(ctx.deps, projectId, async (scope) => {
      const newest = await listNewest(scope, { limit: NAMED_EVENTS_MAX, beforeId: null });
      const sent = newest.map(({ event }) => event).filter((name) => !isReserved(name));
      return { names: [...[...new Set(sent)].toSorted(), ...Object.keys(SYSTEM_EVENTS)] };
    }),
  ),

  /** The last to arrive, and again each time that others have. */
  latest: liveProcedure.subscription(({ ctx, input: { projectId } }) =>
    watch(ctx.deps, { projectId, source: latest }, ctx.over),
  ),
});
