import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { resolveEgress } from '../base/egress.ts';
import { Refusal } from '../base/refusal.ts';
import { nameServersOf } from '../base/resolve_host.ts';
import { resolveFailing } from './endpoint_alerts.ts';
import {
  countSubscribed,
  deleteEndpoint,
  findEndpoint,
  listSecrets,
  lockSubscribed,
  updateEndpoint,
} from './endpoint_queries.ts';
import type { EndpointChange, EndpointRow, NewEndpointRow } from './endpoint_queries.ts';
import { toEndpoint, toListedEndpoint } from './endpoint_shown.ts';
import { createEndpoint, findWithSecret, rotateSecret } from './endpoints.ts';
import type { Vault } from './endpoints.ts';
import { SUBSCRIBED_ENDPOINTS_MAX } from './subscriptions/delivery_limits.ts';

type Asked = { deps: Deps; projectId: string };
type Named = { endpointId: string; secretId: string };

const CLOSED =
  'leads to a private address: those are told only in networks that the operator of this installation lists in ' +
  'EGRESS_ALLOW_NETWORKS';
const IN_THE_CLEAR = 'must be https, outside of the networks of the operator';

/**
 * What no call could be made to is not kept: an address that is closed to us, or one without TLS, where anybody on the
 * way could read whom it is about. Either is open within the operator's own networks. A name that nobody knows may be
 * known tomorrow; each call looks again.
 */
const refuseUnreachable = async (deps: Deps, url: string): Promise<void> => {
  const { protocol, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const networks = deps.config.egressAllowNetworks;
  const egress = await resolveEgress(host, networks, nameServersOf(deps));
  const isOurs = egress.kind === 'open' && egress.isInAllowedNetwork;
  if (egress.kind !== 'closed' && (protocol === 'https:' || isOurs)) return;
  const message = egress.kind === 'closed' ? CLOSED : IN_THE_CLEAR;
  throw new Refusal('invalid_request', { issues: [{ path: '/url', message }] });
};

/** An endpoint with one of its secrets in the clear, as it is answered to whoever made it; null when either is gone. */
export const showSecret = async (scope: Scope, vault: Vault, ids: Named) => {
  const found = await findWithSecret(scope, vault, ids);
  if (found === null) return null;
  const { endpoint, secret } = found;
  return { endpoint: toListedEndpoint(endpoint), secret_id: ids.secretId, secret };
};

const getSecret = async (scope: Scope, vault: Vault, ids: Named) => {
  const shown = await showSecret(scope, vault, ids);
  if (shown === null) throw new Refusal('not_found');
  return shown;
};

export const getEndpoint = async (scope: Scope, endpointId: string): Promise<EndpointRow> => {
  const row = await findEndpoint(scope, endpointId);
  if (row === null) throw new Refusal('not_found', { detail: 'There is no such endpoint.' });
  return row;
};

export const showEndpoint = async (scope: Scope, endpointId: string) =>
  toEndpoint(await getEndpoint(scope, endpointId), await listSecrets(scope, endpointId));

/** Makes a change of endpoints, and refuses it where more of them would subscribe than may. */
const subscribing = async <T>(
  scope: Scope,
  { eventTypes = [] }: Pick<EndpointChange, 'eventTypes'>,
  change: () => Promise<T>,
): Promise<T> => {
  if (eventTypes.length === 0) return change();
  await lockSubscribed(scope);
  const changed = await change();
  if ((await countSubscribed(scope)) > SUBSCRIBED_ENDPOINTS_MAX)
    throw new Refusal('too_many_subscriptions');
  return changed;
};

/** Makes an endpoint; answers its first secret, which is shown then and never again. */
export const addEndpoint = async (
  { deps, projectId }: Asked,
  vault: Vault,
  given: NewEndpointRow,
) => {
  await refuseUnreachable(deps, given.url);
  return inProject(deps, projectId, async (scope) => {
    await subscribing(scope, given, () => createEndpoint(scope, vault, given));
    return getSecret(scope, vault, { endpointId: given.endpointId, secretId: given.endpointId });
  });
};

/** Gives an endpoint another secret, and answers it. */
export const changeSecret = ({ deps, projectId }: Asked, vault: Vault, ids: Named) =>
  inProject(deps, projectId, async (scope) => {
    await rotateSecret(scope, vault, ids);
    return getSecret(scope, vault, ids);
  });

/** Deletes an endpoint with its secrets, and resolves its alert. */
export const removeEndpoint = async (scope: Scope, endpointId: string): Promise<void> => {
  await resolveFailing(scope, endpointId);
  await deleteEndpoint(scope, endpointId);
};

/** Whether a change lets an endpoint start anew: at another address, enabled or disabled. */
const startsAnew = (row: EndpointRow, { url = row.url, status = row.status }: EndpointChange) =>
  url !== row.url || status !== row.status;

/** What is left out stays. A worker may have disabled the endpoint since it was `found`: DNS takes its time. */
export const changeEndpoint = async (
  { deps, projectId }: Asked,
  found: EndpointRow,
  change: EndpointChange,
) => {
  if (change.url !== undefined || change.status === 'active')
    await refuseUnreachable(deps, change.url ?? found.url);
  const { endpoint_id: endpointId } = found;
  return inProject(deps, projectId, async (scope) => {
    if (startsAnew(await getEndpoint(scope, endpointId), change))
      await resolveFailing(scope, endpointId);
    await subscribing(scope, change, () => updateEndpoint(scope, endpointId, change));
    return showEndpoint(scope, endpointId);
  });
};
