import { Liquid } from 'liquidjs';
import type { oas31 } from 'zod-openapi';
import { refusals } from '../base/refusal.ts';
import type { RefusalName } from '../base/refusal.ts';
import type { Limit } from '../base/route.ts';
import { toCurl } from './docs_curl.ts';
import { linesOf, notesOf, shapeOf, typeOf } from './docs_members.ts';
import type { Member } from './docs_members.ts';
import { toHtml } from './docs_prose.ts';
import { errorsOf, follow, listEndpoints } from './openapi_read.ts';
import type { Endpoint } from './openapi_read.ts';
import { inOrder } from './openapi_refusals.ts';
import { toAmount } from './openapi_text.ts';

type Document = oas31.OpenAPIObject;

const parametersOf = ({ parameters = [] }: oas31.OperationObject): oas31.ParameterObject[] =>
  parameters.filter((parameter) => 'name' in parameter);

const toMember = (document: Document, parameter: oas31.ParameterObject): Member => {
  const schema = follow<oas31.SchemaObject>(document, parameter.schema ?? {});
  return {
    names: [parameter.name],
    type: typeOf(schema),
    isRequired: parameter.required ?? false,
    notes: notesOf(schema, parameter.description),
  };
};

const json = (value: unknown): string => JSON.stringify(value, null, 2);

const toEndpoint = (document: Document, endpoint: Endpoint) => {
  const { method, path, operation } = endpoint;
  const { requestBody, responses = {} } = operation;
  const body = requestBody && follow<oas31.RequestBodyObject>(document, requestBody);
  const [[status, success] = []] = Object.entries(responses) as [string, oas31.ResponseObject][];
  const sent = body?.content['application/json'];
  const answer = success?.content?.['application/json'];
  return {
    id: operation.operationId,
    method,
    path,
    summary: operation.summary,
    description: operation.description ?? '',
    schemes: (operation.security ?? []).flatMap((one) => Object.keys(one)),
    parameters: parametersOf(operation).map((parameter) => toMember(document, parameter)),
    body: body && {
      notes: body.description ?? '',
      shape: sent?.schema ? shapeOf(document, sent.schema) : '',
      members: sent?.schema ? linesOf(document, sent.schema) : [],
    },
    status,
    answer: answer && {
      members: answer.schema ? linesOf(document, answer.schema) : [],
      example: json(answer.example),
    },
    errors: errorsOf(document, operation),
    curl: toCurl(endpoint),
  };
};

/** The catalogue as far as an endpoint may answer with it. */
const toErrors = (document: Document) => {
  const answered = listEndpoints(document).flatMap(({ operation }) =>
    errorsOf(document, operation).flatMap(({ names }) => names),
  );
  const shown = new Set<RefusalName>([...answered, 'method_not_allowed']);
  return inOrder(shown).map((name) => ({ name, ...refusals[name] }));
};

/** The parts of a text in CommonMark, by its headings; the first has none. */
const toParts = (text: string) => {
  const [lead = '', ...parts] = text.split(/^## /m);
  const sections = parts.map((part) => {
    const [title = '', ...lines] = part.split('\n');
    return { id: title.toLowerCase(), title, text: lines.join('\n') };
  });
  return { lead, sections };
};

const toTag = (document: Document, { name, description }: oas31.TagObject) => ({
  id: name.toLowerCase(),
  name,
  about: description ?? '',
  endpoints: listEndpoints(document)
    // What browsers ask by themselves is nothing to read about.
    .filter(({ method, operation }) => method !== 'OPTIONS' && operation.tags?.includes(name))
    .map((endpoint) => toEndpoint(document, endpoint)),
});

const toScheme = ([id, scheme]: [string, oas31.SecuritySchemeObject]) => ({
  id,
  how:
    scheme.type === 'apiKey'
      ? { header: `${scheme.name}: <token>`, query: `?${scheme.name}=<token>` }[scheme.in ?? '']
      : scheme.scheme === 'basic'
        ? 'Authorization: Basic <base64 of user:token>'
        : `Authorization: Bearer ${scheme.bearerFormat ?? ''}`,
  description: scheme.description,
});

const liquid = new Liquid({
  root: import.meta.dirname,
  extname: '.liquid',
  cache: true,
  outputEscape: 'escape',
  strictVariables: true,
  strictFilters: true,
  lenientIf: true,
  ownPropertyOnly: true,
});
liquid.registerFilter('prose', { handler: toHtml, raw: true });

/** The page that says what a document says. `style` is put into it as it is. */
export const renderPage = (document: Document, limits: readonly Limit[], style: string): string => {
  const { components = {}, info, tags = [] } = document;
  return liquid.renderFileSync('docs', {
    title: info.title,
    about: toParts(info.description ?? ''),
    schemes: Object.entries(components.securitySchemes ?? {}).map((entry) =>
      toScheme(entry as [string, oas31.SecuritySchemeObject]),
    ),
    headers: Object.values(components.parameters ?? {}).map((parameter) =>
      toMember(document, parameter as oas31.ParameterObject),
    ),
    tags: tags.map((tag) => toTag(document, tag)),
    errors: toErrors(document),
    limits: limits.map((limit) => ({ ...limit, amount: toAmount(limit) })),
    style,
  }) as string;
};
