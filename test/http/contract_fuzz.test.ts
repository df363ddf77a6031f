// Requests made from the published schemas, and from what is nearly in them.
import fc from 'fast-check';
import type { oas31 } from 'zod-openapi';
import { beforeAll, describe, expect, test } from 'vitest';
import { follow, listEndpoints } from '../../src/http/openapi_read.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { CHECKS_PER_HOUR, countCheck } from '../../src/providers/checks.ts';
import { testApi } from '../support/api.ts';
import { isStrict as takesNothingElse, validatorOf } from '../support/contract.ts';
import { testDatabase } from '../support/database.ts';
import { boundsOf, valuesOf } from '../support/from_schema.ts';
import { keepShownProvider, SHOWN_ID, shownRelay } from './as_shown.ts';
import { planShownSend } from './shown_sends.ts';
import { madeUpFor } from './made_up.ts';
import { slugFor } from './samples.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
const madeUp = madeUpFor(database, api);
const document = makeDocument();
const endpoints = listEndpoints(document).filter(({ operation }) => operation.security?.length);
const named = (those: readonly Endpoint[]) =>
  those.map((one) => [`${one.method} ${one.path}`, one] as const);

// Other values each time: a few of many runs find what many of one would.
const RUNS = 40;
/** Where most of it is refused for the same few reasons. */
const REFUSED_RUNS = 25;
/** What serialisers and parsers that recurse do not survive. */
const LEVELS = 20_000;
const HUGE_CHARS = 300_000;
const KEYS = 20_000;
/** Of an example, in a list, which no body is: with more of them each endpoint is sent megabytes. */
const COPIES = 2_000;

let linkId = '';
beforeAll(async () => {
  for (const external_id of ['ann', 'eve']) {
    const body = { event: 'user_signed_up', external_id };
    await api.call('POST', '/v1/events', { key: api.project.server_key, body });
  }
  await api.processEvents();
  const { body } = await api.call('POST', '/v1/identify/alias', {
    key: api.project.server_key,
    body: { anonymous_id: 'device', external_id: 'ann' },
  });
  linkId = body.link.id as string;
  await api.call('POST', '/v1/suppressions', {
    key: api.project.server_key,
    body: { email: 'bob@example.com' },
  });
  const { project_id } = api.project;
  await keepShownProvider(database, project_id);
  await planShownSend(database, project_id, 'unknown');
  await madeUp.keep();
  // What is made up here must not be connected to.
  for (let checks = 0; checks < CHECKS_PER_HOUR; checks += 1)
    await countCheck(database.deps, project_id).catch(() => {});
});

const bodySchemaOf = ({ operation }: Endpoint) => {
  const body = operation.requestBody as oas31.RequestBodyObject | undefined;
  return body?.content['application/json'];
};
const validate = validatorOf(document);
const schemaPathOf = ({ path, method }: Endpoint): string[] => [
  'paths',
  path,
  method.toLowerCase(),
  'requestBody',
  'content',
  'application/json',
  'schema',
];
const withBody = endpoints.filter((one) => bodySchemaOf(one) !== undefined);

const parametersOf = ({ operation }: Endpoint, place: string): oas31.ParameterObject[] =>
  (operation.parameters ?? [])
    .map((one) => follow<oas31.ParameterObject>(document, one))
    .filter((one) => one.in === place);

const keyOf = ({ operation }: Endpoint): string =>
  operation.security?.some((scheme) => 'server_key' in scheme)
    ? api.project.server_key
    : api.project.hook_token;

/** Values that nobody describes. A raw one is JSON text already, too deep or large to be made of values. */
const hostile = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 2 ** 53, -1e308, '', ' ', 'a'.repeat(5_000)),
  fc.constantFrom<unknown>('\u0000', '\ud800', 'a\u0000b', [], {}, [[]], [null], { a: { b: [] } }),
  fc.constantFrom<unknown>('__proto__', 'constructor', JSON.parse('{"__proto__":{"a":1}}')),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A place in a value: every member and item, and the value itself. */
const placesOf = (value: unknown, path: string[] = []): string[][] => [
  path,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) => placesOf(member, [...path, name]))
    : []),
];

/** The value with something else in one place. Members are defined, so that `__proto__` is but a name. */
const replaced = (value: unknown, [name, ...rest]: string[], put: unknown): unknown => {
  if (name === undefined) return put;
  // Of a list only items can be replaced, or added by a name.
  if (Array.isArray(value) && name === 'length') return value;
  const copy: object = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  const inside: unknown = Object.getOwnPropertyDescriptor(copy, name)?.value;
  Object.defineProperty(copy, name, {
    value: replaced(inside, rest, put),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return copy;
};

const mutated = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(values, fc.nat(), hostile, fc.option(fc.string(), { nil: null }))
    .map(([value, at, put, more]) => {
      const places = placesOf(value);
      const place = places[at % places.length] ?? [];
      return replaced(value, more === null ? place : [...place.slice(0, -1), more], put);
    });

const asText = (value: unknown): string => JSON.stringify(value) ?? 'null';
const deep = (value: unknown): string[] => [
  `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`,
  `${'{"properties":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`,
  asText(value).replace(/\}$/, `,"more":${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}}`),
];
const huge = (value: unknown): string[] => [
  asText({ ...(value as object), more: 'a'.repeat(HUGE_CHARS) }),
  asText(Object.fromEntries(Array.from({ length: KEYS }, (_, at) => [`key_${at}`, at]))),
  asText(Array.from({ length: COPIES }, () => value)),
];

const toText = (value: unknown): string =>
  (typeof value === 'string' ? value : asText(value)).toWellFormed();

/** A path with values in it, percent-encoded; a value that is nothing would be another path. */
const pathWith = (endpoint: Endpoint, values: Record<string, unknown>): string =>
  endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const text = toText(values[name]);
    return encodeURIComponent(/^\.{0,2}$/.test(text) ? 'x' : text);
  });
const goodPath = (endpoint: Endpoint): string =>
  madeUp
    .pathOf(endpoint)
    .replace('{slug}', slugFor(endpoint.path))
    .replace('{call}', 'track')
    .replace('{project_id}', api.project.project_id)
    .replace('/identity-links/{id}', `/identity-links/${linkId}`)
    .replace('{email}', 'bob@example.com')
    .replace('email-providers/{id}', `email-providers/${SHOWN_ID}`)
    .replace('sends/{id}', `sends/${SHOWN_ID}`)
    // Whoever is erased is shown to nobody any more.
    .replace('{id}', endpoint.path.endsWith('/erase') ? 'external_id:eve' : 'external_id:ann');

const paramsOf = (endpoint: Endpoint, place: string) =>
  fc.record(
    Object.fromEntries(
      parametersOf(endpoint, place).map(({ name, schema = {} }) => [
        name,
        fc.oneof({ weight: 3, arbitrary: valuesOf(document, schema) }, hostile),
      ]),
    ),
    { requiredKeys: place === 'path' ? parametersOf(endpoint, place).map(({ name }) => name) : [] },
  ) as fc.Arbitrary<Record<string, unknown>>;

/** Posts a body. That the answer is a documented one is checked by `api.call`. */
const post = async (endpoint: Endpoint, body: string): Promise<number> => {
  const { status, body: answer } = await api.call(endpoint.method, goodPath(endpoint), {
    key: keyOf(endpoint),
    body,
  });
  expect(status).toBeLessThan(500);
  await madeUp.clear(endpoint, answer);
  return status;
};

describe.each(named(withBody))('%s', (_name, endpoint) => {
  const { schema = {}, example } = bodySchemaOf(endpoint) ?? {};
  const values = valuesOf(document, schema);
  const isStrict = () => takesNothingElse(endpoint.operation);

  test('a body that fits the schema is answered as documented, and often taken', async () => {
    const seen: number[] = [];
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        seen.push(await post(endpoint, asText(await madeUp.name(endpoint, value))));
      }),
      { numRuns: RUNS },
    );
    const taken = seen.filter((status) => status < 300).length;
    // A webhook's body has to name an address, which no schema can say; what is proved has to work, and what is
    // said of a send stands.
    const isProved = /\/(?:email-providers|resolve|retry)/.test(endpoint.path);
    // Far fewer than are, so that chance alone never fails it.
    if (isStrict() && !isProved) expect(taken).toBeGreaterThan(RUNS / 8);
  });

  test('a body that nearly fits is answered as documented', async () => {
    await fc.assert(
      fc.asyncProperty(mutated(values), async (value) => {
        await post(endpoint, asText(value));
      }),
      { numRuns: REFUSED_RUNS },
    );
  });

  test('what is deep or huge is refused', async () => {
    for (const body of [...deep(example), ...huge(example)])
      if (isStrict()) expect([400, 413]).toContain(await post(endpoint, body));
      else await post(endpoint, body);
  });

  test('what the schema calls wrong is refused, wherever in a body it stands', async () => {
    if (!isStrict()) return;
    const isWrong = (value: unknown) => validate(schemaPathOf(endpoint), value).length > 0;
    // Closed: what is not declared is wrong.
    expect(isWrong({ ...(example as object), more: 1 })).toBe(true);
    const wrong = placesOf(example)
      .map((place) => replaced(example, place, [{ no: 'such thing' }]))
      .concat({ ...(example as object), more: 1 })
      .filter(isWrong);
    expect(wrong.length).toBeGreaterThan(1);
    for (const value of wrong) expect(await post(endpoint, asText(value)), asText(value)).toBe(400);
  });
});

/** The example that has a member: of a body of several kinds each has members of its own. */
const exampleWith = (endpoint: Endpoint, name = ''): unknown => {
  const { schema = {}, example } = bodySchemaOf(endpoint) ?? {};
  const { examples = [] } = follow<oas31.SchemaObject>(document, schema);
  return (examples as object[]).find((one) => Object.hasOwn(one, name)) ?? example;
};

const bounds = withBody
  .filter(({ operation }) => takesNothingElse(operation))
  .flatMap((endpoint) => {
    const { schema = {}, example } = bodySchemaOf(endpoint) ?? {};
    return boundsOf(document, schema, example).map((bound) => ({
      ...bound,
      endpoint,
      member: `${endpoint.method} ${endpoint.path} ${bound.path.join('/')}`,
    }));
  })
  // Of a template's source; what it makes has bounds of its own, and every_limit.test.ts tries both.
  .filter(
    ({ endpoint, path }) =>
      !endpoint.path.includes('/template') ||
      !['subject', 'preheader', 'mjml'].includes(path.at(-1) ?? ''),
  )
  // What is changed is of one kind.
  .filter(({ endpoint, path }) => endpoint.method !== 'PATCH' || path[0] === 'display_name');

describe('the bounds that the document states are the real ones', () => {
  test.each(bounds)('$member: $name', async ({ endpoint, path, at, past }) => {
    const example = exampleWith(endpoint, path[0]);
    expect(await post(endpoint, asText(replaced(example, path, past)))).toBe(400);
    expect(await post(endpoint, asText(replaced(example, path, at)))).not.toBe(400);
  });

  const limited = endpoints.flatMap((one) =>
    parametersOf(one, 'query').flatMap(({ name, schema }) => {
      const { minimum, maximum } = (schema ?? {}) as oas31.SchemaObject;
      return minimum === undefined || maximum === undefined
        ? []
        : [{ one, name, minimum, maximum }];
    }),
  );
  test.each(limited)('$one.path: $name is $minimum to $maximum', async (given) => {
    const { one, name, minimum, maximum } = given;
    const shown = parametersOf(one, 'query').flatMap(({ name: other, schema }) =>
      ((schema as oas31.SchemaObject).examples ?? []).map((value) => `&${other}=${String(value)}`),
    );
    const ask = async (value: number) => {
      const path = `${goodPath(one)}?${name}=${value}${shown.join('')}`;
      return (await api.call('GET', path, { key: keyOf(one) })).status;
    };
    expect([await ask(minimum), await ask(maximum)]).toEqual([200, 200]);
    expect([await ask(minimum - 1), await ask(maximum + 1)]).toEqual([400, 400]);
  });
});

describe.each(named(endpoints))('%s', (_name, endpoint) => {
  test('whatever stands in its path and query is answered as documented', async () => {
    const query = paramsOf(endpoint, 'query');
    await fc.assert(
      fc.asyncProperty(
        paramsOf(endpoint, 'path'),
        query,
        fc.boolean(),
        async (params, asked, isThere) => {
          const path = isThere ? goodPath(endpoint) : pathWith(endpoint, params);
          const search = new URLSearchParams(
            Object.entries(asked).map(([name, value]): [string, string] => [name, toText(value)]),
          );
          const { status } = await api.call(endpoint.method, `${path}?${search.toString()}`, {
            key: keyOf(endpoint),
            ...(endpoint.operation.requestBody ? { body: '{}' } : {}),
          });
          expect(status).toBeLessThan(500);
        },
      ),
      { numRuns: REFUSED_RUNS },
    );
  });
});
