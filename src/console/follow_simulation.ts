import { api } from './api.ts';
import type { Outputs } from './api.ts';

type Simulation = Outputs['automations']['simulate'];
type Asked = { projectId: string; automationId: string; days: number; version: number };

/** How many of those who came were followed so far. */
export type Followed = { followed: number; of: number };

/** Runs a simulation and is told how far it is; where no stream comes through, it is asked for as a whole. */
export const followSimulation = (
  asked: Asked,
  signal: AbortSignal,
  onProgress: (progress: Followed) => void,
): Promise<Simulation> =>
  new Promise((resolve, reject) => {
    let isSettled = false;
    const settle = (how: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      stream.unsubscribe();
      how();
    };
    const ask = (): void =>
      settle(() => void api.automations.simulate.query(asked, { signal }).then(resolve, reject));
    const stream = api.automations.simulation.subscribe(asked, {
      onData: (told) => {
        if (told.kind === 'done') settle(() => resolve(told.simulation));
        else onProgress({ followed: told.followed, of: told.of });
      },
      onError: ask,
      onStopped: ask,
      // The browser would have it begin again, and again.
      onConnectionStateChange: ({ error }) => error !== null && ask(),
    });
    signal.addEventListener('abort', () => settle(() => reject(signal.reason as Error)));
  });
