import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import { traceIdOf } from '../base/traceparent.ts';
import * as delivery from '../delivery/delivery.ts';
import { advanceHint } from './advance.ts';
import { chargeCall } from './call_budget.ts';
import { writeBody } from './call_body.ts';
import { claimCall, endCall } from './call_queries.ts';
import type { Claimed, Ended } from './call_queries.ts';
import { disableEndpoint, findEndpoint } from './endpoint_queries.ts';
import { openSecrets } from './endpoints.ts';
import type { Vault } from './endpoints.ts';
import { postWebhook } from './post_webhook.ts';
import type { Open, WebhookAnswer } from './post_webhook.ts';
import { readClock } from './run_queries.ts';

const SECOND_MS = 1_000;
type Ready = { url: URL; secrets: string[]; body: string; at: Date };
/** A call that was claimed: what to send, or what became of it without a request. */
type Taken = { call: Claimed } & ({ ready: Ready } | { ready: null; told: WebhookAnswer });

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
    const at = await readClock(scope);
    const hintSeconds = await chargeCall(scope, endpointId, call);
    return hintSeconds === null
      ? { call, ready: { url: new URL(endpoint.url), secrets, body, at } }
      : { call, ready: null, told: { ...OVER_LIMIT, hintSeconds } };
  });

/** A test is told once: whoever tries wants to know, not to wait. */
const toEnded = (call: Claimed, told: WebhookAnswer, now: Date): Ended => {
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
  const { call_id: id, traceparent } = call;
  const told = taken.ready
    ? await postWebhook(deps, { id, traceparent, ...taken.ready }, open)
    : taken.told;
  await inProject(deps, projectId, async (scope) => {
    await endCall(scope, toEnded(call, told, await readClock(scope)));
    if (told.kind === 'refused' && told.reason === 'endpoint_gone')
      await disableEndpoint(scope, endpointId, 'gone');
  });
  await giveHints(deps, [advanceHint(projectId)]);
  return true;
};
