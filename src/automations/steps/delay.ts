import { later } from '../clock.ts';
import type { Take } from '../world.ts';

/** Waits so long from when the run came here. */
export const delay: Take<'delay'> = ({ run, now, zone }, { duration, next }) => {
  if (run.until === null) {
    const until = later(now, duration, zone);
    return { kind: 'waits', until, decision: 'delayed', detail: { until: until.toISOString() } };
  }
  if (now < run.until) return { kind: 'waits', until: run.until };
  return { kind: 'goes_on', next, decision: 'delay_over' };
};
