import type { ZodOpenApiSecuritySchemeObject } from 'zod-openapi';
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '../base/page.ts';
import type { Limit, Route } from '../base/route.ts';
import { NOBODY } from '../ingest/ingest.ts';

/** What is true of every endpoint, in CommonMark. */
export const ABOUT = `\
Product events in, the right e-mail out, through your own provider.

## Requests

Bodies are JSON in UTF-8, sent as \`Content-Type: application/json\` and not compressed; another \`charset\`, and a \
second \`Authorization\` or \`Content-Type\`, is refused. Unknown members and \
unknown query parameters are refused, so that no typing error is swallowed. Timestamps are RFC 3339: sent with an \
offset, answered in UTC. An object with two members of one name is refused. \
\`HEAD\` answers as \`GET\` does, without the body.

## People

People are named by your own id of them, \`external_id\`, and devices or sessions by \`anonymous_id\`. What a \
missing value looks like names nobody and is refused, in any case and with blanks around it: \
${[...NOBODY].map((value) => `\`${value}\``).join(', ')}. So is what is of nothing but invisible \
characters, such as a zero-width space.

## Errors

Every error has one shape, whatever went wrong: \`{ "error", "status", "detail", "request_id" }\`, and \`issues\` \
where several things may be wrong at once. Branch on \`error\` and on nothing else. Checks come in this order: \
token, kind of key, rate, object, then query and body.

Below 500 mend the request and do not repeat it as it is. After 429 and 503 wait for \`Retry-After\`. After any \
other 5xx retry with exponential back-off. A path that exists for another method only answers 405 \
\`method_not_allowed\` with \`Allow\`.

## Lists

Lists are read page by page: at most \`limit\` items (${PAGE_ITEMS_DEFAULT} unless you say otherwise, \
${PAGE_ITEMS_MAX} at most), and \`next_cursor\` to send as \`cursor\` for the page after. It is null on the last \
page. A cursor is not to be read, changed or kept.

## Versions

\`/v1\` only grows. New endpoints, new optional members of requests, new members of answers, new statuses and \
reasons of objects, and new error names may come at any time, so ignore what you do not know.

An endpoint or member that has to go is announced at least twelve months ahead, with the headers \`Deprecation\` \
(RFC 9745: since when), \`Sunset\` (RFC 8594: until when) and a \`Link\` to what replaces it. A change that would \
break a client is \`/v2\`.`;

export const securitySchemes: Record<string, ZodOpenApiSecuritySchemeObject> = {
  publishable_key: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_pub_live_…',
    description: 'May be seen by anybody: for browsers. It sends events and reads nothing.',
  },
  server_key: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_secret_live_…',
    description: 'For your servers only. It may do all that a publishable key may.',
  },
  write_key: {
    type: 'http',
    scheme: 'basic',
    description: "Either key as the user name, without a password: as other people's libraries do.",
  },
  webhook_bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_hook_live_…',
    description: 'The webhook token of the project as a bearer token.',
  },
  webhook_basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The webhook token as the password; any user name.',
  },
  webhook_header: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Webhook-Token',
    description: 'The webhook token in a header of its own.',
  },
  webhook_query: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description:
      'The webhook token in the address, for providers that can only be given one. It is not logged.',
  },
};

/** The schemes of which one has to be kept, per kind of access. */
const schemesPerAccess: Record<Route['access'], readonly string[]> = {
  publishable: ['publishable_key', 'server_key'],
  server: ['server_key'],
  webhook: ['webhook_bearer', 'webhook_basic', 'webhook_header', 'webhook_query'],
};

/** Those of an endpoint. */
export const schemesOf = (route: Route): readonly string[] => [
  ...schemesPerAccess[route.access],
  ...(route.access !== 'webhook' && route.takesWriteKey ? ['write_key'] : []),
];

const SIZES: [number, string][] = [
  [1024 * 1024, 'MiB'],
  [1024, 'KiB'],
];

/** A number with its unit, as people write it. */
export const toAmount = ({ value, unit }: Pick<Limit, 'value' | 'unit'>): string => {
  if (unit === 'items') return String(value);
  if (unit === 'milliseconds') return `${value / 1_000} seconds`;
  const [size, name] = SIZES.find(([bytes]) => unit === 'bytes' && value % bytes === 0) ?? [
    1,
    unit,
  ];
  return `${value / size} ${name}`;
};
