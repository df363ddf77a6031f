import type { oas31 } from 'zod-openapi';
import type { RefusalName } from '../base/refusal.ts';

type Document = oas31.OpenAPIObject;
export type Schema = oas31.SchemaObject | oas31.ReferenceObject;

const REFERENCE = /^#\/components\/(\w+)\/([\w.-]+)$/;

/** What a reference within the document names. Throws when there is no such thing. */
export const follow = <T extends object>(
  document: Document,
  target: T | oas31.ReferenceObject,
): T => {
  if (!('$ref' in target) || typeof target.$ref !== 'string') return target as T;
  const [, kind = '', name = ''] = REFERENCE.exec(target.$ref) ?? [];
  const components = document.components as Record<string, Record<string, T>> | undefined;
  const found = components?.[kind]?.[name];
  if (!found) throw new Error(`${target.$ref} names nothing`);
  return follow(document, found);
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'options'] as const;

export type Endpoint = { method: string; path: string; operation: oas31.OperationObject };

/** Every endpoint of a document, in its order. */
export const listEndpoints = ({ paths = {} }: Document): Endpoint[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ method: method.toUpperCase(), path, operation }] : [];
    }),
  );

type Answered = { status: string; names: RefusalName[] };

/** The statuses from 400 on that an endpoint may answer, each with the names it may bear there. */
export const errorsOf = (
  document: Document,
  { responses = {} }: oas31.OperationObject,
): Answered[] =>
  Object.entries(responses as Record<string, oas31.ResponseObject | oas31.ReferenceObject>)
    .filter(([status]) => status >= '400')
    .map(([status, response]) => {
      const { content } = follow<oas31.ResponseObject>(document, response);
      const examples = content?.['application/json']?.examples ?? {};
      return { status, names: Object.keys(examples) as RefusalName[] };
    });
