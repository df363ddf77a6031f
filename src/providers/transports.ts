import { cloudApi } from './cloud_api.ts';
import type { PreflightOutcome } from './outcome.ts';
import { relayApi } from './relay_api.ts';
import type { Settings } from './settings.ts';
import { smtp } from './smtp.ts';
import type { ConnectOutcome, Network } from './transport.ts';

/** Proves that settings and sender work, over the transport of their kind. */
export const preflight = (
  settings: Settings,
  network: Network,
  fromEmail: string,
): Promise<PreflightOutcome> => {
  switch (settings.provider) {
    case 'smtp':
      return smtp.preflight(settings, network, fromEmail);
    case 'relay_api':
      return relayApi.preflight(settings, network, fromEmail);
    case 'cloud_api':
      return cloudApi.preflight(settings, network, fromEmail);
  }
};

/** Opens a way to the provider, over the transport of its kind. */
export const connect = (settings: Settings, network: Network): Promise<ConnectOutcome> => {
  switch (settings.provider) {
    case 'smtp':
      return smtp.connect(settings, network);
    case 'relay_api':
      return relayApi.connect(settings, network);
    case 'cloud_api':
      return cloudApi.connect(settings, network);
  }
};
