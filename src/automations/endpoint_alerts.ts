// The alert about an endpoint that accepts no deliveries. The Console shows it: the endpoint itself would refuse it.
import * as alerts from '../alerts/alerts.ts';
import type { Scope } from '../base/db.ts';
import type { EndpointRow } from './endpoint_queries.ts';
import { DELIVERY_EXPIRES_HOURS, ENDPOINT_REFUSALS_MAX } from './subscriptions/delivery_limits.ts';

/** Why an endpoint is failing: it refuses for good, it fails for now, or it answered 410. */
export type Failing =
  | { reason: 'refused'; httpStatus: number }
  | { reason: 'no_delivery'; since: Date }
  | { reason: 'gone' };

const RETRY =
  'Then send it a test event under Settings, Webhook endpoints: a delivered event resolves this alert.';

const textOf = (name: string, failing: Failing): { summary: string; fix: string } => {
  switch (failing.reason) {
    case 'refused':
      return {
        summary:
          `${name} refused at least ${ENDPOINT_REFUSALS_MAX} deliveries in a row for good, with HTTP ` +
          `${failing.httpStatus}. Each of them is lost.`,
        fix: `Correct the address of the endpoint, or the service that answers there: only 2xx accepts. ${RETRY}`,
      };
    case 'no_delivery':
      return {
        summary:
          `${name} has accepted no delivery since ${failing.since.toISOString()}: it does not answer, or answers ` +
          `with an error. Trunkline drops deliveries that wait for ${DELIVERY_EXPIRES_HOURS} hours.`,
        fix: `See its recent deliveries for the answers, and repair the service there. ${RETRY}`,
      };
    case 'gone':
      return {
        summary: `${name} answered 410 (gone). Trunkline disabled it, and posts nothing to it.`,
        fix: 'If you still need it, correct its address and enable it. Otherwise delete it.',
      };
  }
};

const detailsOf = (failing: Failing) =>
  failing.reason === 'refused'
    ? { reason: failing.reason, http_status: failing.httpStatus }
    : { reason: failing.reason };

/** Alerts the owner about an endpoint. Locks the alert, so call it before the endpoint is locked. */
export const alertFailing = (
  scope: Scope,
  { endpoint_id: subject, name: subjectName }: Pick<EndpointRow, 'endpoint_id' | 'name'>,
  failing: Failing,
): Promise<boolean> =>
  alerts.openAlert(scope, {
    kind: 'endpoint_failing',
    subject,
    subjectName,
    ...textOf(subjectName, failing),
    details: detailsOf(failing),
  });

/** Resolves that alert: a delivery came through, or a person changed the endpoint. Locks the alert. */
export const resolveFailing = (scope: Scope, endpointId: string): Promise<number> =>
  alerts.resolveAlert(scope, endpointId, 'endpoint_failing');
