import type { Deps } from '../base/deps.ts';
import { route } from '../base/route.ts';
import type { Limit } from '../base/route.ts';
import { accept, acceptOne } from './ingest.ts';
import type { Admit } from './ingest.ts';
import {
  CLOCK_DIFFERENCE_MAX_MS,
  FUTURE_HOURS_MAX,
  PUBLISHABLE_DAYS_BACK_MAX,
} from './occurred_at.ts';
import {
  PROPERTY_KEY_CHARS_MAX,
  PROPERTY_KEYS_MAX,
  PROPERTY_STRING_BYTES_MAX,
} from './properties.ts';
import {
  AcceptedAnswer,
  BATCH_EVENTS_MAX,
  BatchInput,
  EVENT_BYTES_MAX,
  EVENT_NAME_CHARS_MAX,
  EventInput,
  IDENTIFIER_CHARS_MAX,
  MESSAGE_ID_CHARS_MAX,
  workOf,
} from './schema.ts';

/** A batch of 50 events of 32 KiB would be more: the request limit is the harder one. */
const REQUEST_BYTES_MAX = 1024 * 1024;

const refusals = ['occurred_at_out_of_range', 'quota_exceeded', 'overloaded'] as const;

const STORED =
  'The 202 is sent once the events are committed to disk. Any other answer, or none, means that nothing is known ' +
  'to be stored: repeat the request, with a `message_id` in each event so that none is stored twice.';

/** The endpoints of events. Whether a key may store them is decided by a module above this one. */
export const ingestRoutes = (admit: Admit) => [
  route({
    method: 'POST',
    path: '/v1/events',
    access: 'publishable',
    summary: 'Store one event.',
    description: `For servers that send a few. ${STORED}`,
    refusals,
    body: EventInput,
    bodyBytesMax: REQUEST_BYTES_MAX,
    workOf: (event) => [workOf(event)],
    status: 202,
    answer: AcceptedAnswer,
    handle: ({ deps, caller, body, repetitionId, traceparent }) =>
      acceptOne(deps, caller, body, { repetitionId, traceparent, admit }),
  }),
  route({
    method: 'POST',
    path: '/v1/events/batch',
    access: 'publishable',
    summary: `Store up to ${BATCH_EVENTS_MAX} events, all or none.`,
    description:
      'For browsers, workers and back-fills. One bad event refuses the batch, and `issues` names every bad one. ' +
      `If \`sent_at\` differs from our clock by more than ${CLOCK_DIFFERENCE_MAX_MS / 60_000} minutes, each ` +
      `\`occurred_at\` is moved by the difference. ${STORED}`,
    refusals: [...refusals, 'request_too_costly'],
    body: BatchInput,
    bodyBytesMax: REQUEST_BYTES_MAX,
    workOf: ({ events }) => events.map(workOf),
    status: 202,
    answer: AcceptedAnswer,
    example: {
      accepted: 2,
      duplicates: 0,
      event_ids: ['019a9f0c-6c00-7cc3-98c4-dc0c0c07398f', '019a9f0c-6c00-7a3c-9d17-3e2f4a1a2b05'],
    },
    handle: ({ deps, caller, body: { events, sent_at: sentAt }, repetitionId, traceparent }) =>
      accept(deps, caller, { events, sentAt, repetitionId, traceparent, admit }),
  }),
];

export const ingestLimits: readonly Limit[] = [
  { name: 'Events in a batch', value: BATCH_EVENTS_MAX, unit: 'items', where: '`events`' },
  { name: 'Body of a request with events', value: REQUEST_BYTES_MAX, unit: 'bytes', where: 'body' },
  { name: 'One event as JSON', value: EVENT_BYTES_MAX, unit: 'bytes', where: 'event' },
  { name: 'Name of an event', value: EVENT_NAME_CHARS_MAX, unit: 'characters', where: '`event`' },
  {
    name: 'Identifiers',
    value: IDENTIFIER_CHARS_MAX,
    unit: 'characters',
    where: '`external_id`, `anonymous_id`',
  },
  {
    name: 'Id of a message',
    value: MESSAGE_ID_CHARS_MAX,
    unit: 'characters',
    where: '`message_id`',
  },
  {
    name: 'A whole number, on either side of 0',
    value: Number.MAX_SAFE_INTEGER,
    unit: 'items',
    where: '`properties`, `traits`; larger ones are refused: send them as strings',
  },
  { name: 'Keys in properties', value: PROPERTY_KEYS_MAX, unit: 'items', where: '`properties`' },
  {
    name: 'A key in properties',
    value: PROPERTY_KEY_CHARS_MAX,
    unit: 'characters',
    where: '`properties`',
  },
  {
    name: 'A text in properties',
    value: PROPERTY_STRING_BYTES_MAX,
    unit: 'bytes',
    where: '`properties`',
  },
];

/** How far from now an event may have occurred. */
export const timeLimits = ({
  retentionMonths,
}: Pick<Deps['config'], 'retentionMonths'>): readonly Limit[] => [
  {
    name: 'How far back events reach',
    value: retentionMonths,
    unit: 'months',
    where: '`occurred_at`',
  },
  {
    name: 'The same with a publishable key',
    value: PUBLISHABLE_DAYS_BACK_MAX,
    unit: 'days',
    where: '`occurred_at`',
  },
  { name: 'How far ahead', value: FUTURE_HOURS_MAX, unit: 'hours', where: '`occurred_at`' },
];
