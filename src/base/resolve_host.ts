import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Deps } from './deps.ts';

/** How long one question to a name server may take, and how often it is asked. */
const QUESTION_TIMEOUT_MS = 2_000;
const QUESTION_TRIES = 2;

/** Who answers questions for addresses. */
export type NameServers = Pick<Resolver, 'resolve4' | 'resolve6'>;

const makeResolver = ({ config }: Pick<Deps, 'config'>): Resolver => {
  const resolver = new Resolver({ timeout: QUESTION_TIMEOUT_MS, tries: QUESTION_TRIES });
  if (config.dnsServers.length > 0) resolver.setServers(config.dnsServers);
  return resolver;
};

/** The name servers of this process: those of DNS_SERVERS, or the system's. */
export const nameServersOf = (deps: Pick<Deps, 'config' | 'resources'>): Resolver =>
  deps.resources.of(makeResolver, deps);

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

const withFamily = (addresses: readonly string[], family: 4 | 6): LookupAddress[] =>
  addresses.map((address) => ({ address, family }));

/** Through the hosts file and the search domains. Takes one of the process's few threads while it waits. */
const lookUp = async (host: string): Promise<LookupAddress[]> => {
  try {
    return await lookup(host, { all: true, verbatim: true });
  } catch {
    return [];
  }
};

/**
 * The addresses of a host, IPv4 first; none when there are none, or nobody said in time.
 *
 * Name servers are asked without a thread: a customer's name that nobody answers for holds up nobody
 * else. Only what they answered at once that they do not know, and names without a dot, are looked up
 * as the operating system does.
 */
export const resolveHost = async (host: string, servers: NameServers): Promise<LookupAddress[]> => {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  if (!host.includes('.')) return lookUp(host);

  const [four, six] = await Promise.allSettled([servers.resolve4(host), servers.resolve6(host)]);
  const found = [
    ...(four.status === 'fulfilled' ? withFamily(four.value, 4) : []),
    ...(six.status === 'fulfilled' ? withFamily(six.value, 6) : []),
  ];
  if (found.length > 0) return found;
  const isSilent = [four, six].some(
    (answer) => answer.status === 'rejected' && codeOf(answer.reason) === 'ETIMEOUT',
  );
  return isSilent ? [] : lookUp(host);
};
