import { z } from 'zod';
import { inProject } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { hint } from '../../base/hints.ts';
import { readCursor, toPage } from '../../base/page.ts';
import type { PageQuery } from '../../base/page.ts';
import { Refusal } from '../../base/refusal.ts';
import type { EndpointRow } from '../endpoint_queries.ts';
import { deliveryHint } from './deliver.ts';
import { WAITING_COUNTED_MAX } from './delivery_limits.ts';
import { countWaiting, getDelivery, insertTest, listDeliveries } from './delivery_queries.ts';
import { toDelivery } from './delivery_shown.ts';

/** One page of the deliveries of an endpoint, the newest first. */
export const pageDeliveries = async (scope: Scope, endpointId: string, query: PageQuery) => {
  const beforeId = readCursor(z.tuple([z.uuid()]), query.cursor)?.[0] ?? null;
  const rows = await listDeliveries(scope, endpointId, { limit: query.limit + 1, beforeId });
  return toPage(rows, query.limit, {
    item: toDelivery,
    position: ({ delivery_id }) => [delivery_id],
  });
};

/** How many deliveries of an endpoint wait, up to a number, and since when. */
export const readWaiting = async (scope: Scope, endpointId: string) => {
  const { count, oldest_at } = await countWaiting(scope, endpointId, WAITING_COUNTED_MAX);
  return {
    count,
    is_capped: count === WAITING_COUNTED_MAX,
    oldest_at: oldest_at?.toISOString() ?? null,
  };
};

type Where = { deps: Deps; projectId: string };

/** Queues a test event for an endpoint, which is tried at once. The same id again changes nothing. */
export const sendTestEvent = async (
  { deps, projectId }: Where,
  { endpoint_id: endpointId, status }: EndpointRow,
  deliveryId: string,
) => {
  if (status !== 'active') throw new Refusal('endpoint_disabled');
  const queued = await inProject(deps, projectId, async (scope) => {
    await insertTest(scope, endpointId, deliveryId);
    return getDelivery(scope, deliveryId);
  });
  if (!queued) throw new Refusal('not_found');
  await hint(deps, deliveryHint(projectId, endpointId));
  return toDelivery(queued);
};
