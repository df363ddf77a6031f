import { BlockList, isIP } from 'node:net';
import { resolveHost } from './resolve_host.ts';
import type { NameServers } from './resolve_host.ts';

/**
 * Networks that no provider lives in, from the IANA special-purpose registries (RFC 6890 and
 * updates) and multicast. Includes the IPv6 forms that carry an IPv4 address inside: compatible,
 * NAT64, Teredo and 6to4 are closed as a whole; mapped addresses are checked as IPv4 by BlockList.
 */
const CLOSED_NETWORKS = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24',
  // The last one is where a large cloud's own services answer every machine.
  '224.0.0.0/4 240.0.0.0/4 168.63.129.16/32',
  '::/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20',
  '5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8',
].flatMap((line) => line.split(' '));

const toBlockList = (networks: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
};

const closed = toBlockList(CLOSED_NETWORKS);

/** Where a connection may go: the checked address to connect to. */
export type EgressAnswer =
  | { kind: 'open'; address: string; isInAllowedNetwork: boolean }
  | { kind: 'closed' }
  | { kind: 'unresolvable' };

/**
 * Resolves a host and checks every address it has. Connect to exactly the address answered, and
 * validate certificates against the name: a second resolution could answer something else.
 */
export const resolveEgress = async (
  host: string,
  allowNetworks: readonly string[],
  servers: NameServers,
): Promise<EgressAnswer> => {
  const allowed = toBlockList(allowNetworks);
  const answers = await resolveHost(host, servers);
  const [first] = answers;
  if (!first) return { kind: 'unresolvable' };

  const isAllowed = (address: string, family: number) =>
    allowed.check(address, family === 6 ? 'ipv6' : 'ipv4');
  const isClosed = (address: string, family: number) =>
    closed.check(address, family === 6 ? 'ipv6' : 'ipv4');
  const isInAllowedNetwork = answers.every(({ address, family }) => isAllowed(address, family));
  if (
    !isInAllowedNetwork &&
    answers.some(({ address, family }) => isClosed(address, family) && !isAllowed(address, family))
  ) {
    return { kind: 'closed' };
  }
  return { kind: 'open', address: first.address, isInAllowedNetwork };
};
