import type { oas31 } from 'zod-openapi';
import type { Endpoint } from './openapi_read.ts';

/** Stands for the address of the service until somebody asks for the page. */
export const BASE_URL = '{base_url}';

/** What the examples call the credentials that a scheme wants. */
const VARIABLES: Record<string, string> = {
  publishable_key: 'PUBLISHABLE_KEY',
  server_key: 'SERVER_KEY',
  webhook_bearer: 'WEBHOOK_TOKEN',
};

const inQuotes = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const SOME_ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';

const valueOf = ({ schema }: oas31.ParameterObject): string => {
  const { examples, enum: values, format } = (schema ?? {}) as oas31.SchemaObject;
  return String(examples?.[0] ?? values?.[0] ?? (format === 'uuid' ? SOME_ID : ''));
};

/** The address of an example: every name in the path, and those of the query that have an example. */
const exampleUrl = ({ path, operation }: Endpoint): string => {
  const parameters = (operation.parameters ?? []).filter((one) => 'name' in one);
  const values = new Map(parameters.map((one) => [one.name, valueOf(one)]));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? '');
  const query = parameters
    .filter((one) => one.in === 'query' && (one.schema as oas31.SchemaObject).examples)
    .map(({ name }) => `${name}=${encodeURIComponent(values.get(name) ?? '')}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
};

/** A line for the shell that calls an endpoint, with the example of its body. */
export const toCurl = (endpoint: Endpoint): string => {
  const { method, operation } = endpoint;
  const [scheme] = (operation.security ?? []).flatMap((one) => Object.keys(one));
  const body = operation.requestBody as oas31.RequestBodyObject | undefined;
  const example: unknown = body?.content['application/json']?.example;
  const impliedMethod = example === undefined ? 'GET' : 'POST';
  return [
    `curl ${method === impliedMethod ? '' : `-X ${method} `}"${BASE_URL}${exampleUrl(endpoint)}"`,
    ...(scheme === undefined ? [] : [`-H "Authorization: Bearer $${VARIABLES[scheme]}"`]),
    ...(example === undefined
      ? []
      : [
          `-H "Content-Type: application/json"`,
          `-d ${inQuotes(JSON.stringify(example, null, 2))}`,
        ]),
  ].join(' \\\n  ');
};
