import { z } from 'zod';
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import { SDK_SCRIPT } from '../base/sdk_folder.ts';
import { answerHeaders, headerRef, headersRead } from './openapi_headers.ts';
import { toOperationId } from './openapi_operation.ts';
import { toResponse } from './openapi_refusals.ts';

/** Endpoints that ask for no key, which the door answers itself. */
export const OPEN_TAG = 'Service';
export const OPEN_ABOUT =
  'Health, this description, and the script for pages. No key is asked for.';

const cached = { ...answerHeaders, ETag: headerRef('ETag') };

const ok = (
  mediaType: string,
  schema: z.ZodType,
  headers: ZodOpenApiResponseObject['headers'] = answerHeaders,
): ZodOpenApiResponseObject => ({
  description: 'As asked.',
  headers,
  content: { [mediaType]: { schema } },
});

const unchanged = { description: 'Nothing has changed.', headers: cached };
const notReady: ZodOpenApiResponseObject = {
  ...toResponse(503, ['unavailable']),
  description: '`unavailable`: `reason` says why.',
};

const read = (summary: string, responses: Record<string, ZodOpenApiResponseObject>) => ({
  get: {
    tags: [OPEN_TAG],
    summary,
    security: [],
    parameters: headersRead({ method: 'GET', access: 'none' }),
    responses,
  },
});

const state = (word: string) => z.strictObject({ status: z.literal(word) });
const Document = z
  .looseObject({ openapi: z.string(), paths: z.looseObject({}) })
  .meta({ examples: [{ openapi: '3.1.1', paths: {} }] });

/** What a browser asks before a page of another origin may send (Fetch, CORS preflight). */
export const toPreflight = (path: string, tag: string): ZodOpenApiOperationObject => ({
  tags: [tag],
  operationId: toOperationId('OPTIONS', path),
  summary: 'Whether a page of another origin may send this: it may.',
  security: [],
  parameters: headersRead({ method: 'OPTIONS', access: 'none' }),
  responses: { '204': { description: 'It may.', headers: answerHeaders } },
});

const token = {
  name: 'token',
  in: 'path',
  required: true,
  description: 'What the link in a mail ends with.',
  schema: { type: 'string' },
} as const;

const guide = {
  name: 'guide',
  in: 'path',
  required: true,
  description: 'The name of the guide.',
  schema: { type: 'string' },
} as const;

const ofUnsubscribe = (
  method: 'GET' | 'POST',
  given: Pick<ZodOpenApiOperationObject, 'summary' | 'description' | 'requestBody'>,
  refused: ZodOpenApiOperationObject['responses'],
): ZodOpenApiOperationObject => ({
  tags: [OPEN_TAG],
  security: [],
  parameters: [token, ...headersRead({ method, access: 'none' })],
  ...given,
  responses: {
    '200': ok('text/html', z.string()),
    ...refused,
    '500': toResponse(500, ['internal_error']),
    '503': toResponse(503, ['unavailable']),
  },
});

const Unsubscribe = z
  .looseObject({ 'List-Unsubscribe': z.string().optional() })
  .meta({ examples: [{ 'List-Unsubscribe': 'One-Click' }] });

const INCOMPLETE =
  'A link that is cut or made up is answered 200 as well, with a page that says so and what to do: nothing changes.';

const unsubscribe = {
  get: ofUnsubscribe(
    'GET',
    {
      summary: 'The page behind a mail’s unsubscribe link. Shows it, and changes nothing.',
      description: INCOMPLETE,
    },
    {},
  ),
  post: ofUnsubscribe(
    'POST',
    {
      summary: 'Unsubscribe with one click (RFC 8058): no cookies, no log-in, no redirect.',
      description: `With \`action=resubscribe\` it takes that back, and no suppression. ${INCOMPLETE}`,
      requestBody: { content: { 'application/x-www-form-urlencoded': { schema: Unsubscribe } } },
    },
    {
      '408': toResponse(408, ['request_timeout']),
      '413': toResponse(413, ['body_too_large']),
    },
  ),
};

export const openPaths: ZodOpenApiPathsObject = {
  '/u/{token}': unsubscribe,
  '/healthz': read('Whether the process lives.', {
    '200': ok('application/json', state('alive')),
  }),
  '/readyz': read('Whether the process can work.', {
    '200': ok('application/json', state('ready')),
    '503': notReady,
  }),
  '/metrics': read('What the process measures of itself, for Prometheus.', {
    '200': ok('text/plain', z.string()),
    '401': {
      ...toResponse(401, ['invalid_token']),
      description:
        'With METRICS_TOKEN it is to be sent as bearer token; without one this machine alone may ask.',
    },
  }),
  '/v1/openapi.json': read('This description, as OpenAPI 3.1.', {
    '200': ok('application/json', Document, cached),
    '304': unchanged,
  }),
  '/docs': read('This description, as a page.', {
    '200': ok('text/html', z.string(), cached),
    '304': unchanged,
  }),
  '/docs/{guide}': {
    get: {
      ...read('Read a guide, as a page.', {
        '200': ok('text/html', z.string(), cached),
        '304': unchanged,
        '404': {
          ...toResponse(404, ['not_found']),
          description:
            'There is no such page. The answer names the guides; a browser receives it as a page.',
        },
      }).get,
      parameters: [guide, ...headersRead({ method: 'GET', access: 'none' })],
    },
  },
  [`/sdk/${SDK_SCRIPT}`]: read('The browser SDK as one script, for pages of any origin.', {
    '200': ok('text/javascript', z.string(), cached),
    '304': unchanged,
    '404': { ...toResponse(404, ['not_found']), description: 'The SDK was not built.' },
  }),
};
