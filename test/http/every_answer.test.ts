// Each endpoint has a test per answer that it declares, made from the declarations: an endpoint that
// is added is tested here without a word, and a refusal that nobody knows to provoke is found missing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDb, openPooledDb } from '../../src/base/db.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { openApi } from '../../src/http/api.ts';
import { TIMEOUTS } from '../../src/http/bounds.ts';
import type { Listening } from '../../src/http/api.ts';
import { errorsOf, listEndpoints } from '../../src/http/openapi_read.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { findBreaches } from '../support/contract.ts';
import { testDatabase } from '../support/database.ts';
import { snsService } from '../feedback/sns_service.ts';
import type { Mood } from '../feedback/sns_service.ts';
import { openPassage } from '../support/passage.ts';
import { callAsShown, makeShownProject, shownProjects, shownRelay, toShown } from './as_shown.ts';
import { amiss } from './amiss.ts';
import { waysToProvoke } from './provoke.ts';
import { pathOf } from './provoke_base.ts';
import type { Surroundings } from './provoke_base.ts';

const database = testDatabase();
/** All requests come from one address, with one key, in a moment. */
const UNLIMITED = { rateLimitAddress: 0, unitLimitAddress: 0, unitLimitPublishable: 0 };
beforeAll(() => {
  Object.assign(database.deps, { config: { ...database.deps.config, ...UNLIMITED } });
});
const relay = shownRelay(database);
const api = testApi(database);
const sns = snsService();
const document = makeDocument();
const findShownProject = shownProjects(database, api);
const endpoints = listEndpoints(document).filter(({ operation }) => operation.security?.length);

const named = (those: readonly Endpoint[]) =>
  those.map((one) => [`${one.method} ${one.path}`, one] as const);

const NOBODYS_ID = '01890000-0000-7000-8000-000000000000';
const QUICK = { ...TIMEOUTS, headersMs: 100, requestMs: 200, checkMs: 25 };
/** So few that a window grants one request. */
const ONE_REQUEST = { rateLimitServer: 0.1, rateLimitPublishable: 0.1, rateLimitAddress: 0 };
/** So few that a window grants one unit, in one request. */
const ONE_UNIT = { unitLimitServer: 0.1, unitLimitPublishable: 0.1, unitLimitAddress: 0 };

/** Says when to come back. */
const WAITING = [
  'idempotency_key_in_use',
  'rate_limited',
  'quota_exceeded',
  'unavailable',
  'database_timeout',
  'overloaded',
];

let around: Surroundings;
let ways: ReturnType<typeof waysToProvoke>;
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const listen = async (
  deps: Partial<typeof database.deps>,
  timeouts = TIMEOUTS,
): Promise<Listening & { url: string }> => {
  const resources = new Resources();
  const all = { ...database.deps, ...deps, resources };
  const listening = await openApi(all, { isDraining: false }, true, timeouts);
  closing.push(() => resources.close(), listening.close);
  return { ...listening, url: `http://127.0.0.1:${listening.port}` };
};

/** An api that has lost its database. */
const listenAlone = async (): Promise<string> => {
  const passage = await openPassage(new URL(database.url));
  const url = new URL(runtimeUrl(database.url, database.deps.keys));
  url.port = String(passage.port);
  const db = await openDb(url.href);
  closing.push(() => db.end());
  const listening = await listen({ db });
  passage.cut();
  return listening.url;
};

/** An api whose statements may take little time. */
const listenInHaste = async (): Promise<string> => {
  const { rows } = await database.owner.query<{ name: string }>(
    'select quote_ident(current_database()) as name',
  );
  const timeout = `role trunkline_runtime in database ${rows[0]?.name} set statement_timeout`;
  await database.owner.query(`alter ${timeout} = '50ms'`);
  const db = await openPooledDb(runtimeUrl(database.url, database.deps.keys));
  closing.push(() => db.end());
  return (await listen({ db })).url;
};

beforeAll(async () => {
  const elsewhere = {
    slow: await listenInHaste(),
    tight: (await listen({ config: { ...database.deps.config, ...ONE_REQUEST } })).url,
    poor: (await listen({ config: { ...database.deps.config, ...ONE_UNIT } })).url,
    impatient: (await listen({}, QUICK)).url,
    alone: await listenAlone(),
    sns: {
      url: (await listen({ config: { ...database.deps.config, snsUrl: sns.url } })).url,
      signer: sns.signer,
      mood: (mood: Mood) => {
        sns.mood = mood;
      },
    },
  };
  around = { database, api, relay, elsewhere };
  ways = waysToProvoke(around);
});

/** An answer without what differs from request to request. */
const comparable = ({ status, body }: Answer) => ({ status, body: { ...body, request_id: '' } });

const isFound = ({ path }: Endpoint): boolean =>
  path.includes('{id}') || path.includes('{project_id}');

test('whatever an endpoint declares to refuse can be provoked', () => {
  const declared = endpoints.flatMap(({ operation }) =>
    errorsOf(document, operation).flatMap(({ names }) => names),
  );
  expect([...new Set(declared)].filter((name) => ways[name] === undefined)).toEqual([]);
});

const refusalsOf = (one: Endpoint) =>
  errorsOf(document, one.operation).flatMap(({ status, names }) =>
    names.map((name) => [status, name] as const),
  );

const ask = async (name: RefusalName, one: Endpoint): Promise<Answer> => {
  const answer = await ways[name]?.(one);
  if (!answer) throw new Error(`test/http/provoke.ts does not know ${name}`);
  return answer;
};

const expectDeclared = async (
  one: Endpoint,
  [status, name]: ReturnType<typeof refusalsOf>[number],
  asked: Promise<Answer> | undefined,
): Promise<void> => {
  const answer = await asked;
  if (!answer) throw new Error(`nobody asked ${one.method} ${one.path}`);
  expectRefusal(answer, name);
  expect(String(answer.status)).toBe(status);
  if (WAITING.includes(name)) expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  const { method } = one;
  expect(findBreaches({ method, path: pathOf(one, api), ...answer })).toEqual([]);
};

describe.each(named(endpoints))('%s', (_name, one) => {
  beforeAll(() => makeShownProject(database, api, one));

  const [success = ''] = Object.keys(one.operation.responses ?? {});
  test(`${success}: does what its example shows`, async () => {
    expect(String((await callAsShown(one, api)).status)).toBe(success);
  });

  test.each(refusalsOf(one).filter(([, name]) => amiss[name] === undefined))(
    '%s %s',
    async (status, name) => {
      await expectDeclared(one, [status, name], ask(name, one));
    },
  );
});

// By themselves: what is amiss for them is so for everybody who asks meanwhile.
describe.each(Object.entries(amiss))('%s', (refusal, begin) => {
  const refused = endpoints.flatMap((one) =>
    refusalsOf(one)
      .filter(([, name]) => name === refusal)
      .map((declared) => [`${one.method} ${one.path}`, one, declared] as const),
  );
  const answers = new Map<Endpoint, Promise<Answer>>();
  let end: Awaited<ReturnType<typeof begin>>;
  beforeAll(async () => {
    end = await begin(around);
    // What does not wait is asked in groups: a hundred requests at once are refused as too many.
    const together = refusal === 'internal_error' ? 10 : refused.length;
    for (let at = 0; at < refused.length; at += together) {
      for (const [, one, [, name]] of refused.slice(at, at + together))
        answers.set(one, ask(name, one));
      await Promise.allSettled(answers.values());
    }
  });
  afterAll(() => end());

  test('is declared', () => expect(refused).not.toEqual([]));
  test.each(refused)('%s', (_name, one, declared) =>
    expectDeclared(one, declared, answers.get(one)),
  );
});

describe.each(named(endpoints.filter(isFound)))('%s', (_name, one) => {
  test('404 not_found: another project’s looks like nobody’s', async () => {
    await findShownProject(one);
    const { method, path } = toShown(one, api.project);
    const random = path.replace(/external_id:ann|[\da-f-]{36}/, NOBODYS_ID);
    const other = toShown(one, await createProject(database.deps, 'other')).call;
    const foreign = await api.call(method, path, other);
    expectRefusal(foreign, 'not_found');
    expect(comparable(foreign)).toEqual(comparable(await api.call(method, random, other)));
  });
});
