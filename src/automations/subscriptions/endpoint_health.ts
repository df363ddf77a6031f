// Whether an endpoint takes its deliveries: counted in a row, shown as failing, and alerted.
import type { Scope } from '../../base/db.ts';
import { alertFailing, resolveFailing } from '../endpoint_alerts.ts';
import { disableEndpoint, findEndpoint } from '../endpoint_queries.ts';
import type { EndpointRow } from '../endpoint_queries.ts';
import type { WebhookAnswer } from '../post_webhook.ts';
import {
  ENDPOINT_ALERT_MINUTES,
  ENDPOINT_FAILURES_MAX,
  ENDPOINT_PAUSE_MAX_SECONDS,
  ENDPOINT_REFUSALS_MAX,
} from './delivery_limits.ts';
import {
  addFailure,
  addRefusal,
  clearFailures,
  clearRefusals,
  pauseEndpoint,
} from './health_queries.ts';

/** An endpoint as it was when a delivery was claimed, with its failures in a row. */
type Claimed = { endpoint: EndpointRow; failures: number };
type Answered = { answer: WebhookAnswer; at: Date };

/** How long an endpoint is paused after its failures: doubled with each of them, half of it jitter. */
const pauseSecondsAfter = (failures: number): number => {
  const doubled = 2 ** Math.min(30, Math.max(0, failures - ENDPOINT_FAILURES_MAX));
  const longest = Math.min(ENDPOINT_PAUSE_MAX_SECONDS, 15 * doubled);
  return longest * (0.5 + Math.random() / 2);
};

const MINUTE_MS = 60_000;

/**
 * Opens or resolves the alert about an endpoint. It goes by what was counted when the delivery was claimed: alerts are
 * locked before endpoints.
 */
const alertHealth = async (
  scope: Scope,
  { endpoint, failures }: Claimed,
  { answer, at }: Answered,
): Promise<void> => {
  const { refused_count: before, failing_since: since } = endpoint;
  if (answer.kind === 'delivered') {
    await resolveFailing(scope, endpoint.endpoint_id);
  } else if (answer.kind === 'postponed') {
    const isLong =
      since !== null && at.getTime() - since.getTime() >= ENDPOINT_ALERT_MINUTES * MINUTE_MS;
    if (isLong && failures >= ENDPOINT_FAILURES_MAX)
      await alertFailing(scope, endpoint, { reason: 'no_delivery', since });
  } else if (answer.reason === 'endpoint_gone') {
    await alertFailing(scope, endpoint, { reason: 'gone' });
  } else if (answer.httpStatus !== null && before + 1 >= ENDPOINT_REFUSALS_MAX) {
    const { httpStatus } = answer;
    await alertFailing(scope, endpoint, { reason: 'refused', httpStatus });
  }
};

/**
 * Records what the answer to a delivery says of its endpoint. What was not posted says nothing, and neither does an
 * answer that comes after the endpoint got another address or was disabled.
 */
export const recordHealth = async (
  scope: Scope,
  claimed: Claimed,
  { answer, at }: Answered,
): Promise<void> => {
  const { endpoint, failures } = claimed;
  const { endpoint_id: endpointId } = endpoint;
  // Most deliveries are accepted by an endpoint that has failed none: there is nothing to look up or to write.
  if (answer.kind === 'delivered' && failures === 0 && endpoint.refused_count === 0) return;
  const found = await findEndpoint(scope, endpointId);
  if (found?.status !== 'active' || found.url !== endpoint.url) return;
  await alertHealth(scope, claimed, { answer, at });
  if (answer.kind === 'postponed') {
    const inRow = await addFailure(scope, endpointId, at);
    if (inRow !== null && inRow >= ENDPOINT_FAILURES_MAX)
      await pauseEndpoint(scope, endpointId, pauseSecondsAfter(inRow));
    return;
  }
  if (failures > 0) await clearFailures(scope, endpointId);
  if (answer.kind === 'delivered') {
    if (endpoint.refused_count > 0) await clearRefusals(scope, endpointId);
    return;
  }
  if (answer.httpStatus !== null) await addRefusal(scope, endpointId, at);
  if (answer.reason === 'endpoint_gone') await disableEndpoint(scope, endpointId, 'gone');
};
