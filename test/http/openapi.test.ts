import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import type Router from '@koa/router';
import type { oas31 } from 'zod-openapi';
import { describe, expect, test } from 'vitest';
import { refusals } from '../../src/base/refusal.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import type { Route } from '../../src/base/route.ts';
import { makeApp, openApi } from '../../src/http/api.ts';
import * as doors from '../../src/http/doors.ts';
import { errorsOf, follow, listEndpoints } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import type { OpenApiDocument } from '../../src/http/openapi.ts';
import { openPaths } from '../../src/http/openapi_open.ts';
import { toOperationId, toTemplate } from '../../src/http/openapi_operation.ts';
import { refusalsOf } from '../../src/http/openapi_refusals.ts';
import { schemesOf } from '../../src/http/openapi_text.ts';
import { routes, sections } from '../../src/http/routes.ts';
import { testApi } from '../support/api.ts';
import { isEmail, validatorOf } from '../support/contract.ts';
import { testDatabase } from '../support/database.ts';
import { ask, toWire } from './raw_http.ts';
import { nameOf } from './samples.ts';

const database = testDatabase();
const api = testApi(database);
const document = makeDocument();
const endpoints = listEndpoints(document);
const PATH = '/v1/openapi.json';

const operationOf = ({ paths = {} }: OpenApiDocument, { path, method }: Route) => {
  const item = paths[toTemplate(path)] as Record<string, oas31.OperationObject> | undefined;
  return item?.[method.toLowerCase()];
};

/** The names of a zod object's members. */
const membersOf = (schema: unknown): string[] =>
  Object.keys((schema as { shape?: object } | undefined)?.shape ?? {});

const parametersOf = (operation: oas31.OperationObject, place: string): string[] =>
  (operation.parameters ?? []).flatMap((one) =>
    'name' in one && one.in === place ? [one.name] : [],
  );

const firstPart = (text: string): string => text.split('/')[0] ?? '';

const statusesOf = (route: Route): string[] =>
  [...new Set([route.status, ...refusalsOf(route).map((name) => refusals[name].status)])]
    .map(String)
    .toSorted();

/** What a document lacks of an endpoint, or says of it that is not so. */
const judge = (described: OpenApiDocument, route: Route): string[] => {
  const operation = operationOf(described, route);
  if (operation === undefined) return [`${nameOf(route)}: not described`];
  const responses = operation.responses as Record<string, oas31.ResponseObject>;
  const query = route.access === 'webhook' ? undefined : route.query;
  const content = (operation.requestBody as oas31.RequestBodyObject | undefined)?.content;
  const facts: [what: string, described: unknown, declared: unknown][] = [
    ['statuses', Object.keys(responses).toSorted(), statusesOf(route)],
    ['refusals', errorsOf(described, operation).flatMap(({ names }) => names), refusalsOf(route)],
    ['path', parametersOf(operation, 'path').toSorted(), membersOf(route.params).toSorted()],
    [
      'names in the path',
      route.path.split('/:').slice(1).map(firstPart).toSorted(),
      membersOf(route.params).toSorted(),
    ],
    ['query', parametersOf(operation, 'query').toSorted(), membersOf(query).toSorted()],
    ['body', content?.['application/json']?.schema !== undefined, route.body !== undefined],
    ['answer', responses[route.status]?.content?.['application/json']?.schema !== undefined, true],
    ['security', operation.security, schemesOf(route).map((scheme) => ({ [scheme]: [] }))],
    ['operationId', operation.operationId, toOperationId(route.method, route.path)],
  ];
  return facts
    .filter(([, is, ought]) => JSON.stringify(is) !== JSON.stringify(ought))
    .map(
      ([what, is, ought]) =>
        `${nameOf(route)}: ${what}: ${JSON.stringify(is)}, not ${JSON.stringify(ought)}`,
    );
};

const judgeAll = (described: OpenApiDocument): string[] =>
  routes.flatMap((route) => judge(described, route));

/** Everything that the router serves. */
const listServed = (): string[] => {
  const app = makeApp(database.deps, { isDraining: false }, doors);
  const [router] = app.middleware.flatMap((one) => {
    const { router: found } = one as unknown as { router?: Router };
    return found ? [found] : [];
  });
  return (router?.stack ?? []).flatMap(({ path, methods }) =>
    methods
      .filter((method) => method !== 'HEAD')
      .map((method) => `${method} ${toTemplate(String(path))}`),
  );
};

describe('the document says what the routes declare', () => {
  test('no route, status, parameter, schema or scheme is missing, and none is too many', () => {
    expect(judgeAll(document)).toEqual([]);
  });

  test('it describes what the router serves, and nothing else', () => {
    const described = endpoints.map(({ method, path }) => `${method} ${path}`);
    expect(described.toSorted()).toEqual(listServed().toSorted());
    const declared = [...routes.map(({ path }) => toTemplate(path)), ...Object.keys(openPaths)];
    expect(new Set(endpoints.map(({ path }) => path))).toEqual(new Set(declared));
  });

  test.each<[string, (broken: OpenApiDocument) => void]>([
    ['a route', ({ paths = {} }) => delete paths['/v1/sends/{id}']],
    ['a status', ({ paths = {} }) => delete paths['/v1/sends/{id}']?.get?.responses?.['404']],
    [
      'a status too many',
      ({ paths = {} }) =>
        Object.assign(paths['/v1/sends']?.get?.responses ?? {}, { 418: { description: 'no' } }),
    ],
    ['the schema of a body', ({ paths = {} }) => delete paths['/v1/events']?.post?.requestBody],
    [
      'the schema of an answer',
      ({ paths = {} }) => delete paths['/v1/sends']?.get?.responses?.['200'].content,
    ],
    ['a parameter', ({ paths = {} }) => paths['/v1/sends']?.get?.parameters?.shift()],
    [
      'a name of an error',
      ({ components = {} }) => {
        const response = components.responses?.['not_found'] as oas31.ResponseObject;
        delete response.content?.['application/json']?.examples?.['not_found'];
      },
    ],
    ['the security of an endpoint', ({ paths = {} }) => delete paths['/v1/sends']?.get?.security],
  ])('it is noticed when it lacks %s', (_what, breakIt) => {
    const broken = structuredClone(document);
    breakIt(broken);
    expect(judgeAll(broken)).not.toEqual([]);
  });
});

describe('the document', () => {
  test('is OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...structuredClone(document) })).toMatchObject({
      valid: true,
    });
    expect(validator.version).toBe('3.1');
  });

  test('holds schemas of JSON Schema 2020-12, spelt right', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });
    addFormats.default(ajv);
    ajv.addFormat('idn-email', isEmail);
    // OpenAPI's own, and what only this test gives a meaning.
    ajv.addKeyword('example');
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {}))
      ajv.addSchema(schema, `#/components/schemas/${name}`);
    for (const name of Object.keys(document.components?.schemas ?? {}))
      expect(() => ajv.compile({ $ref: `#/components/schemas/${name}` }), name).not.toThrow();
  });

  test('is the same every time it is made', () => {
    expect(JSON.stringify(makeDocument())).toBe(JSON.stringify(document));
  });

  test('refers to nothing that is not there, and holds nothing that nobody refers to', () => {
    const text = JSON.stringify(document);
    const used = new Set(
      [...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, at]) => at),
    );
    const { securitySchemes: _, ...components } = document.components ?? {};
    const there = Object.entries(components).flatMap(([kind, all]) =>
      Object.keys(all as object).map((name) => `${kind}/${name}`),
    );
    expect(used).toEqual(new Set(there));
  });

  test('names every operation once', () => {
    const ids = endpoints.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('says something of every endpoint, parameter and tag', () => {
    const tags = (document.tags ?? []).map(({ name }) => name);
    for (const { operation } of endpoints) {
      expect(operation.summary).toMatch(/^[A-Z].+\.$/);
      expect(tags).toEqual(expect.arrayContaining(operation.tags ?? ['none']));
      for (const one of operation.parameters ?? []) {
        const parameter = follow<oas31.ParameterObject>(document, one);
        if (parameter.name !== 'anonymous_id') expect(parameter.description).toMatch(/\.$/);
      }
    }
    expect(tags).toEqual([...sections.map(({ tag }) => tag), 'Service']);
  });

  test('whatever it says is a sentence', () => {
    const said: string[] = [];
    JSON.stringify(document, (key, value: unknown) => {
      if (key === 'description' && typeof value === 'string') said.push(value);
      return value;
    });
    expect(said.length).toBeGreaterThan(100);
    expect(said.filter((text) => !/^\S.*\s.*[.:|]$/s.test(text))).toEqual([]);
  });

  test('its examples fit its schemas', () => {
    const validate = validatorOf(document);
    const wrong: string[] = [];
    const look = (value: unknown, at: string[]): void => {
      if (typeof value !== 'object' || value === null) return;
      const { schema, example, examples } = value as oas31.MediaTypeObject;
      if (schema !== undefined && typeof schema === 'object') {
        const given = [
          example,
          ...Object.values(examples ?? {}).map((one) => (one as oas31.ExampleObject).value),
        ];
        for (const one of given.filter((some) => some !== undefined))
          wrong.push(...validate([...at, 'schema'], one).map((said) => `${at.join('/')}: ${said}`));
      }
      if (Array.isArray(examples)) for (const one of examples) wrong.push(...validate(at, one));
      for (const [name, member] of Object.entries(value))
        if (!['example', 'examples'].includes(name)) look(member, [...at, name]);
    };
    look(document, []);
    expect(wrong).toEqual([]);
  });

  test('every JSON body that is sent or answered has an example', () => {
    for (const { operation, path } of endpoints.filter((one) => one.operation.security?.length)) {
      const [success] = Object.values(operation.responses ?? {}) as oas31.ResponseObject[];
      const bodies = [operation.requestBody as oas31.RequestBodyObject | undefined, success];
      for (const body of bodies.filter((one) => one !== undefined))
        expect(body.content?.['application/json']?.example, path).toBeDefined();
    }
  });

  test('errors have the names of the catalogue, each under its own status', () => {
    const shape = document.components?.schemas?.['Error'] as oas31.SchemaObject;
    const name = shape.properties?.['error'] as oas31.SchemaObject;
    expect(name.enum).toEqual(Object.keys(refusals));
    for (const { operation } of endpoints)
      for (const { status, names } of errorsOf(document, operation))
        for (const one of names) expect(String(refusals[one as RefusalName].status)).toBe(status);
  });

  test('answers are open to members that are still to come, requests are not', () => {
    const { Accepted, Event } = (document.components ?? {}).schemas as Record<
      string,
      oas31.SchemaObject
    >;
    expect(Accepted?.additionalProperties).toBeUndefined();
    expect(Event?.additionalProperties).toBe(false);
  });

  test('says how an endpoint goes, and that nothing else does', () => {
    for (const word of ['Deprecation', 'RFC 9745', 'Sunset', 'RFC 8594', 'twelve months', '`/v2`'])
      expect(document.info.description).toContain(word);
  });
});

describe(`GET ${PATH}`, () => {
  test('200: the document, to everybody', async () => {
    const { status, headers, body } = await api.call('GET', PATH);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toEqual(document);
  });

  test('200: compressed for who takes it so, and plain for who does not', async () => {
    const load = (encoding: string) =>
      fetch(api.url + PATH, { headers: { 'accept-encoding': encoding } });
    const [zipped, plain] = [await load('gzip'), await load('identity')];
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await zipped.text()).toBe(await plain.text());
    expect(zipped.headers.get('vary')).toBe('Accept-Encoding');
  });

  test('304: who has it is not sent it again', async () => {
    const etag = (await api.call('GET', PATH)).headers.get('etag') ?? '';
    // Not with fetch: it asks for a fresh one whenever it is given a tag.
    const askWith = async (tag: string) => {
      const headers = { 'If-None-Match': tag, Connection: 'close' };
      const [answer] = await ask(api.url, toWire({ path: PATH, headers }));
      return [answer?.status, answer?.body];
    };
    expect(await askWith(etag)).toEqual([304, null]);
    expect(await askWith('"other"')).toEqual([200, document]);
  });

  test('200: HEAD says what GET says', async () => {
    const [got, asked] = [await api.call('GET', PATH), await api.call('HEAD', PATH)];
    expect([asked.status, asked.headers.get('etag')]).toEqual([200, got.headers.get('etag')]);
  });

  test('405 method_not_allowed: it is read', async () => {
    for (const path of [PATH, '/docs']) {
      const { status, headers } = await api.call('POST', path, { body: {} });
      expect([status, headers.get('allow')]).toEqual([405, 'HEAD, GET']);
    }
  });

  test('404 not_found: a worker describes nothing', async () => {
    const worker = await openApi(database.deps, { isDraining: false }, false);
    for (const path of [PATH, '/docs'])
      expect((await fetch(`http://127.0.0.1:${worker.port}${path}`)).status).toBe(404);
    await worker.close();
  });
});
