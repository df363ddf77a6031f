import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import { openHttps } from '../base/https.ts';
import type { Exchange, HttpsConnection, HttpsFailure } from '../base/https.ts';
import { nameServersOf } from '../base/resolve_host.ts';
import { traceHeader, traceIdOf } from '../base/traceparent.ts';
import * as delivery from '../delivery/delivery.ts';
import { advanceHint } from './advance.ts';
import { chargeCall } from './call_budget.ts';
import { writeBody } from './call_body.ts';
import { CALL_ANSWER_BYTES_MAX, CALL_TIMEOUTS } from './call_limits.ts';
import { claimCall, endCall } from './call_queries.ts';
import type { Claimed, Ended } from './call_queries.ts';
import { disableEndpoint, findEndpoint } from './endpoint_queries.ts';
import { openSecrets } from './endpoints.ts';
import type { Vault } from './endpoints.ts';
import { readClock } from './run_queries.ts';
import { signWebhook } from './sign_webhook.ts';

const SECOND_MS = 1_000;
const GONE = 410;
/** Refusals that may be over in a while; any other is what the endpoint thinks of the message. */
const PASSING = [408, 409, 425, 429];

export type Told =
  | { kind: 'delivered'; httpStatus: number }
  | { kind: 'refused'; httpStatus: number | null; reason: string }
  | { kind: 'postponed'; httpStatus: number | null; reason: string; hintSeconds: number | null };

const hintOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;

/** What an answer, or the lack of one, says of a call. */
export const classify = (came: Exchange | { kind: 'failed'; reason: HttpsFailure }): Told => {
  if (came.kind === 'failed')
    return { kind: 'postponed', httpStatus: null, reason: came.reason, hintSeconds: null };
  if (came.kind !== 'answered')
    return { kind: 'postponed', httpStatus: null, reason: 'no_answer', hintSeconds: null };
  const { status, headers } = came;
  if (status >= 200 && status < 300) return { kind: 'delivered', httpStatus: status };
  if (status >= 500 || PASSING.includes(status)) {
    const hintSeconds = hintOf(headers['retry-after']);
    return { kind: 'postponed', httpStatus: status, reason: 'refused', hintSeconds };
  }
  const reason = status === GONE ? 'endpoint_gone' : 'refused';
  return { kind: 'refused', httpStatus: status, reason };
};

type Ready = { url: URL; secrets: string[]; body: string; now: Date };
/** A call that was claimed: what to send, or what became of it without a request. */
type Taken = { call: Claimed } & ({ ready: Ready } | { ready: null; told: Told });

const OVER_LIMIT = { kind: 'postponed', httpStatus: null, reason: 'browser_limit' } as const;
const REFUSED = { kind: 'refused', httpStatus: null } as const;

const take = (
  deps: Deps,
  vault: Vault,
  { projectId, endpointId }: { projectId: string; endpointId: string },
): Promise<Taken | null> =>
  inProject(deps, projectId, async (scope) => {
    const call = await claimCall(scope, endpointId);
    if (call === null) return null;
    const endpoint = await findEndpoint(scope, endpointId);
    if (endpoint?.status !== 'active') {
      const reason = endpoint ? 'endpoint_disabled' : 'endpoint_deleted';
      return { call, ready: null, told: { ...REFUSED, reason } };
    }
    const body = await writeBody(scope, call);
    if (body === null) return { call, ready: null, told: { ...REFUSED, reason: 'person_erased' } };
    const secrets = await openSecrets(scope, vault, endpointId);
    const now = await readClock(scope);
    const hintSeconds = await chargeCall(scope, endpointId, call);
    return hintSeconds === null
      ? { call, ready: { url: new URL(endpoint.url), secrets, body, now } }
      : { call, ready: null, told: { ...OVER_LIMIT, hintSeconds } };
  });

/** Connections that are open just now, so that whoever stops can end them. */
export type Open = Set<HttpsConnection>;

const post = async (
  deps: Deps,
  { call_id: id, traceparent }: Claimed,
  ready: Ready,
  open: Open,
): Promise<Told> => {
  const { url, secrets, body, now: at } = ready;
  const ways = {
    allowNetworks: deps.config.egressAllowNetworks,
    nameServers: nameServersOf(deps),
  };
  const connected = await openHttps(url, ways, CALL_TIMEOUTS);
  if (connected.kind === 'failed') return classify(connected);
  const { connection } = connected;
  open.add(connection);
  try {
    const exchange = await connection.exchange({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Trunkline',
        ...signWebhook(secrets, { id, at, body }),
        ...traceHeader(traceparent),
      },
      body: Buffer.from(body),
      mayStart: () => true,
      answerBytesMax: CALL_ANSWER_BYTES_MAX,
    });
    return classify(exchange);
  } finally {
    open.delete(connection);
    connection.close();
  }
};

/** A test is told once: whoever tries wants to know, not to wait. */
const toEnded = (call: Claimed, told: Told, now: Date): Ended => {
  const of = { callId: call.call_id, runId: call.run_id, attempt: call.attempts };
  const { httpStatus } = told;
  if (told.kind === 'delivered')
    return { ...of, status: 'delivered', retryAt: null, httpStatus, reason: null };
  const failed: Ended = { ...of, status: 'failed', retryAt: null, httpStatus, reason: told.reason };
  if (told.kind === 'refused' || call.is_test) return failed;
  const afterSeconds = delivery.retryAfterSeconds(call.attempts, Math.random(), told.hintSeconds);
  const retryAt = new Date(now.getTime() + Math.max(1, afterSeconds) * SECOND_MS);
  return retryAt > call.expires_at ? failed : { ...failed, status: 'waiting', retryAt };
};

type OnTaken = (traceId: string | undefined) => void;

/** Makes the next call of an endpoint, if there is one. Answers whether there was. */
export const callNext = async (
  deps: Deps,
  vault: Vault,
  asked: { projectId: string; endpointId: string; open: Open; onTaken?: OnTaken },
): Promise<boolean> => {
  const { projectId, endpointId, open } = asked;
  const taken = await take(deps, vault, asked);
  if (taken === null) return false;
  const { call } = taken;
  asked.onTaken?.(traceIdOf(call.traceparent));
  const told = taken.ready ? await post(deps, call, taken.ready, open) : taken.told;
  await inProject(deps, projectId, async (scope) => {
    await endCall(scope, toEnded(call, told, await readClock(scope)));
    if (told.kind === 'refused' && told.reason === 'endpoint_gone')
      await disableEndpoint(scope, endpointId, 'gone');
  });
  await giveHints(deps, [advanceHint(projectId)]);
  return true;
};
