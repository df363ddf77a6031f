import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import { traceIdOf } from '../base/traceparent.ts';
import { advanceHint } from './advance.ts';
import { chargeCall } from './call_budget.ts';
import { writeBody } from './call_body.ts';
import { claimCall, endCall } from './call_queries.ts';
import type { Claimed, Ended } from './call_queries.ts';
import { alertFailing } from './endpoint_alerts.ts';
import { disableEndpoint, findEndpoint } from './endpoint_queries.ts';
import { openSecrets } from './endpoints.ts';
import type { Vault } from './endpoints.ts';
import { postWebhook } from './post_webhook.ts';
import type { Open, WebhookAnswer, WebhookMessage } from './post_webhook.ts';
import { readClock } from './run_queries.ts';
import { outcomeOf } from './webhook_outcome.ts';

type Ready = Omit<WebhookMessage, 'id' | 'traceparent'>;
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

const toEnded = (call: Claimed, told: WebhookAnswer, now: Date): Ended => ({
  callId: call.call_id,
  runId: call.run_id,
  attempt: call.attempts,
  ...outcomeOf(told, { ...call, isTest: call.is_test }, now),
});

/** Disables an endpoint that answered that it is gone, and alerts the owner. */
const disable = async (scope: Scope, endpointId: string): Promise<void> => {
  const endpoint = await findEndpoint(scope, endpointId);
  if (endpoint?.status !== 'active') return;
  await alertFailing(scope, endpoint, { reason: 'gone' });
  await disableEndpoint(scope, endpointId, 'gone');
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
      await disable(scope, endpointId);
  });
  await giveHints(deps, [advanceHint(projectId)]);
  return true;
};
