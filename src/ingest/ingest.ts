import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import type { Scope } from '../base/db.ts';
import { makeWaker } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import type { Issue } from '../base/refusal.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { metricsOf, secondsSince } from '../base/metrics.ts';
import { outOfTurn } from '../base/session_turns.ts';
import {
  Flusher,
  PUBLISHABLE_QUEUED_BYTES_MAX,
  PUBLISHABLE_QUEUED_EVENTS_MAX,
  QUEUED_BYTES_MAX,
  QUEUED_EVENTS_MAX,
} from './flusher.ts';
import { storeAdmitted } from './admission.ts';
import type { Admit } from './admission.ts';
import { bytesOf, toRow } from './events.ts';
import type { EventRow } from './events.ts';
import { messageKey } from './message_key.ts';
import type { Repetition } from './message_key.ts';
import { boundsAt, checkOccurredAt, clockCorrectionMs } from './occurred_at.ts';
import type { Bounds, Reach } from './occurred_at.ts';
import { processHint } from './process_hint.ts';
import {
  countAnonymous,
  countBetween,
  insertMessageId,
  listConflicts,
  listEvents,
} from './queries.ts';
import type { AcceptedAnswer, EventInput } from './schema.ts';
import { store } from './store.ts';
import type { Stored } from './store.ts';

export { arrivalOf, arrivedBy, isImported, LATE_AFTER_MS, occurredBy } from './arrival.ts';
export { ERASE_EVENTS_MAX, eraseEvents, eraseLatecomers } from './erase.ts';
export { eraseMentions, eraseWaiting } from './erase_mentions.ts';
export { holdFlushes, listPending } from './erase_queries.ts';
export { FIRST_DEVICE, pruneDevices } from './prune_devices.ts';
export { listWithEvents } from './retention_queries.ts';
export { STORED_ROW_BYTES } from './events.ts';
export { toEntry } from './entry.ts';
export { messageKey };
export {
  dropMonth,
  findExpiredUntil,
  forgetMessageIds,
  hasMonths,
  keepMonths,
} from './retention.ts';
export { countAnonymous, countBetween, listConflicts, listEvents };
export { isNamed, isReserved, RESERVED_PREFIX, SYSTEM_EVENTS } from './reserved_names.ts';
export { observe, withinTimeline } from './observe.ts';
export { clockCorrectionMs } from './occurred_at.ts';
export {
  PROPERTY_KEY_CHARS_MAX,
  PROPERTY_KEYS_MAX,
  PROPERTY_STRING_BYTES_MAX,
} from './properties.ts';
export type { MessageSpace, Repetition } from './message_key.ts';
export type { Admit, IdentifierPair, Load } from './admission.ts';
export type { Observed } from './observe.ts';
export { CLAIM_FLUSHES_MAX, processFlushes, takeFlushes } from './flushes.ts';
export { processHint };
export { Entry } from './queries.ts';
export type { EventKey } from './queries.ts';
export {
  EVENT_NAME_CHARS_MAX,
  EventInput,
  EventName,
  Identifier,
  IDENTIFIER_CHARS_MAX,
  MessageId,
  NOBODY,
  toSnakeCase,
  withoutAccents,
} from './schema.ts';
export { Event } from './queries.ts';

type StoreDeps = Pick<Deps, 'db' | 'keys' | 'log' | 'resources' | 'turns'>;
type IngestDeps = StoreDeps & Pick<Deps, 'config'>;

/** One flusher per process, so that all its requests share commits. */
const makeFlusher = (deps: StoreDeps): Flusher<EventRow, Stored> => {
  // One for good: a flush that outlives its request may end when all was closed, and then wakes nobody.
  const waker = deps.resources.of(makeWaker, deps);
  const { events, flushEvents, flushSeconds } = metricsOf(deps);
  // A look after what became of a flush must be taken.
  const own = outOfTurn(deps);
  const flusher = new Flusher(async (projectId, rows: EventRow[]) => {
    const startedAt = performance.now();
    const stored = await store(own, projectId, rows);
    flushSeconds.observe(secondsSince(startedAt));
    flushEvents.observe(rows.length);
    const duplicates = stored.filter(({ isDuplicate }) => isDuplicate).length;
    events.inc({ result: 'stored' }, stored.length - duplicates);
    events.inc({ result: 'duplicate' }, duplicates);
    waker.wake(processHint(projectId));
    return stored;
  }, bytesOf);
  watchQueue(deps, 'events', { size: () => flusher.queuedCount, max: QUEUED_EVENTS_MAX });
  watchQueue(deps, 'event_bytes', { size: () => flusher.queuedBytes, max: QUEUED_BYTES_MAX });
  watchQueue(deps, 'publishable_events', {
    size: () => flusher.publishable.events,
    max: PUBLISHABLE_QUEUED_EVENTS_MAX,
  });
  watchQueue(deps, 'publishable_event_bytes', {
    size: () => flusher.publishable.bytes,
    max: PUBLISHABLE_QUEUED_BYTES_MAX,
  });
  return flusher;
};

/** Wakes a worker for what was put on the timelines of a project, after its commit. */
export const wake = (deps: Pick<Deps, 'db' | 'log' | 'resources'>, projectId: string): void =>
  deps.resources.of(makeWaker, deps).wake(processHint(projectId));

const reachOf = ({ config }: Pick<Deps, 'config'>, caller: Caller): Reach => ({
  keyKind: caller.kind,
  retentionMonths: config.retentionMonths,
});

const checkTimes = (
  events: EventInput[],
  bounds: Bounds,
  pathOf: (at: number) => string,
): Issue[] =>
  events.flatMap((event, at) => {
    const message = event.occurred_at && checkOccurredAt(new Date(event.occurred_at), bounds);
    return message ? [{ path: `${pathOf(at)}/occurred_at`, message }] : [];
  });

/** Moves the times of a client whose clock is off; `sentAt` is what it said the time was. */
const correctTimes = (
  events: EventInput[],
  sentAt: string | undefined,
  now: Date,
): EventInput[] => {
  const correctionMs = sentAt === undefined ? 0 : clockCorrectionMs(new Date(sentAt), now);
  if (correctionMs === 0) return events;
  return events.map((event) => {
    if (event.occurred_at === undefined) return event;
    const corrected = new Date(new Date(event.occurred_at).getTime() + correctionMs);
    return { ...event, occurred_at: corrected.toISOString() };
  });
};

/** What a request holds: its events, where each stands in the body, and the client's clock. */
export type Batch = {
  events: EventInput[];
  sentAt?: string | undefined;
  /** The id of the request, the same at each try: its events are then stored once, also without message ids. */
  repetitionId?: string | undefined;
  /** Where each event stands in the request, if the request holds more than its events. */
  placeOf?: (at: number) => number;
  /** The trace that its work belongs to. */
  traceparent?: string | undefined;
  /** Decides whether the key may store the events. Required for a publishable key. */
  admit?: Admit | undefined;
  pathOf?: (at: number) => string;
};

const inBatch = (at: number): string => `/events/${at}`;
const alone = (): string => '';
const inOrder = (at: number): number => at;

/**
 * Stores events. Resolves once they and the note of their work are committed. A message id that the same kind of key
 * sent before resolves with the id of that first event.
 */
export const accept = async (
  deps: IngestDeps,
  caller: Caller,
  { events, sentAt, repetitionId, placeOf = inOrder, traceparent, admit, pathOf = inBatch }: Batch,
): Promise<AcceptedAnswer> => {
  const now = new Date();
  const corrected = correctTimes(events, sentAt, now);
  const issues = checkTimes(corrected, boundsAt(now, reachOf(deps, caller)), pathOf);
  if (issues.length > 0) throw new Refusal('occurred_at_out_of_range', { issues });

  const rows = corrected.map((event, at) => {
    const repetition = repetitionId === undefined ? undefined : { repetitionId, at: placeOf(at) };
    return toRow(event, caller, deps.keys, { repetition, traceparent });
  });
  const stored = await storeAdmitted(deps, caller, rows, {
    flusher: deps.resources.of(makeFlusher, deps),
    admit,
  });
  const duplicates = stored.filter(({ isDuplicate }) => isDuplicate).length;
  return {
    accepted: stored.length - duplicates,
    duplicates,
    event_ids: stored.map(({ eventId }) => eventId),
  };
};

/** Takes one event in, as `accept` does. */
export const acceptOne = (
  deps: IngestDeps,
  caller: Caller,
  event: EventInput,
  known: Pick<Batch, 'repetitionId' | 'traceparent' | 'admit'> = {},
): Promise<AcceptedAnswer> => accept(deps, caller, { ...known, events: [event], pathOf: alone });

/** Refuses a time that the caller may not write to. */
export const refuseTime = (deps: Pick<Deps, 'config'>, caller: Caller, occurredAt: Date): void => {
  const message = checkOccurredAt(occurredAt, boundsAt(new Date(), reachOf(deps, caller)));
  if (message === null) return;
  throw new Refusal('occurred_at_out_of_range', { issues: [{ path: '/occurred_at', message }] });
};

/**
 * Claims a message id for an identify; returns false when the same kind of key claimed it before. Events have message
 * ids of their own: Segment's libraries give each call another id, but a client that reuses one loses neither.
 */
export const claimIdentify = async (
  scope: Scope,
  { kind: keyKind }: Caller,
  { message, occurredAt }: { message: string | Repetition; occurredAt: Date },
): Promise<boolean> => {
  const key = messageKey(scope.keys, { keyKind, of: 'identify' }, message);
  return (await insertMessageId(scope, key, newId(), occurredAt)) !== null;
};
