import { z } from 'zod';
import { firstIdAt } from '../base/ids.ts';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import {
  forgetEntries,
  listActions,
  listEntries,
  listInstallationEntries,
  forgetRequestRows,
} from './audit_queries.ts';
import type { AuditEntry } from './audit_queries.ts';

/** An entry stays this long; then it goes with the next day's work. As long as timelines by default. */
export const AUDIT_MONTHS = 24;
const ACTIONS_MAX = 200;

/** Whoever looks, and what for: by whom, what, and when (`from` counts, `until` does not). */
export const AuditQuery = listInput.extend({
  actorId: z.uuid().optional(),
  action: z.string().min(1).max(120).optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});
type AuditQuery = z.output<typeof AuditQuery>;

const least = (left: string | null, right: string | null): string | null => {
  if (left === null || right === null) return left ?? right;
  return left < right ? left : right;
};

const toFilter = ({ actorId, action, from, until, limit, cursor }: AuditQuery) => ({
  actorId: actorId ?? null,
  action: action ?? null,
  fromId: from === undefined ? null : firstIdAt(new Date(from)),
  beforeId: least(
    readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null,
    until === undefined ? null : firstIdAt(new Date(until)),
  ),
  limit: limit + 1,
});

const page = (rows: readonly AuditEntry[], { limit }: PageQuery) =>
  toPage(rows, limit, {
    item: ({ audit_id, at, ...entry }) => ({ id: audit_id, at: at.toISOString(), ...entry }),
    position: (row) => [row.audit_id],
  });

/** The audit log of a project, the newest first, and what has been done in it at all. */
export const pageAudit = (deps: Deps, projectId: string, query: AuditQuery) =>
  inProject(deps, projectId, async (scope) => ({
    ...page(await listEntries(scope, toFilter(query)), query),
    actions: (await listActions(scope, ACTIONS_MAX)).map(({ action }) => action),
  }));

/** The same of the installation. */
export const pageInstallationAudit = async (deps: Deps, query: AuditQuery) =>
  page(await listInstallationEntries(deps.db, toFilter(query)), query);

/** How many access requests, and how many invitations, one transaction forgets. */
export const FORGOTTEN_REQUESTS_MAX = 500;

const startOfKept = (now: Date): Date => {
  const before = new Date(now);
  before.setUTCMonth(before.getUTCMonth() - AUDIT_MONTHS);
  return before;
};

/** Forgets access requests that were decided, and invitations that ended, longer ago than AUDIT_MONTHS. */
export const forgetRequests = async (
  deps: Pick<Deps, 'db'>,
  signal: AbortSignal,
  now = new Date(),
): Promise<number> => {
  let forgotten = 0;
  for (let count = 1; count > 0 && !signal.aborted; forgotten += count)
    count = await forgetRequestRows(deps.db, startOfKept(now), FORGOTTEN_REQUESTS_MAX);
  return forgotten;
};

/** Forgets the entries of a project, or of none, that are older than AUDIT_MONTHS; answers how many. */
export const forgetAudit = (
  deps: Pick<Deps, 'db'>,
  projectId: string | null,
  now = new Date(),
): Promise<number> => forgetEntries(deps.db, projectId, startOfKept(now));
