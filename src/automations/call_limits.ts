/** How long one call may take until it is connected, until the answer begins, and in all. */
export const CALL_TIMEOUTS = { connectMs: 5_000, headersMs: 10_000, answerMs: 15_000 } as const;
/** How much of an answer is read: nothing of it is used but that it came. */
export const CALL_ANSWER_BYTES_MAX = 64 * 1024;
/** After that a call is nobody's: longer than it takes, with what is written before and after. */
export const CALL_LEASE_SECONDS = 30;
/** How soon a run looks again for what came of its call when nobody has woken it. */
export const CALL_LOOK_AGAIN_MS = 15_000;
/** How many calls an hour one endpoint gets of browser-triggered runs. A call above this number waits. */
export const BROWSER_CALLS_PER_HOUR_MAX = 10_000;
/** How many calls of one endpoint, of one project, and of all are under way in one process. */
export const ENDPOINT_CALLS_MAX = 4;
export const PROJECT_CALLS_MAX = 8;
export const CALLS_MAX = 40;
/** How many calls of one endpoint are under way in all processes whose runs no server started. */
export const ENDPOINT_CALLS_OF_PAGES_MAX = 3;
/** How many are under way, or wait for their place, of all projects; past that a run looks again for its call. */
export const LANES_MAX = 8_000;
