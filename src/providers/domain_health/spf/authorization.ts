import type { DnsQueries } from '../dns.ts';
import { toName } from '../names.ts';
import type { Network } from './address.ts';
import { evaluateSpf } from './evaluate.ts';
import { listIncluded, listNetworks, strangersOf } from './measure.ts';
import { survey } from './survey.ts';
import type { Survey } from './survey.ts';

/** How many of a provider's networks are tried, where its include is not in the record. */
export const SAMPLED_NETWORKS_MAX = 6;

/**
 * How much of a provider's servers a record authorizes. `everyone`: as every other server. `not_asked`: what the
 * provider has its customers include is not known.
 */
export type Authorization = 'whole' | 'everyone' | 'part' | 'none' | 'unknown' | 'not_asked';

type AuthorizationSubject = { domain: string; mailFrom: string; include: string | null };

/**
 * Finds out whether a record authorizes an email provider: by its include, in whatever record, or by the addresses of
 * the provider's servers, which other terms may cover.
 */
export const findAuthorization = async (
  dns: DnsQueries,
  { domain, mailFrom, include }: AuthorizationSubject,
  found: Survey,
): Promise<Authorization> => {
  if (include === null) return 'not_asked';
  if (listIncluded(found).includes(toName(include))) return 'whole';
  if (found.record === null) return 'none';
  if (strangersOf(found).result === 'pass') return 'everyone';
  const provider = await survey(dns, { domain: toName(include), mailFrom });
  const networks = pickEvenly(listNetworks(provider), SAMPLED_NETWORKS_MAX);
  if (networks.length === 0) return provider.fault?.kind === 'unknown' ? 'unknown' : 'none';
  const results = [];
  for (const { family, bits } of networks)
    results.push(
      await evaluateSpf(
        dns,
        { address: { family, bits }, mailFrom, helo: domain },
        found.text ?? undefined,
      ),
    );
  if (results.includes('temperror')) return 'unknown';
  const passed = results.filter((result) => result === 'pass').length;
  if (passed === 0) return 'none';
  return passed === results.length ? 'whole' : 'part';
};

const pickEvenly = (all: readonly Network[], most: number): Network[] => {
  if (all.length <= most) return [...all];
  const step = all.length / most;
  return Array.from({ length: most }, (_, at) => all[Math.floor(at * step)]).filter(
    (one) => one !== undefined,
  );
};
