import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { refusals } from '../base/refusal.ts';
import type { RefusalName } from '../base/refusal.ts';
import type { Route } from '../base/route.ts';
import { answerHeaders, headerRef, limitHeaders, takesIdempotencyKey } from './openapi_headers.ts';

/** What may befall any request, whatever it asks for. */
const ALWAYS = [
  'invalid_request',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'unavailable',
  'database_timeout',
  'overloaded',
] as const satisfies RefusalName[];

const OF_BODY = [
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies RefusalName[];

const OF_KEY = [
  'invalid_idempotency_key',
  'idempotency_key_in_use',
  'idempotency_key_reused',
] as const satisfies RefusalName[];

/** The names an endpoint may refuse with: what its declaration implies, and its own. */
export const refusalsOf = (route: Route): RefusalName[] => {
  const names = new Set<RefusalName>([...ALWAYS, 'invalid_token', ...(route.refusals ?? [])]);
  if (route.access === 'server') names.add('wrong_key_type');
  if (route.access === 'webhook' || route.find || route.params) names.add('not_found');
  names.add('rate_limited');
  if (takesIdempotencyKey(route)) for (const name of OF_KEY) names.add(name);
  if (route.body) for (const name of OF_BODY) names.add(name);
  return inOrder(names);
};

/** In the order of their statuses; those of one status in that of the catalogue. */
export const inOrder = (names: ReadonlySet<RefusalName>): RefusalName[] =>
  (Object.keys(refusals) as RefusalName[])
    .filter((name) => names.has(name))
    .toSorted((a, b) => refusals[a].status - refusals[b].status);

const Issue = z.strictObject({
  path: z.string().meta({ description: 'Where, as a JSON Pointer into the body or the query.' }),
  message: z.string().meta({ description: 'What to do about it.' }),
});

/** The one shape of every error. */
export const ErrorBody = z
  .strictObject({
    error: z
      .enum(Object.keys(refusals) as [RefusalName, ...RefusalName[]])
      .meta({ description: 'The only member to branch on. A name never changes its meaning.' }),
    status: z.int().min(400).max(599).meta({ description: 'The HTTP status again.' }),
    detail: z.string().meta({ description: 'A sentence for people: what to do.' }),
    request_id: z.string().meta({ description: 'Quote it when you ask about this request.' }),
    issues: z.array(Issue).optional().meta({ description: 'Everything that is wrong, at once.' }),
    reason: z.string().optional().meta({ description: 'Which of several failures it is.' }),
    cause: z.string().optional().meta({ description: 'Where that usually comes from.' }),
    fix: z.string().optional().meta({ description: 'What usually helps against it.' }),
  })
  .meta({ id: 'Error', description: 'The body of every answer from 400 on.' });

const EXAMPLE_REQUEST_ID = 'req_019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';

const exampleIssues: { [Name in RefusalName]?: z.output<typeof Issue> } = {
  invalid_request: { path: '/external_id', message: 'must not be empty' },
  occurred_at_out_of_range: {
    path: '/occurred_at',
    message: "more than 24 hours ahead of the server's clock",
  },
};

const exampleOf = (name: RefusalName) => {
  const { status, detail } = refusals[name];
  const issue = exampleIssues[name];
  const issues = issue ? { issues: [issue] } : {};
  return { value: { error: name, status, detail, request_id: EXAMPLE_REQUEST_ID, ...issues } };
};

const describe = (names: readonly RefusalName[]): string =>
  names.map((name) => `\`${name}\`: ${refusals[name].detail}`).join('\n\n');

const WAITING: readonly RefusalName[] = [
  'idempotency_key_in_use',
  'rate_limited',
  'quota_exceeded',
  'unavailable',
  'database_timeout',
  'overloaded',
];

const headersOf = (status: number, names: readonly RefusalName[]) => ({
  ...answerHeaders,
  ...(status === 401 ? { 'WWW-Authenticate': headerRef('WWW-Authenticate') } : {}),
  ...(status === 429 ? limitHeaders : {}),
  ...(names.some((name) => WAITING.includes(name))
    ? { 'Retry-After': headerRef('Retry-After') }
    : {}),
});

/** An answer of one status, under the names that it may bear. */
export const toResponse = (
  status: number,
  names: readonly [RefusalName, ...RefusalName[]],
): ZodOpenApiResponseObject => ({
  description: describe(names),
  headers: headersOf(status, names),
  content: {
    'application/json': {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/Error' },
          { properties: { error: { enum: [...names] }, status: { const: status } } },
        ],
      },
      examples: Object.fromEntries(names.map((name) => [name, exampleOf(name)])),
    },
  },
});

/** One answer per status, each under the names that it may bear: endpoints that refuse alike share them. */
export const errorResponses = (
  names: readonly RefusalName[],
): { status: string; key: string; response: ZodOpenApiResponseObject }[] =>
  [...Map.groupBy(names, (name) => refusals[name].status)].map(([status, [first, ...rest]]) => {
    if (first === undefined) throw new Error(`no name for ${status}`);
    const key = [first, ...rest].join('_or_');
    return { status: String(status), key, response: toResponse(status, [first, ...rest]) };
  });
