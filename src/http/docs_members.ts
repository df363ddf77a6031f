import type { oas31 } from 'zod-openapi';
import { codeOf } from './docs_prose.ts';
import { follow } from './openapi_read.ts';
import type { Schema } from './openapi_read.ts';

/** A line of a table: a member of a body or a parameter, or several of which the same is to be said. */
export type Member = {
  names: string[];
  type: string;
  isRequired: boolean;
  notes: string;
  /** The endpoint at which the members of its type are listed, if not here. */
  listedAt?: string;
};

/** Where the members of what is named are listed: at the first endpoint that has it, and nowhere else. */
export type Listed = Map<string, string>;

const isReference = (schema: Schema): schema is oas31.ReferenceObject =>
  typeof schema.$ref === 'string';

const FORMATS: Record<string, string> = {
  'date-time': 'timestamp',
  'idn-email': 'e-mail address',
  uuid: 'uuid',
};

/** What is named is called by its name; that of any JSON is no help. */
const nameOf = ($ref: string): string => {
  const name = $ref.split('/').at(-1) ?? '';
  return name === 'Json' ? 'any JSON' : name;
};

/** The type in a few words: `array of uuid`, `string or null`. */
export const typeOf = (schema: Schema): string => {
  if (isReference(schema)) return nameOf(schema.$ref);
  if (schema.anyOf && schema.type === undefined)
    return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = [schema.type ?? 'any'].flat();
  return types
    .map((type) => (type === 'string' && FORMATS[schema.format ?? '']) || type)
    .join(' or ');
};

const between = (least: number | undefined, most: number | undefined, unit: string): string[] => {
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (most !== undefined) return [`at most ${most}${unit}`];
  return least === undefined || least === 0 ? [] : [`at least ${least}${unit}`];
};

/** Its bounds in words. */
const boundsOf = (schema: oas31.SchemaObject): string[] => [
  ...(schema.enum
    ? [`one of ${schema.enum.map((value) => codeOf(String(value))).join(', ')}`]
    : []),
  ...between(schema.minimum, schema.maximum, ''),
  ...between(schema.minLength, schema.maxLength, ' characters'),
  ...between(schema.minItems, schema.maxItems, ' items'),
  ...between(schema.minProperties, schema.maxProperties, ' keys'),
  ...(schema.pattern === undefined ? [] : [`matches ${codeOf(schema.pattern)}`]),
  ...(schema.default === undefined ? [] : [`${JSON.stringify(schema.default)} if left out`]),
];

const sentence = (text: string): string =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** What there is to say of a value besides its type. */
export const notesOf = (schema: oas31.SchemaObject, description = schema.description): string =>
  [description ?? '', sentence(boundsOf(schema).join('; '))].filter(Boolean).join(' ');

/** Of several shapes the first, which stands for the others. */
const firstOf = (document: oas31.OpenAPIObject, given: Schema): oas31.SchemaObject => {
  const schema = follow<oas31.SchemaObject>(document, given);
  const [branch] = schema.anyOf ?? [];
  return branch && !schema.properties ? firstOf(document, branch) : schema;
};

/** What a body is as a whole. */
export const shapeOf = (document: oas31.OpenAPIObject, given: Schema): string =>
  notesOf(firstOf(document, given));

/** What a page lists members of, and the endpoint at which it does. */
export type Place = { document: oas31.OpenAPIObject; listed: Listed; endpoint: string };

const referenceIn = (schema: Schema): string | undefined =>
  isReference(schema) ? schema.$ref : schema.items && referenceIn(schema.items);

/** The endpoint at which the members of this were listed before; from now on this one, if nowhere. */
export const findListed = (
  { document, listed, endpoint }: Place,
  given: Schema,
): string | undefined => {
  const name = referenceIn(given);
  if (name === undefined || !firstOf(document, { $ref: name }).properties) return undefined;
  const before = listed.get(name);
  listed.set(name, before ?? endpoint);
  return before;
};

/** The members of a body, those of nested objects under their path: `items[].id`. */
const membersOf = (place: Place, given: Schema, prefix = ''): Member[] => {
  const { document } = place;
  const schema = firstOf(document, given);
  if (schema.items) return membersOf(place, schema.items, `${prefix}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const listedAt = findListed(place, member);
    const line = {
      names: [path],
      type: typeOf(member),
      isRequired: schema.required?.includes(name) ?? false,
      notes: notesOf(follow<oas31.SchemaObject>(document, member)),
      ...(listedAt === undefined ? {} : { listedAt }),
    };
    return [line, ...(listedAt === undefined ? membersOf(place, member, path) : [])];
  });
};

const isAlike = (a: Member, b: Member): boolean =>
  a.type === b.type && a.isRequired === b.isRequired && a.notes === b.notes;

/** The lines of a body's table: neighbours of which the same is to be said share one. */
export const linesOf = (place: Place, given: Schema): Member[] => {
  const lines: Member[] = [];
  for (const member of membersOf(place, given)) {
    const last = lines.at(-1);
    if (last && isAlike(last, member)) last.names.push(...member.names);
    else lines.push(member);
  }
  return lines;
};
