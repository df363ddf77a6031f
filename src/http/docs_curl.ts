import type { oas31 } from 'zod-openapi';

/** Stands for the address of the service until somebody asks for the page. */
export const BASE_URL = '{base_url}';

/** What the examples call the credentials that a scheme wants. */
const VARIABLES: Record<string, string> = {
  publishable_key: 'PUBLISHABLE_KEY',
  server_key: 'SERVER_KEY',
  webhook_bearer: 'WEBHOOK_TOKEN',
};

const inQuotes = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const exampleOf = ({ schema }: oas31.ParameterObject): unknown => {
  const { examples, enum: values, format } = (schema ?? {}) as oas31.SchemaObject;
  return examples?.[0] ?? values?.[0] ?? (format === 'uuid' ? SOME_ID : undefined);
};
const SOME_ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';

type Endpoint = { method: string; path: string; operation: oas31.OperationObject };

/** The address of an example: every name in the path, and those of the query that have an example. */
export const exampleUrl = ({ path, operation }: Endpoint): string => {
  const parameters = (operation.parameters ?? []).filter((one) => 'name' in one);
  const valueOf = (name: string): string =>
    String(exampleOf(parameters.find((one) => one.name === name) ?? { name, in: 'path' }));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name));
  const query = parameters
    .filter((one) => one.in === 'query' && (one.schema as oas31.SchemaObject).examples)
    .map((one) => `${one.name}=${encodeURIComponent(String(exampleOf(one)))}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
};

/** A line for the shell that calls an endpoint, with the example of its body. */
export const toCurl = (endpoint: Endpoint): string => {
  const { method, operation } = endpoint;
  const [scheme] = (operation.security ?? []).flatMap((one) => Object.keys(one));
  const body = operation.requestBody as oas31.RequestBodyObject | undefined;
  const example: unknown = body?.content['application/json']?.example;
  const isPlainGet = method === 'GET' || example !== undefined;
  return [
    `curl ${isPlainGet ? '' : `-X ${method} `}"${BASE_URL}${exampleUrl(endpoint)}"`,
    ...(scheme === undefined ? [] : [`-H "Authorization: Bearer $${VARIABLES[scheme]}"`]),
    ...(example === undefined
      ? []
      : [
          `-H "Content-Type: application/json"`,
          `-d ${inQuotes(JSON.stringify(example, null, 2))}`,
        ]),
  ].join(' \\\n  ');
};
