import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { oas31 } from 'zod-openapi';
import { readEmail } from '../../src/base/email_address.ts';
import { follow } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import type { OpenApiDocument } from '../../src/http/openapi.ts';

/** A request as it was sent, and what came back. */
export type Exchange = {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  /** Of the answer, parsed; null for none. */
  body: unknown;
  /** The body that was sent, as text. */
  sent?: string;
};

/** Doors of the same service that the document does not describe. */
const ELSEWHERE = /^\/(?:admin|console)(?:\/|$)/;

/**
 * The document as a test reads it: answers hold what is described and nothing more. Clients are told
 * to expect more one day, so the published schemas stay open.
 */
const closed = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => closed(item) as unknown) as T;
  const entries = Object.entries(value).map(([name, member]) => [name, closed(member) as unknown]);
  const copy = Object.fromEntries(entries) as oas31.SchemaObject;
  const isObject = [copy.type].flat().includes('object') && copy.properties !== undefined;
  return { ...copy, ...(isObject && { additionalProperties: false, ...copy }) } as T;
};

const toPattern = (template: string): RegExp =>
  new RegExp(
    `^${template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  );

const toPointer = (parts: readonly string[]): string =>
  parts
    .map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');

/** `idn-email` as this service reads it, which the formats of the library lack. */
export const isEmail = (text: string): boolean => readEmail(text) !== null;

/** Validates values against a part of a document. */
export const validatorOf = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addFormat('idn-email', isEmail);
  ajv.addSchema(document, 'api', false, false);
  const known = new Map<string, ValidateFunction>();
  return (parts: readonly string[], value: unknown): string[] => {
    const pointer = toPointer(parts);
    const validate = known.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    known.set(pointer, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    );
  };
};

type Described = { path: string; method: string; operation: oas31.OperationObject };

/** Says what a document has for a path and method: an operation, other methods only, or nothing. */
const finderIn = ({ paths = {} }: OpenApiDocument) => {
  const patterns = Object.keys(paths).map((template) => [template, toPattern(template)] as const);
  return (asked: Pick<Exchange, 'method' | 'path'>) => {
    const [path = ''] = asked.path.split('?');
    const templates = patterns
      .filter(([, pattern]) => pattern.test(path))
      .map(([template]) => template);
    const template = templates.find((one) => one === path) ?? templates[0];
    if (template === undefined) return { allowed: [], described: null };
    const method = asked.method === 'HEAD' ? 'get' : asked.method.toLowerCase();
    const item = paths[template] as Record<string, oas31.OperationObject>;
    const operation = item[method];
    const allowed = Object.keys(item).flatMap((one) =>
      one === 'get' ? ['GET', 'HEAD'] : [one.toUpperCase()],
    );
    return { allowed, described: operation ? { path: template, method, operation } : null };
  };
};

/**
 * What providers and other people's libraries send is taken as far as it can be read; every other endpoint takes
 * nothing but what is described.
 */
export const isStrict = ({ security = [] }: oas31.OperationObject): boolean =>
  security.some((scheme) => 'server_key' in scheme) &&
  !security.some((scheme) => 'write_key' in scheme);

/** How the validator says what is wrong where nobody else did: in words for programmers. */
export const OF_THE_VALIDATOR = /^(?:Invalid|Unrecognized|Too |Required)/;

const UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
/** Of a person's own making: what they hold is theirs. */
const GIVEN = ['properties', 'traits'];

/** Every `…_at` in an answer that is not UTC to the millisecond, which no schema can say. */
const findForeignTimes = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (GIVEN.includes(name)) return [];
    const isForeign = name.endsWith('_at') && typeof member === 'string' && !UTC.test(member);
    return isForeign ? [`${name} is ${member}, not UTC`] : findForeignTimes(member);
  });
};

const isMissing = (header: oas31.HeaderObject, name: string, headers: Headers): boolean =>
  header.required === true && !headers.has(name);

/** Says what an answer has that a document does not allow, or lacks that it promises. */
export const contractOf = (published: OpenApiDocument) => {
  const document = closed(published);
  const validate = validatorOf(document);
  const find = finderIn(document);

  const checkError = ({ body }: Exchange): string[] =>
    validate(['components', 'schemas', 'Error'], body);

  const checkWords = ({ body }: Exchange): string[] => {
    const { issues = [] } = (body ?? {}) as { issues?: { path: string; message: string }[] };
    return Array.isArray(issues)
      ? issues.filter(({ message }) => OF_THE_VALIDATOR.test(message)).map(({ message }) => message)
      : [];
  };

  const checkAnswer = (exchange: Exchange, { path, method, operation }: Described): string[] => {
    const { status, headers, body } = exchange;
    const declared = (operation.responses as Record<string, oas31.ResponseObject>)[status];
    if (declared === undefined) return [`${status} is not described`];
    const response = follow<oas31.ResponseObject>(document, declared);
    const missing = Object.entries(response.headers ?? {})
      .filter(([name, header]) => isMissing(follow(document, header), name, headers))
      .map(([name]) => `${name} is missing`);
    if (exchange.method === 'HEAD') return missing;
    const [mediaType] = Object.keys(response.content ?? {});
    if (mediaType === undefined)
      return body === null ? missing : [...missing, 'no body is described'];
    const given = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (given !== mediaType) return [...missing, `${given} is not ${mediaType}`];
    const at =
      '$ref' in declared
        ? String(declared.$ref).split('/').slice(1)
        : ['paths', path, method, 'responses', String(status)];
    return [...missing, ...validate([...at, 'content', mediaType, 'schema'], body)];
  };

  const checkRequest = (
    { status, sent }: Exchange,
    { path, method, operation }: Described,
  ): string[] => {
    const body = operation.requestBody as oas31.RequestBodyObject | undefined;
    const isTaken = status < 300 && body !== undefined && isStrict(operation);
    if (!isTaken || sent === undefined || (sent === '' && body.required !== true)) return [];
    const at = ['paths', path, method, 'requestBody', 'content', 'application/json', 'schema'];
    return validate(at, JSON.parse(sent)).map((breach) => `taken, though ${breach}`);
  };

  return (exchange: Exchange): string[] => {
    if (ELSEWHERE.test(exchange.path)) return [];
    const foreignTimes = findForeignTimes(exchange.body);
    if (foreignTimes.length > 0) return foreignTimes;
    if (exchange.status === 400 && checkWords(exchange).length > 0) return checkWords(exchange);
    const { allowed, described } = find(exchange);
    if (described)
      return [...checkAnswer(exchange, described), ...checkRequest(exchange, described)];
    const expected = allowed.length > 0 ? 405 : 404;
    if (exchange.status !== expected) return [`${exchange.status}, but ${expected} is promised`];
    const given = (exchange.headers.get('allow') ?? '').split(', ').filter(Boolean);
    const isTold = expected === 404 || given.toSorted().join() === allowed.toSorted().join();
    return [
      ...(isTold ? [] : [`Allow is ${given.join()}`]),
      ...(exchange.method === 'HEAD' ? [] : checkError(exchange)),
    ];
  };
};

/** What an answer of the API has that its description does not allow. */
export const findBreaches = contractOf(makeDocument());
