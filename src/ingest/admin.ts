import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { watch } from '../base/feeds.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { liveProcedure, projectProcedure, router } from '../base/procedure.ts';
import { toEntry } from './entry.ts';
import { listNewest } from './queries.ts';

/** So many are shown to whoever looks on. */
export const LATEST_EVENTS_MAX = 20;

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

  /** The last to arrive, and again each time that others have. */
  latest: liveProcedure.subscription(({ ctx, input: { projectId } }) =>
    watch(ctx.deps, { projectId, source: latest }, ctx.over),
  ),
});
