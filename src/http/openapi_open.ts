import { z } from 'zod';
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import { answerHeaders, headerRef, headersRead } from './openapi_headers.ts';
import { toOperationId } from './openapi_operation.ts';
import { toResponse } from './openapi_refusals.ts';

/** Endpoints that ask for no key, which the door answers itself. */
export const OPEN_TAG = 'Service';
export const OPEN_ABOUT = 'Health, and this description. No key is asked for.';

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

export const openPaths: ZodOpenApiPathsObject = {
  '/healthz': read('Whether the process lives.', {
    '200': ok('application/json', state('alive')),
  }),
  '/readyz': read('Whether the process can work.', {
    '200': ok('application/json', state('ready')),
    '503': notReady,
  }),
  '/v1/openapi.json': read('This description, as OpenAPI 3.1.', {
    '200': ok('application/json', Document, cached),
    '304': unchanged,
  }),
  '/docs': read('This description, as a page.', {
    '200': ok('text/html', z.string(), cached),
    '304': unchanged,
  }),
};
