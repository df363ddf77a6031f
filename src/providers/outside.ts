import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { resolveEgress } from '../base/egress.ts';
import type { Settings } from './settings.ts';
import type { Network } from './transport.ts';

/** Returns the host that a provider is reached at; null for Amazon's own. */
const hostOf = (settings: Settings, { relayApiUrl, cloudApiUrl }: Network): string | null => {
  switch (settings.provider) {
    case 'smtp':
      return settings.smtp_host;
    case 'relay_api':
      return new URL(relayApiUrl).hostname;
    case 'cloud_api':
      return cloudApiUrl === null ? null : new URL(cloudApiUrl).hostname;
  }
};

/** Whether a provider is outside: not all addresses of its host are inside EGRESS_ALLOW_NETWORKS. */
export const isOutside = async (settings: Settings, network: Network): Promise<boolean> => {
  const host = hostOf(settings, network)?.replace(/^\[(.*)\]$/, '$1');
  if (host === undefined) return true;
  const answer = await resolveEgress(host, network.allowNetworks, network.nameServers);
  return answer.kind !== 'open' || !answer.isInAllowedNetwork;
};

const Id = z.strictObject({ provider_id: z.uuid() });

/**
 * Lists those of some providers that are outside, as they were when they were saved. A record from before that was
 * kept is outside unless its host is this machine by name.
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
