import type { oas31 } from 'zod-openapi';
import { listed } from './docs_prose.ts';
import {
  branchesOf,
  hasShapes,
  isReference,
  notesOf,
  presentOf,
  typeOf,
  valuesOf,
} from './docs_words.ts';
import type { Word } from './docs_words.ts';
import { follow } from './openapi_read.ts';
import type { Schema } from './openapi_read.ts';

type Document = oas31.OpenAPIObject;

/** A line of a table: a member of a body or a parameter, or several of which the same is to be said. */
export type Member = {
  names: string[];
  type: Word[];
  isRequired: boolean;
  notes: string;
  shapes: Shape[];
};

/** One of the shapes that a value may have: by the word that tells it from the others, else by its type. */
export type Shape = { mark: string; type: Word[]; notes: string; members: Member[] };

/** A value as a whole. */
export type Whole = { notes: string; members: Member[]; shapes: Shape[] };

/** What has no name of its own is told of where it stands; what has one, elsewhere. */
type Place = { document: Document; path: string };

const inItems = (place: Place): Place => ({ ...place, path: `${place.path}[]` });
const within = (place: Place, name: string): Place => ({
  ...place,
  path: place.path === '' ? name : `${place.path}.${name}`,
});

/** Goes on with what lists and objects of any names hold, down to what has members or shapes. */
const reach = (place: Place, given: Schema): { place: Place; schema: oas31.SchemaObject } => {
  if (isReference(given)) return { place, schema: {} };
  const schema = presentOf(given);
  const values = valuesOf(schema);
  if (schema.items) return reach(inItems(place), schema.items);
  return values ? reach(within(place, '*'), values) : { place, schema };
};

const toMember = (place: Place, given: Schema, isRequired: boolean): Member => ({
  names: [place.path],
  type: typeOf(place.document, given),
  isRequired,
  notes: notesOf(given),
  shapes: shapesOf(place, given),
});

/** The members of a value, those of nested objects under their path: `items[].id`. */
const membersOf = (from: Place, given: Schema): Member[] => {
  const { place, schema } = reach(from, given);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const at = within(place, name);
    const isRequired = schema.required?.includes(name) ?? false;
    return [toMember(at, member, isRequired), ...membersOf(at, member)];
  });
};

const isAlike = (a: Member, b: Member): boolean =>
  JSON.stringify({ ...a, names: [] }) === JSON.stringify({ ...b, names: [] });

/** Neighbours of which the same is to be said share a line. */
const join = (members: readonly Member[]): Member[] => {
  const lines: Member[] = [];
  for (const member of members) {
    const last = lines.at(-1);
    if (last && isAlike(last, member)) last.names.push(...member.names);
    else lines.push(member);
  }
  return lines;
};

type Properties = NonNullable<oas31.SchemaObject['properties']>;
const propertiesOf = (schema: Schema): Properties =>
  isReference(schema) ? {} : (schema.properties ?? {});

/** The words that a member may be; none where it may be anything else. */
const wordsOf = (schema: Schema | undefined): unknown[] => {
  if (!schema || isReference(schema)) return [];
  return schema.const === undefined ? (schema.enum ?? []) : [schema.const];
};

/** The member whose word says which of several shapes a value has, if there is one. */
const findMark = (branches: readonly Schema[]): string | undefined =>
  Object.keys(propertiesOf(branches[0] ?? {})).find((name) =>
    branches.every((branch) => wordsOf(propertiesOf(branch)[name]).length > 0),
  );

const markOf = (branch: Schema, mark: string | undefined): string => {
  const properties = propertiesOf(branch);
  if (mark !== undefined) return `\`${mark}\`: ${listed(wordsOf(properties[mark]))}`;
  const required = isReference(branch) ? [] : (branch.required ?? []);
  return required.length > 0 ? `with ${listed(required)}` : '';
};

/** The shapes of a value of which some have members; none where a word says it all. */
const shapesOf = (from: Place, given: Schema): Shape[] => {
  const { place, schema } = reach(from, given);
  if (!hasShapes(schema)) return [];
  const branches = branchesOf(schema);
  const mark = findMark(branches);
  const marked = mark === undefined ? null : within(place, mark).path;
  return branches.map((branch) => ({
    mark: markOf(branch, mark),
    type: mark === undefined ? typeOf(place.document, branch) : [],
    notes: notesOf(branch),
    members: join(membersOf(place, branch).filter(({ names: [name] }) => name !== marked)),
  }));
};

/** What is to be told of a value as a whole: of a body, an answer, or of what has a name. */
export const wholeOf = (document: Document, given: Schema): Whole => {
  const place = { document, path: '' };
  const schema = follow<oas31.SchemaObject>(document, given);
  return {
    notes: notesOf(schema),
    members: join(membersOf(place, schema)),
    shapes: shapesOf(place, schema),
  };
};
