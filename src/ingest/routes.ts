import { route } from '../base/route.ts';
import { accept, acceptOne } from './ingest.ts';
import { AcceptedAnswer, BatchInput, EventInput } from './schema.ts';

/** A batch of 50 events of 32 KiB would be more: the request limit is the harder one. */
const REQUEST_BYTES_MAX = 1024 * 1024;

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
    handle: ({ deps, caller, body }) => acceptOne(deps, caller, body),
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
    handle: ({ deps, caller, body }) =>
      accept(deps, caller, { events: body.events, sentAt: body.sent_at }),
  }),
];
