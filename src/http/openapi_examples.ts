import type { oas31 } from 'zod-openapi';

export type Schema = oas31.SchemaObject | oas31.ReferenceObject;

const REFERENCE = /^#\/components\/(\w+)\/([\w.-]+)$/;

/** What a reference within the document names. Throws when there is no such thing. */
export const follow = <T extends object>(
  document: oas31.OpenAPIObject,
  target: T | oas31.ReferenceObject,
): T => {
  if (!('$ref' in target) || typeof target.$ref !== 'string') return target as T;
  const [, kind = '', name = ''] = REFERENCE.exec(target.$ref) ?? [];
  const components = document.components as Record<string, Record<string, T>> | undefined;
  const found = components?.[kind]?.[name];
  if (!found) throw new Error(`${target.$ref} names nothing`);
  return follow(document, found);
};

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
