import type { oas31 } from 'zod-openapi';
import { wholeOf } from './docs_members.ts';
import type { Whole } from './docs_members.ts';
import { isReference, nameIn, shownName, typeOf } from './docs_words.ts';
import type { Word } from './docs_words.ts';
import type { Schema } from './openapi_read.ts';

/** What was told of by its name so far. */
export type Told = Set<string>;

/** A page that is being made. */
type Page = { document: oas31.OpenAPIObject; told: Told };

/** A body or an answer: by its name, if it has one, and what there is to tell unless that was told before. */
type Named = { name: string | null; whole: Whole | null };

/** What is named is told of once, at the first endpoint that takes or answers it as a whole. */
export const toNamed = ({ document, told }: Page, schema: Schema): Named => {
  const name = isReference(schema) ? shownName(document, nameIn(schema.$ref)) : null;
  if (name === null) return { name, whole: wholeOf(document, schema) };
  if (told.has(name)) return { name, whole: null };
  told.add(name);
  return { name, whole: wholeOf(document, schema) };
};

type Type = { name: string; type: Word[]; whole: Whole };

/** What is named and is no body or answer as a whole, in the order of the alphabet. */
export const listTypes = ({ document, told }: Page): Type[] =>
  Object.entries(document.components?.schemas ?? {})
    .filter(([name]) => shownName(document, name) === name && !told.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => ({
      name,
      type: typeOf(document, schema),
      whole: wholeOf(document, schema),
    }));
