import type { Repeatable } from '../base/idempotency.ts';
import { route } from '../base/route.ts';
import type { Inbound } from '../base/route.ts';
import { accept, acceptOne } from './ingest.ts';
import { AcceptedAnswer, BatchInput, EventInput } from './schema.ts';

/** A batch of 50 events of 32 KiB would be more: the request limit is the harder one. */
const REQUEST_BYTES_MAX = 1024 * 1024;

type Once<Body> = Inbound<Body, unknown, unknown> & Repeatable;

export const ingestRoutes = [
  route({
    method: 'POST',
    path: '/v1/events',
    access: 'publishable',
    summary: 'Accept one event. Answered once it is stored for good.',
    body: EventInput,
    bodyBytesMax: REQUEST_BYTES_MAX,
    status: 202,
    answer: AcceptedAnswer,
    handle: ({ deps, caller, body, repetitionId }: Once<EventInput>) =>
      acceptOne(deps, caller, body, repetitionId),
  }),
  route({
    method: 'POST',
    path: '/v1/events/batch',
    access: 'publishable',
    summary: 'Accept up to 50 events, all or none.',
    body: BatchInput,
    bodyBytesMax: REQUEST_BYTES_MAX,
    status: 202,
    answer: AcceptedAnswer,
    handle: ({ deps, caller, body, repetitionId }: Once<BatchInput>) =>
      accept(deps, caller, { events: body.events, sentAt: body.sent_at, repetitionId }),
  }),
];
