import type { Deps } from '../base/deps.ts';
import { nameServersOf } from '../base/resolve_host.ts';
import type { Network } from './transport.ts';

export const networkOf = (deps: Pick<Deps, 'config' | 'resources'>): Network => ({
  allowNetworks: deps.config.egressAllowNetworks,
  nameServers: nameServersOf(deps),
  relayApiUrl: deps.config.relayApiUrl,
  cloudApiUrl: deps.config.cloudApiUrl,
  ehloName: deps.config.ehloName,
  answerTimeoutMs: deps.config.answerTimeoutMs,
});
