import { z } from 'zod';
import { inProject, sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { resolveEgress } from '../base/egress.ts';
import { networkOf } from './network.ts';
import { PROVIDER_KINDS } from './settings.ts';
import type { Settings } from './settings.ts';
import type { Network } from './transport.ts';

type Placed = Pick<Settings, 'provider'> & { smtp_host?: string | null };

/** Returns the host that a provider is reached at; null for Amazon's own. */
const hostOf = (settings: Placed, { relayApiUrl, cloudApiUrl }: Network): string | null => {
  switch (settings.provider) {
    case 'smtp':
      return settings.smtp_host ?? null;
    case 'relay_api':
      return new URL(relayApiUrl).hostname;
    case 'cloud_api':
      return cloudApiUrl === null ? null : new URL(cloudApiUrl).hostname;
  }
};

/** Whether a provider is outside now; null where its host does not resolve. */
const locate = async (settings: Placed, network: Network): Promise<boolean | null> => {
  const host = hostOf(settings, network)?.replace(/^\[(.*)\]$/, '$1');
  if (host === undefined) return true;
  const answer = await resolveEgress(host, network.allowNetworks, network.nameServers);
  if (answer.kind === 'unresolvable') return null;
  return answer.kind !== 'open' || !answer.isInAllowedNetwork;
};

/** Whether a provider is outside: not all addresses of its host are inside EGRESS_ALLOW_NETWORKS. */
export const isOutside = async (settings: Settings, network: Network): Promise<boolean> =>
  (await locate(settings, network)) ?? true;

const Place = z.strictObject({
  provider_id: z.uuid(),
  provider: z.enum(PROVIDER_KINDS),
  smtp_host: z.string().nullable(),
  is_outside: z.boolean().nullable(),
  revision: z.int(),
});

const listPlaces = ({ tx, projectId }: Scope, providerIds: readonly string[]) =>
  tx.any(sql.type(Place)`
    select provider_id, provider, smtp_host, is_outside, revision from providers.providers
    where project_id = ${projectId} and provider_id = any (${sql.array([...providerIds], 'uuid')})
  `);

/** Records where a provider is, unless its record was saved meanwhile: that looked, too. */
const updatePlace = (
  { tx, projectId }: Scope,
  { provider_id, revision }: z.output<typeof Place>,
  isOut: boolean,
) =>
  tx.query(sql.unsafe`
    update providers.providers set is_outside = ${isOut}
    where project_id = ${projectId} and provider_id = ${provider_id} and revision = ${revision}
  `);

/**
 * Records where some providers are now: DNS and EGRESS_ALLOW_NETWORKS change. Of a host that does not resolve, what was
 * recorded before stays. Asks DNS outside of any transaction.
 */
export const relocate = async (
  deps: Deps,
  projectId: string,
  providerIds: readonly string[],
): Promise<void> => {
  if (providerIds.length === 0) return;
  const network = networkOf(deps);
  const places = await inProject(deps, projectId, (scope) => listPlaces(scope, providerIds));
  const located = await Promise.all(
    places.map(async (place) => ({ place, isOut: await locate(place, network) })),
  );
  await inProject(deps, projectId, async (scope) => {
    for (const { place, isOut } of located)
      if (isOut !== null && isOut !== place.is_outside) await updatePlace(scope, place, isOut);
  });
};

const Id = z.strictObject({ provider_id: z.uuid() });

/**
 * Lists those of some providers that are outside, as they were when they were last looked up. A record of which that is
 * not known is outside unless its host is this machine by name.
 */
export const listOutside = async (
  { tx, projectId }: Scope,
  providerIds: readonly string[],
): Promise<string[]> => {
  if (providerIds.length === 0) return [];
  const rows = await tx.any(sql.type(Id)`
    select provider_id from providers.providers
    where project_id = ${projectId} and provider_id = any (${sql.array([...providerIds], 'uuid')})
    and coalesce(is_outside, smtp_host is null or smtp_host !~ '^(localhost|::1|127\\.[0-9.]+)$')
  `);
  return rows.map(({ provider_id }) => provider_id);
};
