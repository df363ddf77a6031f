import type { oas31 } from 'zod-openapi';
import { codeOf, listed } from './docs_prose.ts';
import type { Schema } from './openapi_read.ts';

type Document = oas31.OpenAPIObject;

/** A part of what a type is called. What is told of elsewhere says where. */
export type Word = { text: string; at?: string };

export const isReference = (schema: Schema): schema is oas31.ReferenceObject =>
  typeof schema.$ref === 'string';

/** What an answer holds of something that is sent, too, has a name of its own; it is the same with its defaults. */
const OF_ANSWER = /Output$/;
/** Any JSON at all is nothing to be told of. */
const ANY = 'Json';

/** The name by which the page tells of a schema; null for one that it does not tell of. */
export const shownName = ({ components }: Document, name: string): string | null => {
  if (name === ANY) return null;
  const sent = name.replace(OF_ANSWER, '');
  return components?.schemas?.[sent] ? sent : name;
};

export const nameIn = ($ref: string): string => $ref.split('/').at(-1) ?? '';

const toWord = (document: Document, $ref: string): Word => {
  const name = shownName(document, nameIn($ref));
  return name === null ? { text: 'any JSON' } : { text: name, at: name };
};

const isNull = (schema: Schema): boolean => !isReference(schema) && schema.type === 'null';

/** The shapes of which a value has one, null left out. None for a value that has but one. */
export const branchesOf = (schema: Schema): Schema[] => {
  if (isReference(schema) || schema.properties) return [];
  return (schema.oneOf ?? schema.anyOf ?? [])
    .filter((branch) => !isNull(branch))
    .flatMap((branch) => {
      const within = branchesOf(branch);
      return within.length > 0 ? within : [branch];
    });
};

/** What is one thing or null, as what it is when it is not null. */
export const presentOf = (schema: oas31.SchemaObject): oas31.SchemaObject => {
  const [only, ...others] = branchesOf(schema);
  if (!only || others.length > 0 || isReference(only)) return schema;
  const { anyOf: _any, oneOf: _one, ...rest } = schema;
  return { ...only, ...rest };
};

/** The values of an object whose names are anybody's; null for other objects. */
export const valuesOf = ({
  properties,
  additionalProperties: values,
}: oas31.SchemaObject): Schema | null => {
  const isSaid = typeof values === 'object' && Object.keys(values).length > 0;
  return isSaid && !properties ? values : null;
};

const FORMATS: Record<string, string> = {
  'date-time': 'timestamp',
  'idn-email': 'e-mail address',
  uuid: 'uuid',
};

const either = (names: readonly Word[][]): Word[] => {
  const byText = new Map(names.map((words) => [words.map(({ text }) => text).join(''), words]));
  return [...byText.values()].flatMap((words, at) =>
    at === 0 ? words : [{ text: ' or ' }, ...words],
  );
};

/** The type in a few words: `array of uuid`, `string or null`. */
export const typeOf = (document: Document, schema: Schema): Word[] => {
  if (isReference(schema)) return [toWord(document, schema.$ref)];
  const branches = schema.properties ? undefined : (schema.oneOf ?? schema.anyOf);
  if (branches) return either(branches.map((branch) => typeOf(document, branch)));
  if (schema.const !== undefined) return [{ text: JSON.stringify(schema.const) }];
  const { items } = schema;
  const values = valuesOf(schema);
  return either(
    [schema.type ?? 'any'].flat().map((type) => {
      if (type === 'array' && items) return [{ text: 'array of ' }, ...typeOf(document, items)];
      if (type === 'object' && values) return [{ text: 'object of ' }, ...typeOf(document, values)];
      return [{ text: (type === 'string' && FORMATS[schema.format ?? '']) || type }];
    }),
  );
};

const between = (least: number | undefined, most: number | undefined, unit: string): string[] => {
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (most !== undefined) return [`at most ${most}${most === 1 ? unit.slice(0, -1) : unit}`];
  if (least === undefined || least === 0) return [];
  return [`at least ${least}${least === 1 ? unit.slice(0, -1) : unit}`];
};

/** What holds for each of several: their items, their names, their values. */
const each = (what: string, schema: Schema | undefined | null): string[] => {
  if (!schema || isReference(schema)) return [];
  return rulesOf(schema).map((rule) => `${what} ${rule}`);
};

/** What holds for each shape, where none of them is told of by itself. */
const ofBranches = (schema: oas31.SchemaObject): string[] =>
  branchesOf(schema).flatMap((branch) => {
    if (isReference(branch)) return [];
    return rulesOf(branch).map((rule) => `a ${[branch.type].flat()[0]} ${rule}`);
  });

/** Its bounds in words, and those of what it holds. */
const rulesOf = (given: oas31.SchemaObject): string[] => {
  const schema = presentOf(given);
  return [
    ...(schema.enum ? [`one of ${listed(schema.enum)}`] : []),
    ...between(schema.minimum, schema.maximum, ''),
    ...(schema.exclusiveMinimum === undefined ? [] : [`more than ${schema.exclusiveMinimum}`]),
    ...between(schema.minLength, schema.maxLength, ' characters'),
    ...between(schema.minItems, schema.maxItems, ' items'),
    ...between(schema.minProperties, schema.maxProperties, ' keys'),
    ...(schema.pattern === undefined ? [] : [`matches ${codeOf(schema.pattern)}`]),
    ...each('each name', schema.propertyNames),
    ...each('each', schema.items),
    ...each('each value', valuesOf(schema)),
    ...(hasShapes(schema) ? [] : ofBranches(schema)),
    ...(schema.default === undefined ? [] : [`${JSON.stringify(schema.default)} if left out`]),
  ];
};

/** Whether some of the shapes of a value have members, so that each is to be told of by itself. */
export const hasShapes = (schema: oas31.SchemaObject): boolean => {
  const branches = branchesOf(schema);
  return (
    branches.length > 1 && branches.some((branch) => !isReference(branch) && branch.properties)
  );
};

const sentence = (text: string): string =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** What there is to say of a value besides its type, where it stands. */
export const notesOf = (given: Schema, description?: string): string => {
  const schema = isReference(given) ? (given as oas31.SchemaObject) : presentOf(given);
  const rules = sentence(rulesOf(schema).join('; '));
  return [description ?? schema.description ?? '', rules].filter(Boolean).join(' ');
};
