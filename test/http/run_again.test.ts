// A process may die after it ran a request and before it stored the answer. The client then sends the same request
// with the same Idempotency-Key, and it runs again. That must change nothing more.
import { beforeAll, describe, expect, test } from 'vitest';
import { errorsOf, listEndpoints } from '../../src/http/openapi_read.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { meterOf } from '../../src/quotas/meter.ts';
import { testApi } from '../support/api.ts';
import { listTables } from '../support/catalogue.ts';
import { testDatabase } from '../support/database.ts';
import { callAsShown, makeShownProject, shownRelay } from './as_shown.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
const document = makeDocument();

const isRepeatable = ({ operation }: Endpoint): boolean =>
  errorsOf(document, operation).some(({ names }) => names.includes('idempotency_key_reused'));
const posts = listEndpoints(document).filter(
  ({ method, operation }) => method === 'POST' && operation.security?.length,
);
const repeatable = posts.filter(isRepeatable);
const isWebhook = ({ path }: Endpoint): boolean => /^\/(?:v1\/)?webhooks\//.test(path);
const webhooks = posts.filter(isWebhook);
const reading = posts.filter((one) => !isRepeatable(one) && !isWebhook(one));
const named = (those: readonly Endpoint[]) =>
  those.map((one) => [`${one.method} ${one.path}`, one] as const);

/** Says of an answer what was done, and not whether this try did it. */
const toEffect: Record<string, (body: { event_ids: string[] }) => unknown> = {
  '/v1/events': ({ event_ids }) => event_ids,
  '/v1/events/batch': ({ event_ids }) => event_ids,
  '/v1/rejected-sends/requeue': () => 'none is left',
};

const KEPT = 'http.idempotency_keys';
/** Counts the bytes of each kept answer, so a request that runs again counts one more. */
const KEY_USE = 'quotas.key_days';
/** Each change stands in the audit log once, however often a client tried it. */
const LOG = 'admin.audit';
let tables: string[] = [];
/** One statement for all of them, planned once: the tests run it hundreds of times. */
let everyRow = '';
beforeAll(async () => {
  tables = [...(await listTables(database.owner, 'tenant')), LOG];
  everyRow = tables
    .map(
      (name) =>
        `select '${name}' as name, found::text as row from ${name} as found where project_id = $1`,
    )
    .join(' union all ');
});

/** Writes the use of publishable keys, which a process counts in memory and writes from time to time. */
const writeKeyUse = async (): Promise<void> => {
  const meter = meterOf(database.deps);
  // The first call may join a cycle that began before the request.
  await meter.runCycle();
  await meter.runCycle();
};

/** Returns every row of the project as text. Kept answers only on request. */
const readProject = async (hasKept = false): Promise<Record<string, unknown>> => {
  await writeKeyUse();
  const text = `select name, array_agg(row order by row) as rows from (${everyRow}) as every group by name`;
  const { rows } = await database.owner.query<{ name: string; rows: string[] }>({
    name: 'every row of a project',
    text,
    values: [api.project.project_id],
  });
  const kept = new Map(rows.map((one) => [one.name, one.rows]));
  return Object.fromEntries(
    tables.filter((name) => hasKept || name !== KEPT).map((name) => [name, kept.get(name) ?? []]),
  );
};

const withoutUse = ({ [KEY_USE]: _use, ...rest }: Record<string, unknown>) => rest;

/** What is left of a claim when its process died before it kept the answer, and the lease ran out. */
const crash = () =>
  database.owner.query(
    'update http.idempotency_keys set answer = null, claimed_until = null where project_id = $1',
    [api.project.project_id],
  );

test('there are tables to look at, and endpoints that may be asked again', () => {
  expect(tables).toEqual(
    expect.arrayContaining(['ingest.events', 'identity.links', KEPT, KEY_USE]),
  );
  expect(repeatable.length).toBeGreaterThan(4);
});

describe.each(named(repeatable))('%s', (_name, one) => {
  test('run again after a crash, it answers the same and nothing more is written', async () => {
    await makeShownProject(database, api, one);
    const headers = { 'idempotency-key': 'once' };
    const before = await readProject();
    const first = await callAsShown(one, api, headers);
    const after = await readProject();
    expect(after).not.toEqual(before);
    await crash();
    const again = await callAsShown(one, api, headers);
    expect(again.headers.has('idempotency-replayed')).toBe(false);
    expect(withoutUse(await readProject())).toEqual(withoutUse(after));
    const effect = toEffect[one.path] ?? ((body: unknown) => body);
    expect([again.status, effect(again.body)]).toEqual([first.status, effect(first.body)]);
  });

  test('asked again without a crash, it does not run: the kept answer is given', async () => {
    await makeShownProject(database, api, one);
    const headers = { 'idempotency-key': 'once' };
    const first = await callAsShown(one, api, headers);
    const after = await readProject();
    const again = await callAsShown(one, api, headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(await readProject()).toEqual(after);
  });
});

describe.each(named(webhooks))('%s', (_name, one) => {
  test('takes an Idempotency-Key and needs none: the same request again writes nothing more', async () => {
    await makeShownProject(database, api, one);
    const first = await callAsShown(one, api, { 'idempotency-key': 'once' });
    const after = await readProject();
    for (const headers of [{ 'idempotency-key': 'once' }, { 'idempotency-key': 'a b' }, {}]) {
      const again = await callAsShown(one, api, headers);
      expect(again.status).toBe(first.status);
      expect(again.body).toMatchObject({ accepted: 0, duplicates: 1 });
      expect(await readProject()).toEqual(after);
    }
  });
});

describe.each(named(reading))('%s', (_name, one) => {
  test('changes nothing: it is answered each time, and nothing of its answer is kept', async () => {
    await makeShownProject(database, api, one);
    const before = await readProject(true);
    const first = await callAsShown(one, api);
    for (const key of ['once', 'once', 'a b']) {
      const again = await callAsShown(one, api, { 'idempotency-key': key });
      expect([again.status, again.body]).toEqual([first.status, first.body]);
      expect(again.headers.has('idempotency-replayed')).toBe(false);
    }
    expect(await readProject(true)).toEqual(before);
  });
});
