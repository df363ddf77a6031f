// Whatever the description says of bodies and answers is on the page: the test reads it from the description.
import { readFileSync } from 'node:fs';
import type { oas31 } from 'zod-openapi';
import { expect, test } from 'vitest';
import { nameIn, shownName } from '../../src/http/docs_words.ts';
import { renderPage } from '../../src/http/docs_page.ts';
import { listEndpoints } from '../../src/http/openapi_read.ts';
import type { Schema } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';

const document = makeDocument();
const style = readFileSync(new URL('../../src/http/docs.css', import.meta.url), 'utf8');
const page = await renderPage(document, [], style);
const schemas = document.components?.schemas ?? {};
/** What the page calls what is named; null stands for any JSON. */
const shown = Object.keys(schemas).map((name) => [name, shownName(document, name)] as const);

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&#34;': '"',
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
};
const plain = (html: string): string =>
  html.replaceAll(/<[^>]*>/g, '').replaceAll(/&#?\w+;/g, (entity) => ENTITIES[entity] ?? entity);

/** From where an id is to the end of its article, without the examples. */
const partOf = (id: string): string => {
  const start = page.indexOf(` id="${id}"`);
  if (start < 0) throw new Error(`nothing is called ${id}`);
  const part = page.slice(start, page.indexOf('</article>', start));
  return part.replaceAll(/<pre.*?<\/pre>/gs, '');
};

/** What stands as code in a part, and as a type. */
const saidIn = (part: string) => ({
  codes: new Set([...part.matchAll(/<code>(.*?)<\/code>/gs)].map(([, code = '']) => plain(code))),
  types: [...part.matchAll(/<span class="type">(.*?)<\/span>/gs)].map(([, type = '']) =>
    plain(type),
  ),
});

type Found = { members: Set<string>; values: Set<unknown> };
const isReference = (schema: Schema): schema is oas31.ReferenceObject => '$ref' in schema;

/** Every member and every value of a closed list in a schema, what has a name of its own left out. */
const collect = (
  schema: Schema,
  found: Found = { members: new Set(), values: new Set() },
): Found => {
  if (isReference(schema)) return found;
  const { properties = {}, items, additionalProperties, propertyNames, anyOf, oneOf } = schema;
  for (const value of schema.enum ?? []) found.values.add(value);
  if (schema.const !== undefined) found.values.add(schema.const);
  for (const name of Object.keys(properties)) found.members.add(name);
  const others = [items, additionalProperties, propertyNames].filter(
    (one): one is Schema => typeof one === 'object',
  );
  for (const one of [...Object.values(properties), ...others, ...(anyOf ?? []), ...(oneOf ?? [])])
    collect(one, found);
  return found;
};

/** What a part of the page does not say of a schema. */
const findUnsaid = (schema: Schema, part: string): unknown[] => {
  const { members, values } = collect(schema);
  const { codes, types } = saidIn(part);
  const names = new Set([...codes].map((code) => code.split('.').at(-1)));
  const isSaid = (value: unknown) =>
    codes.has(String(value)) || types.some((type) => type.includes(JSON.stringify(value)));
  return [
    ...[...members].filter((name) => !names.has(name)),
    ...[...values].filter((value) => !isSaid(value)),
  ];
};

test('there are names, members and values to hold the page to', () => {
  expect(shown.length).toBeGreaterThan(50);
  const { members, values } = collect(schemas['AutomationStep'] ?? {});
  expect([...members]).toEqual(expect.arrayContaining(['kind', 'on_failure', 'until']));
  expect([...values]).toEqual(expect.arrayContaining(['delay_until', 'webhook', 'monday']));
});

test.each(shown.filter(([name, as]) => name === as).map(([name]) => name))(
  '%s is told of once, with its members and values',
  (name) => {
    expect(page.split(` id="${name}"`)).toHaveLength(2);
    expect(findUnsaid(schemas[name] ?? {}, partOf(name))).toEqual([]);
  },
);

test.each(shown.filter(([name, as]) => as !== null && name !== as))(
  '%s of an answer is what is sent as %s',
  (name, as) => {
    expect(collect(schemas[name] ?? {})).toEqual(collect(schemas[as ?? ''] ?? {}));
  },
);

test('what has no name is told of at its endpoint', () => {
  for (const { method, operation } of listEndpoints(document)) {
    if (method === 'OPTIONS') continue;
    const [success] = Object.values(operation.responses ?? {}) as oas31.ResponseObject[];
    const body = operation.requestBody as oas31.RequestBodyObject | undefined;
    const contents = [body?.content, success?.content].map((one) => one?.['application/json']);
    const id = operation.operationId ?? '';
    for (const content of contents)
      expect([id, findUnsaid(content?.schema ?? {}, partOf(id))]).toEqual([id, []]);
  }
});

test('the values that a parameter may have are listed', () => {
  for (const { method, operation } of listEndpoints(document)) {
    if (method === 'OPTIONS') continue;
    const parameters = (operation.parameters ?? []).filter((one) => 'name' in one);
    const id = operation.operationId ?? '';
    for (const { schema } of parameters)
      expect([id, findUnsaid(schema ?? {}, partOf(id))]).toEqual([id, []]);
  }
});

test('a name that stands as a type is a link to where it is told of', () => {
  const names = new Set(Object.keys(schemas));
  const types = [...page.matchAll(/<span class="type">(.*?)<\/span>/gs)].map(
    ([, type = '']) => type,
  );
  const links = types.flatMap((type) => [...type.matchAll(/<a href="#(\w+)">(\w+)<\/a>/g)]);
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(([, id, name]) => id !== name)).toEqual([]);
  const unlinked = types.flatMap((type) => plain(type.replaceAll(/<a .*?<\/a>/g, '')).split(/\W+/));
  expect(unlinked.filter((word) => names.has(word))).toEqual([]);
});

test('wherever the description names something, so does the page', () => {
  const referenced = new Set(
    [...JSON.stringify(document).matchAll(/"\$ref":"(#\/components\/schemas\/\w+)"/g)].map(
      ([, ref = '']) => shownName(document, nameIn(ref)),
    ),
  );
  const told = [...referenced].filter((name) => name !== null);
  expect(told.filter((name) => !page.includes(` id="${name}"`))).toEqual([]);
});
