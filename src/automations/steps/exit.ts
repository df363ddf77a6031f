import type { Take } from '../world.ts';

/** Ends the run. */
export const exit: Take<'exit'> = (_walk, { reason }) => ({
  kind: 'leaves',
  outcome: 'exited',
  decision: 'exited',
  detail: reason === undefined ? {} : { reason },
});
