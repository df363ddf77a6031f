import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { BODY_BYTES_DEFAULT } from '../base/route.ts';
import type { Route } from '../base/route.ts';
import { headersRead, successHeaders } from './openapi_headers.ts';
import { errorResponses, refusalsOf } from './openapi_refusals.ts';
import { schemesOf, toAmount } from './openapi_text.ts';

/** The path as OpenAPI writes it: `{id}`. */
export const toTemplate = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

/** A name for tools: `GET /v1/profiles/{id}/events` is `get_profiles_by_id_events`. */
export const toOperationId = (method: string, path: string): string =>
  [
    method.toLowerCase(),
    ...path
      .replace(/^\/v1/, '')
      .split('/')
      .filter(Boolean)
      .map((part) => part.replace(/^[:{](\w+)}?$/, 'by_$1').replaceAll(/\W/g, '_')),
  ].join('_');

const isRequired = (route: Route): boolean => route.access === 'webhook' || !route.isBodyOptional;

const bodyOf = (route: Route) =>
  route.body === undefined
    ? {}
    : {
        requestBody: {
          required: isRequired(route),
          description: `At most ${toAmount({ value: route.bodyBytesMax ?? BODY_BYTES_DEFAULT, unit: 'bytes' })}.`,
          content: { 'application/json': { schema: route.body } },
        },
      };

/** Answers with errors stand in the components, so that endpoints share them. */
export type SharedResponses = Map<string, ZodOpenApiResponseObject>;

const responsesOf = (route: Route, shared: SharedResponses) => {
  const success: ZodOpenApiResponseObject = {
    description: route.summary,
    headers: successHeaders(route),
    content: {
      'application/json': {
        schema: route.answer,
        ...(route.example === undefined ? {} : { example: route.example }),
      },
    },
  };
  const errors = errorResponses(refusalsOf(route)).map(({ status, key, response }) => {
    shared.set(key, response);
    return [status, { $ref: `#/components/responses/${key}` }] as const;
  });
  return { [String(route.status)]: success, ...Object.fromEntries(errors) };
};

/** One endpoint in the words of OpenAPI. */
export const toOperation = (
  route: Route,
  tag: string,
  shared: SharedResponses,
): ZodOpenApiOperationObject => {
  const query = route.access === 'webhook' ? undefined : route.query;
  return {
    operationId: toOperationId(route.method, route.path),
    tags: [tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: schemesOf(route).map((scheme) => ({ [scheme]: [] })),
    parameters: headersRead(route),
    requestParams: {
      ...(route.params ? { path: route.params } : {}),
      ...(query ? { query: query as never } : {}),
    },
    ...bodyOf(route),
    responses: responsesOf(route, shared),
  };
};
