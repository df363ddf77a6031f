import { inProject } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import type { Hint } from '../../base/hints.ts';
import { watchQueue } from '../../base/memory_queues.ts';
import { LANES_MAX } from '../call_limits.ts';
import { Callers } from '../callers.ts';
import type { CallNext } from '../callers.ts';
import { findEndpoint } from '../endpoint_queries.ts';
import type { EndpointRow } from '../endpoint_queries.ts';
import { openSecrets } from '../endpoints.ts';
import type { Vault } from '../endpoints.ts';
import { postWebhook } from '../post_webhook.ts';
import type { WebhookAnswer, WebhookMessage } from '../post_webhook.ts';
import { readClock } from '../run_queries.ts';
import { outcomeOf } from '../webhook_outcome.ts';
import { writeDelivery } from './delivery_body.ts';
import { claimDelivery, endDelivery } from './delivery_queries.ts';
import type { DeliveryRow, EndedDelivery } from './delivery_queries.ts';
import { recordHealth } from './endpoint_health.ts';
import { TEST_TYPE } from './event_types.ts';
import { admitDelivery } from './health_queries.ts';

/** Wakes a worker for the deliveries of an endpoint. */
export const deliveryHint = (projectId: string, endpointId: string): Hint => ({
  task: 'automations/deliver_webhooks',
  payload: { project_id: projectId, endpoint_id: endpointId },
});

type Ready = Omit<WebhookMessage, 'id' | 'traceparent'>;
/** A delivery that was claimed: what to post, or what became of it without a request. */
type Claimed = { row: DeliveryRow; endpoint: EndpointRow; failures: number } & (
  { ready: Ready } | { ready: null; answer: WebhookAnswer }
);

const claim = (
  deps: Deps,
  vault: Vault,
  { projectId, endpointId }: { projectId: string; endpointId: string },
): Promise<Claimed | null> =>
  inProject(deps, projectId, async (scope) => {
    const endpoint = await findEndpoint(scope, endpointId);
    if (endpoint?.status !== 'active') return null;
    const failures = await admitDelivery(scope, endpointId);
    const row = failures === null ? null : await claimDelivery(scope, endpointId);
    if (row === null || failures === null) return null;
    const written = await writeDelivery(scope, row);
    if (written.body === null) {
      const answer = { kind: 'refused', httpStatus: null, reason: written.reason } as const;
      return { row, endpoint, failures, ready: null, answer };
    }
    const secrets = await openSecrets(scope, vault, endpointId);
    const at = await readClock(scope);
    const ready = { url: new URL(endpoint.url), secrets, body: written.body, at };
    return { row, endpoint, failures, ready };
  });

const toEnded = (row: DeliveryRow, answer: WebhookAnswer, now: Date): EndedDelivery => ({
  deliveryId: row.delivery_id,
  attempt: row.attempts,
  ...outcomeOf(answer, { ...row, isTest: row.type === TEST_TYPE }, now),
});

/** Makes the next delivery of an endpoint, if one is due. Returns whether there was one. */
export const deliverNext: CallNext = async (deps, vault, asked): Promise<boolean> => {
  const claimed = await claim(deps, vault, asked);
  if (claimed === null) return false;
  const { row, ready } = claimed;
  asked.onTaken?.(undefined);
  const answer = ready
    ? await postWebhook(deps, { id: row.message_id, ...ready }, asked.open)
    : claimed.answer;
  await inProject(deps, asked.projectId, async (scope) => {
    const at = await readClock(scope);
    await recordHealth(scope, claimed, { answer, at });
    await endDelivery(scope, toEnded(row, answer, at));
  });
  return true;
};

/** Lanes of their own: however many events wait, the calls of webhook steps have theirs. */
const makeDeliverers = (needs: { deps: Deps; vault: Vault }): Callers => {
  const deliverers = new Callers(needs, { next: deliverNext });
  watchQueue(needs.deps, 'webhook_deliveries', {
    size: () => deliverers.laneCount,
    max: LANES_MAX,
  });
  return deliverers;
};

/** Has the deliveries of an endpoint made by this process, beside the caller. */
export const deliverWebhooks = (
  deps: Deps,
  vault: Vault,
  endpoint: { projectId: string; endpointId: string },
): void => deps.resources.of(makeDeliverers, { deps, vault }).feed(endpoint);
