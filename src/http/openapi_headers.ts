import type { oas31 } from 'zod-openapi';
import type { Route } from '../base/route.ts';

const REQUEST_ID = { type: 'string', pattern: '^[\\w.:-]{8,128}$' } as const;
const TRACEPARENT = {
  type: 'string',
  pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
} as const;

type Reader = { method: string; access: Route['access'] | 'none'; isReading?: true };

export const takesIdempotencyKey = ({ method, access, isReading }: Reader): boolean =>
  method === 'POST' && !isReading && (access === 'publishable' || access === 'server');

/** Headers that endpoints read, described once: all of them, unless it is said which. */
export const requestHeaders: readonly {
  key: string;
  isReadBy?: (reader: Reader) => boolean;
  parameter: oas31.ParameterObject;
}[] = [
  {
    key: 'RequestId',
    parameter: {
      name: 'X-Request-Id',
      in: 'header',
      description:
        'Your own id of this request, answered and logged. Another is made if it is not well-formed.',
      schema: REQUEST_ID,
    },
  },
  {
    key: 'Traceparent',
    parameter: {
      name: 'traceparent',
      in: 'header',
      description:
        'W3C Trace Context. Continued, also in the calls that events of this request lead to, or replaced by a new ' +
        'trace if it is not valid.',
      schema: TRACEPARENT,
    },
  },
  {
    key: 'IdempotencyKey',
    isReadBy: takesIdempotencyKey,
    parameter: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Makes the request safe to repeat: for 24 hours the same request with the same key gets the same answer. ' +
        'What tells of somebody is told as it is by then: without them, or `not_found`, once they are erased.',
      schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    },
  },
];

/** Headers of answers. */
export const responseHeaders: Record<string, oas31.HeaderObject> = {
  'X-Request-Id': {
    description: 'The id of this request.',
    required: true,
    schema: REQUEST_ID,
  },
  traceparent: { description: 'The trace that this request belongs to.', schema: TRACEPARENT },
  'Retry-After': {
    description: 'Whole seconds to wait before the next try.',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  'WWW-Authenticate': {
    description: 'The scheme that is wanted.',
    required: true,
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'What is left of each limit in its window, and the seconds until that ends.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'The limits that count this request, and the seconds of their windows.',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: '`true` for an answer to a request that was run before.',
    schema: { const: 'true' },
  },
  ETag: {
    description: 'Send it as `If-None-Match`: the answer is 304 while nothing has changed.',
    required: true,
    schema: { type: 'string' },
  },
};

export const headerRef = (name: string): oas31.ReferenceObject => ({
  $ref: `#/components/headers/${name}`,
});

/** What every answer bears. */
export const answerHeaders = {
  'X-Request-Id': headerRef('X-Request-Id'),
  traceparent: headerRef('traceparent'),
};

export const limitHeaders = {
  RateLimit: headerRef('RateLimit'),
  'RateLimit-Policy': headerRef('RateLimit-Policy'),
};

/** What the answer that an endpoint promises may bear. */
export const successHeaders = (reader: Reader) => ({
  ...answerHeaders,
  ...(reader.access === 'webhook' ? {} : limitHeaders),
  ...(takesIdempotencyKey(reader)
    ? { 'Idempotency-Replayed': headerRef('Idempotency-Replayed') }
    : {}),
});

/** The headers that an endpoint reads, as references. */
export const headersRead = (reader: Reader): oas31.ReferenceObject[] =>
  requestHeaders
    .filter(({ isReadBy }) => isReadBy?.(reader) ?? true)
    .map(({ key }) => ({ $ref: `#/components/parameters/${key}` }));
