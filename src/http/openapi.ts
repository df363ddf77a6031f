import { createDocument } from 'zod-openapi';
import type { oas31, ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { isForBrowsers } from './cors.ts';
import { exampleOf } from './openapi_examples.ts';
import { requestHeaders, responseHeaders } from './openapi_headers.ts';
import { OPEN_ABOUT, OPEN_TAG, openPaths, toPreflight } from './openapi_open.ts';
import { toOperation, toOperationId, toTemplate } from './openapi_operation.ts';
import type { SharedResponses } from './openapi_operation.ts';
import { listEndpoints } from './openapi_read.ts';
import { ErrorBody } from './openapi_refusals.ts';
import { ABOUT, securitySchemes } from './openapi_text.ts';
import { joinNulls, tidySchema } from './openapi_tidy.ts';
import { webhooks } from './openapi_webhooks.ts';
import { sections } from './routes.ts';
import type { Section } from './routes.ts';

export type OpenApiDocument = oas31.OpenAPIObject;

const pathsOf = (those: readonly Section[], shared: SharedResponses): ZodOpenApiPathsObject => {
  const paths: ZodOpenApiPathsObject = {};
  for (const { tag, routes } of those) {
    for (const route of routes) {
      const path = toTemplate(route.path);
      const method = route.method.toLowerCase();
      paths[path] = {
        ...paths[path],
        [method]: toOperation(route, tag, shared),
        ...(isForBrowsers(route) ? { options: toPreflight(route.path, tag) } : {}),
      };
    }
  }
  for (const [path, item] of Object.entries(openPaths))
    paths[path] = Object.fromEntries(
      Object.entries(item as Record<string, ZodOpenApiOperationObject>).map(
        ([method, operation]) => [
          method,
          { operationId: toOperationId(method.toUpperCase(), path), ...operation },
        ],
      ),
    );
  return paths;
};

/** Describes endpoints as one OpenAPI 3.1 document. The same endpoints give the same document. */
export const makeDocument = (those: readonly Section[] = sections): OpenApiDocument => {
  const shared: SharedResponses = new Map();
  const paths = pathsOf(those, shared);
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Trunkline',
        version: '1',
        summary: 'Lifecycle e-mail: product events in, the right mail out.',
        description: ABOUT,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'The service that this description came from.' }],
      tags: [
        ...those.map(({ tag, about }) => ({ name: tag, description: about })),
        { name: OPEN_TAG, description: OPEN_ABOUT },
      ],
      paths,
      webhooks,
      components: {
        schemas: { Error: ErrorBody },
        responses: Object.fromEntries(shared),
        headers: responseHeaders,
        parameters: Object.fromEntries(
          requestHeaders.map(({ key, parameter }) => [key, parameter]),
        ),
        securitySchemes,
      },
    },
    { override: tidySchema },
  ) as OpenApiDocument;
  return withExamples(joinNulls(document));
};

/** Gives every JSON body of a request and every successful answer an example, made of its schema's own. */
const withExamples = (document: OpenApiDocument): OpenApiDocument => {
  for (const { operation } of listEndpoints(document)) {
    const bodies = [operation.requestBody, ...Object.values(operation.responses ?? {})] as {
      content?: oas31.ContentObject;
    }[];
    for (const body of bodies) {
      const json = body?.content?.['application/json'];
      if (json?.schema && !json.examples) json.example ??= exampleOf(document, json.schema);
    }
  }
  return document;
};
