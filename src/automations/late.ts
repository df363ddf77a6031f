import { later } from './clock.ts';

/** Returns whether an event was received too long after it occurred, for the setting `late_events`. */
export const isLate = (
  { occurred_at, received_at }: { occurred_at: Date; received_at: Date },
  setting: string,
): boolean => setting !== 'accept' && later(occurred_at, setting, 'UTC') < received_at;

/** Returns the same of the events without which a segment change would not have happened. */
export const isLateEntry = (
  { changed_at: receivedAt, lag_ms: lagMs }: { changed_at: Date; lag_ms: number | null },
  setting: string,
): boolean => {
  if (lagMs === null) return false;
  const occurredAt = new Date(receivedAt.getTime() - lagMs);
  return isLate({ occurred_at: occurredAt, received_at: receivedAt }, setting);
};
