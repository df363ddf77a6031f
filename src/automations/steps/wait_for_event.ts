import { later } from '../clock.ts';
import type { Take } from '../world.ts';

/**
 * Waits for an event of the person's, for so long. What occurred since the run began counts, also before the run
 * came here; whoever looks late still goes by what had occurred in time.
 */
export const waitForEvent: Take<'wait_for_event'> = async (
  { run, now, zone, reader },
  { event, where, source, timeout, next, on_timeout },
) => {
  const match = { event, where, source };
  const until = run.until ?? later(now, timeout, zone);
  const found = await reader.firstEvent(match, now < until ? now : until);
  if (found) {
    const detail = { event, event_id: found.event_id };
    return { kind: 'goes_on', next, decision: 'event_came', detail };
  }
  if (now >= until)
    return { kind: 'goes_on', next: on_timeout, decision: 'wait_timed_out', detail: { event } };
  if (run.until !== null) return { kind: 'waits', until, for: match };
  const detail = { event, until: until.toISOString() };
  return { kind: 'waits', until, for: match, decision: 'waits_for_event', detail };
};
