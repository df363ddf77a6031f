import { setImmediate as others } from 'node:timers/promises';
import { Liquid } from 'liquidjs';
import type { oas31 } from 'zod-openapi';
import { refusals } from '../base/refusal.ts';
import type { RefusalName } from '../base/refusal.ts';
import type { Limit } from '../base/route.ts';
import { toCurl } from './docs_curl.ts';
import type { Member } from './docs_members.ts';
import { toHtml } from './docs_prose.ts';
import { listTypes, toNamed } from './docs_types.ts';
import type { Told } from './docs_types.ts';
import { notesOf, typeOf } from './docs_words.ts';
import { errorsOf, follow, listEndpoints } from './openapi_read.ts';
import type { Endpoint } from './openapi_read.ts';
import { inOrder } from './openapi_refusals.ts';
import { toAmount } from './openapi_text.ts';

type Document = oas31.OpenAPIObject;

/** A page that is being made, and what need not be said in it again. */
type Page = { document: Document; told: Told; common: ReadonlySet<RefusalName> };

const parametersOf = ({ parameters = [] }: oas31.OperationObject): oas31.ParameterObject[] =>
  parameters.filter((parameter) => 'name' in parameter);

const toMember = (document: Document, parameter: oas31.ParameterObject): Member => {
  const schema = follow<oas31.SchemaObject>(document, parameter.schema ?? {});
  return {
    names: [parameter.name],
    type: typeOf(document, schema),
    isRequired: parameter.required ?? false,
    notes: notesOf(schema, parameter.description),
    shapes: [],
  };
};

const json = (value: unknown): string => JSON.stringify(value, null, 2);

const isKeyed = ({ operation }: Endpoint): boolean => (operation.security ?? []).length > 0;

/** What whoever bears a key may be answered anywhere: said once, and not at every endpoint. */
const findCommon = (document: Document): Set<RefusalName> => {
  const answered = listEndpoints(document)
    .filter(isKeyed)
    .map(({ operation }) => errorsOf(document, operation).flatMap(({ names }) => names));
  const [first = [], ...others] = answered;
  return new Set(first.filter((name) => others.every((names) => names.includes(name))));
};

/** The errors that are an endpoint's own. */
const ownErrors = ({ document, common }: Page, endpoint: Endpoint) => {
  const errors = errorsOf(document, endpoint.operation);
  if (!isKeyed(endpoint)) return errors;
  return errors
    .map(({ status, names }) => ({ status, names: names.filter((name) => !common.has(name)) }))
    .filter(({ names }) => names.length > 0);
};

const toEndpoint = (page: Page, endpoint: Endpoint) => {
  const { document } = page;
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
    body: body && { bound: body.description ?? '', ...toNamed(page, sent?.schema ?? {}) },
    status,
    answer: answer && { example: json(answer.example), ...toNamed(page, answer.schema ?? {}) },
    errors: ownErrors(page, endpoint),
    isKeyed: isKeyed(endpoint),
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

/**
 * An article of the page. Between two of them others have their turn: to make the page takes half a second, and
 * whoever asks for it first keeps nobody waiting.
 */
const toArticle = async <T extends object>(
  name: 'docs_endpoint' | 'docs_named_type',
  make: () => T,
): Promise<T & { article: string }> => {
  await others();
  const shown = make();
  return { ...shown, article: liquid.renderFileSync(name, shown) as string };
};

const toTag = async (page: Page, { name, description }: oas31.TagObject) => {
  const endpoints = [];
  for (const endpoint of listEndpoints(page.document)) {
    // What browsers ask by themselves is nothing to read about.
    if (endpoint.method === 'OPTIONS' || !endpoint.operation.tags?.includes(name)) continue;
    endpoints.push(await toArticle('docs_endpoint', () => toEndpoint(page, endpoint)));
  }
  return { id: name.toLowerCase(), name, about: description ?? '', endpoints };
};

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

/** The page that says what a document says. `style` is put into it as it is. */
export const renderPage = async (
  document: Document,
  limits: readonly Limit[],
  style: string,
): Promise<string> => {
  const { components = {}, info, tags = [] } = document;
  const page: Page = { document, told: new Set(), common: findCommon(document) };
  const shownTags = [];
  for (const tag of tags) shownTags.push(await toTag(page, tag));
  const types = [];
  for (const type of listTypes(page)) types.push(await toArticle('docs_named_type', () => type));
  const html = liquid.renderFileSync('docs', {
    title: info.title,
    about: toParts(info.description ?? ''),
    schemes: Object.entries(components.securitySchemes ?? {}).map((entry) =>
      toScheme(entry as [string, oas31.SecuritySchemeObject]),
    ),
    headers: Object.values(components.parameters ?? {}).map((parameter) =>
      toMember(document, parameter as oas31.ParameterObject),
    ),
    tags: shownTags,
    types,
    errors: toErrors(document),
    common: [...page.common],
    limits: limits.map((limit) => ({ ...limit, amount: toAmount(limit) })),
    style,
  }) as string;
  // Nobody sees how it is indented, and everybody would load it. Texts hold no `<`.
  return html.replaceAll(/\n\s+</g, '\n<');
};
