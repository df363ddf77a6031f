import type { oas31 } from 'zod-openapi';
import { follow } from './openapi_read.ts';
import type { Schema } from './openapi_read.ts';

const ofType = (type: string | undefined): unknown =>
  ({ string: '', integer: 0, number: 0, boolean: false, object: {}, null: null })[type ?? 'null'];

/** A value that fits a schema: its own example, or one made of its members'. */
export const exampleOf = (document: oas31.OpenAPIObject, given: Schema): unknown => {
  const schema = follow<oas31.SchemaObject>(document, given);
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [branch] = schema.anyOf ?? [];
  if (branch && !schema.properties) return exampleOf(document, branch);
  if (schema.items) return [exampleOf(document, schema.items)];
  const type = [schema.type].flat()[0];
  if (type !== 'object') return ofType(type);
  const required = Object.entries(schema.properties ?? {}).filter(([name]) =>
    schema.required?.includes(name),
  );
  return Object.fromEntries(required.map(([name, member]) => [name, exampleOf(document, member)]));
};
