import fc from 'fast-check';
import type { oas31 } from 'zod-openapi';
import { readEmail } from '../../src/base/email_address.ts';
import { follow } from '../../src/http/openapi_read.ts';
import type { Schema } from '../../src/http/openapi_read.ts';

type Document = oas31.OpenAPIObject;
type SchemaObject = oas31.SchemaObject;

const DEPTH_MAX = 12;
/** Deeper than this nothing is made that may hold more of its own kind. */
const OWN_KIND_DEPTH_MAX = 4;
const ITEMS_MAX = 4;
const CHARS_MAX = 40;
const HOUR_MS = 3_600_000;

/** Moments that lie where events are accepted, also when one of them says that the clock was wrong. */
const moment = fc
  .integer({ min: -20 * HOUR_MS, max: 0 })
  .map((offset) => new Date(Date.now() + offset).toISOString());

/** Also as people write them. */
const address = fc
  .oneof(fc.emailAddress(), fc.constantFrom('Ann@Bücher.example', ' ann@пример.рф '))
  .filter((text) => readEmail(text) !== null);

const textOf = (schema: SchemaObject) => {
  const { format, pattern, minLength = 0, maxLength = CHARS_MAX } = schema;
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time') return moment;
  if (format === 'idn-email') return address;
  // Of what no schema can say, such as time zones, it gives examples.
  if (pattern === undefined && schema.maxLength === undefined && schema.examples)
    return fc.constantFrom(...(schema.examples as string[]));
  const lengths = { minLength, maxLength: Math.min(maxLength, minLength + CHARS_MAX) };
  if (pattern === undefined) return fc.string(lengths);
  return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length <= maxLength);
};

const numberOf = ({ type, minimum = -1_000, maximum = 1_000 }: SchemaObject, wanted: string) =>
  wanted === 'integer' || type === 'integer'
    ? fc.integer({ min: minimum, max: maximum })
    : fc.double({ min: minimum, max: maximum, noNaN: true });

/** What must be there: of alternatives, such as "this or that member", each in turn. */
const requirementsOf = ({ required = [], anyOf = [] }: SchemaObject): string[][] => {
  const alternatives = anyOf.map((branch) => [
    ...required,
    ...((branch as SchemaObject).required ?? []),
  ]);
  return alternatives.length > 0 ? alternatives : [required];
};

const objectOf = (document: Document, schema: SchemaObject, depth: number) => {
  const members = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, member]) => [
      name,
      valuesOf(document, member, depth + 1),
    ]),
  );
  const described = fc.oneof(
    ...requirementsOf(schema).map((required) => fc.record(members, { requiredKeys: required })),
  );
  const { additionalProperties: more } = schema;
  if (schema.properties !== undefined || typeof more !== 'object') return described;
  const key = textOf({ minLength: 1, ...(schema.propertyNames as SchemaObject | undefined) });
  const maxKeys = Math.min(schema.maxProperties ?? ITEMS_MAX, ITEMS_MAX);
  return fc.dictionary(key, valuesOf(document, more, depth + 1), { maxKeys });
};

const ofType = (document: Document, schema: SchemaObject, type: string, depth: number) => {
  switch (type) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema, type);
    case 'boolean':
      return fc.boolean();
    case 'array': {
      const { items = {}, minItems = 0, maxItems = ITEMS_MAX } = schema;
      const maxLength = Math.min(maxItems, minItems + ITEMS_MAX);
      return fc.array(valuesOf(document, items, depth + 1), { minLength: minItems, maxLength });
    }
    case 'object':
      return objectOf(document, schema, depth);
    default:
      return fc.constant(null);
  }
};

/** The shapes that a value may have; of those that hold more of its kind, none where it is deep enough. */
const shapesOf = ({ $ref }: Schema, { anyOf, oneOf }: SchemaObject, depth: number): Schema[] => {
  const shapes = (oneOf ?? anyOf ?? []) as Schema[];
  if (depth <= OWN_KIND_DEPTH_MAX || typeof $ref !== 'string') return shapes;
  return shapes.filter((shape) => !JSON.stringify(shape).includes(`"${$ref}"`));
};

/** Values that fit a schema of the document. */
export const valuesOf = (document: Document, given: Schema, depth = 0): fc.Arbitrary<unknown> => {
  const schema = follow<SchemaObject>(document, given);
  if (depth > DEPTH_MAX) return fc.constant(null);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...(schema.enum as unknown[]));
  if (schema.oneOf || (schema.anyOf && schema.type === undefined))
    return fc.oneof(
      ...shapesOf(given, schema, depth).map((branch) => valuesOf(document, branch, depth)),
    );
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
  return fc.oneof(...types.map((type) => ofType(document, schema, type, depth)));
};

/** A value at a bound of a schema and the next one past it. */
export type Bound = { path: string[]; name: string; at: unknown; past: unknown };

const boundsHere = (schema: SchemaObject): Omit<Bound, 'path'>[] => {
  const text = (length: number) => 'a'.repeat(length);
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`key_${at}`, at]));
  const { minLength, maxLength, minimum, maximum, maxProperties, propertyNames } = schema;
  const keyChars = (propertyNames as SchemaObject | undefined)?.maxLength;
  const bound = <T>(
    limit: number | undefined,
    step: 1 | -1,
    name: string,
    make: (n: number) => T,
  ) =>
    limit === undefined || (step < 0 && limit === 0)
      ? []
      : [{ name: `${name} ${limit}`, at: make(limit), past: make(limit + step) }];
  return [
    ...bound(maxLength, 1, 'maxLength', text),
    ...bound(minLength, -1, 'minLength', text),
    ...bound(maximum, 1, 'maximum', Number),
    ...bound(minimum, -1, 'minimum', Number),
    ...bound(maxProperties, 1, 'maxProperties', keys),
    ...bound(keyChars, 1, 'propertyNames.maxLength', (length) => ({ [text(length)]: 1 })),
  ];
};

/** Every bound that a schema states for the members of an object, and how many items a list may hold. */
export const boundsOf = (document: Document, given: Schema, example: unknown): Bound[] => {
  const schema = follow<SchemaObject>(document, given);
  return Object.entries(schema.properties ?? {}).flatMap(([name, declared]) => {
    const member = follow<SchemaObject>(document, declared);
    const here = boundsHere(member).map((bound) => ({ ...bound, path: [name] }));
    if (!member.items) return here;
    const [item] = ((example as Record<string, unknown[]> | undefined)?.[name] ?? []) as unknown[];
    const list = (count: number) => Array.from({ length: count }, () => item);
    const { minItems = 0, maxItems } = member;
    return [
      ...here,
      ...(maxItems === undefined
        ? []
        : [
            {
              path: [name],
              name: `maxItems ${maxItems}`,
              at: list(maxItems),
              past: list(maxItems + 1),
            },
          ]),
      // A list that may be empty has no bound there.
      ...(minItems > 0
        ? [
            {
              path: [name],
              name: `minItems ${minItems}`,
              at: list(minItems),
              past: list(minItems - 1),
            },
          ]
        : []),
    ];
  });
};
