/** How many endpoints of a project may subscribe: each event is posted to each of them. */
export const SUBSCRIBED_ENDPOINTS_MAX = 20;
/** After so many hours a delivery that did not come through is dropped. */
export const DELIVERY_EXPIRES_HOURS = 72;
/** So many deliveries of one endpoint may wait, give or take five minutes of new ones; the oldest are dropped. */
export const DELIVERIES_WAITING_MAX = 100_000;
/** How long a delivery is listed after it ended. */
export const DELIVERIES_KEPT_HOURS = 24;
/** After so many failures in a row an endpoint is tried by one delivery at a time, after a pause. */
export const ENDPOINT_FAILURES_MAX = 5;
/** After so many deliveries in a row that it refused for good an endpoint is shown as failing. */
export const ENDPOINT_REFUSALS_MAX = 5;
/** An endpoint that fails for so many minutes alerts the owner: a restart is over by then. */
export const ENDPOINT_ALERT_MINUTES = 10;
/** How long that one delivery has the endpoint for itself: longer than it takes. */
export const PROBE_SECONDS = 30;
/** The longest pause of an endpoint that fails. */
export const ENDPOINT_PAUSE_MAX_SECONDS = 15 * 60;
/** How many alerts are queued for endpoints in one transaction. */
export const ANNOUNCED_AT_ONCE_MAX = 100;
/** How many deliveries one transaction prunes, of each kind. */
export const PRUNED_AT_ONCE_MAX = 10_000;
/** Up to how many deliveries that wait are counted where an endpoint is shown. */
export const WAITING_COUNTED_MAX = 1_000;
