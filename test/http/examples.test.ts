// The documents' examples are true: who sends one is answered what stands beside it.
import { beforeEach, describe, expect, test } from 'vitest';
import type { oas31 } from 'zod-openapi';
import { listEndpoints } from '../../src/http/openapi_read.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { callAsShown, makeShownProject, shownRelay } from './as_shown.ts';
import { shownDomain } from './shown_domain.ts';

const database = testDatabase();
shownRelay(database);
shownDomain(database);
const api = testApi(database);
const endpoints = listEndpoints(makeDocument()).filter(
  ({ operation }) => operation.security?.length,
);
const named = (method: string) =>
  endpoints
    .filter((one) => one.method === method)
    .map((one) => [`${one.method} ${one.path}`, one] as const);

const exampleOf = ({ operation }: Endpoint): unknown => {
  const [success] = Object.values(operation.responses ?? {}) as oas31.ResponseObject[];
  return success?.content?.['application/json']?.example;
};

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;
const SECRET = /^whsec_[\w+/=]+$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

const DURATION = /_ms$/;

/** A value without what differs from request to request. */
const masked = (value: unknown): unknown => {
  if (typeof value === 'string')
    return value.replaceAll(UUID, 'an id').replace(TIME, 'a time').replace(SECRET, 'a secret');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(masked);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, DURATION.test(name) ? 0 : masked(member)]),
  );
};

/** What an example has that an answer lacks, or the other way round, as far as both have a value. */
const differences = (example: unknown, answer: unknown, at = ''): string[] => {
  if (example === null || answer === null || /\/(?:properties|traits|tables)$/.test(at)) return [];
  if (Array.isArray(example) && Array.isArray(answer)) {
    const [[first], [other]] = [example, answer] as [unknown[], unknown[]];
    return first === undefined || other === undefined ? [] : differences(first, other, `${at}/0`);
  }
  if (typeof example !== typeof answer) return [at];
  if (typeof example !== 'object') return [];
  const [ours, theirs] = [example, answer] as Record<string, unknown>[];
  const names = new Set([...Object.keys(ours ?? {}), ...Object.keys(theirs ?? {})]);
  return [...names].flatMap((name) =>
    ours?.[name] === undefined || theirs?.[name] === undefined
      ? [`${at}/${name}`]
      : differences(ours[name], theirs[name], `${at}/${name}`),
  );
};

describe.each(named('POST'))('%s', (_name, endpoint) => {
  beforeEach(() => makeShownProject(database, api, endpoint));

  test('answers its example with its example, but for ids and times', async () => {
    const { body } = await callAsShown(endpoint, api);
    expect(masked(body)).toEqual(masked(exampleOf(endpoint)));
  });
});

describe.each(named('GET'))('%s', (_name, endpoint) => {
  beforeEach(() => makeShownProject(database, api, endpoint));

  test('answers its example with members of the same names and kinds', async () => {
    const { body } = await callAsShown(endpoint, api);
    expect(differences(exampleOf(endpoint), body)).toEqual([]);
  });
});
