// Every endpoint, as its example in the documents calls it: what a server key changes is in the audit log, once.
import { describe, expect, test } from 'vitest';
import { errorsOf, listEndpoints } from '../../src/http/openapi_read.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { routes } from '../../src/http/routes.ts';
import { isAudited } from '../../src/base/route.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { readRows } from '../support/rows.ts';
import {
  callAsShown,
  makeShownProject,
  SHOWN_ID,
  shownProjects,
  shownRelay,
  toShown,
} from './as_shown.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
const document = makeDocument();
const findShownProject = shownProjects(database, api);

const endpoints = listEndpoints(document).filter(({ operation }) => operation.security?.length);
const named = (those: readonly Endpoint[]) =>
  those.map((one) => [`${one.method} ${one.path}`, one] as const);

/** The route behind an endpoint of the documents. */
const routeOf = ({ method, path }: Endpoint) => {
  const found = routes.find(
    (route) => route.method === method && route.path.replaceAll(/:(\w+)/g, '{$1}') === path,
  );
  if (!found) throw new Error(`no route is ${method} ${path}`);
  return found;
};
const changing = endpoints.filter((one) => isAudited(routeOf(one)));
const others = endpoints.filter((one) => !isAudited(routeOf(one)));

type Row = { actor_kind: string; action: string; targets: Record<string, string> };
const read = async (): Promise<(Row & { actor_id: string; request_id: string })[]> =>
  (
    await database.owner.query(
      'select * from admin.audit where project_id = $1 order by audit_id',
      [api.project.project_id],
    )
  ).rows;

const keyId = async (): Promise<string> =>
  (
    await database.owner.query(
      `select key_id from projects.api_keys where project_id = $1 and kind = 'server'`,
      [api.project.project_id],
    )
  ).rows[0].key_id;

test('what is audited is what changes something and takes a server key', () => {
  expect(changing.length).toBeGreaterThan(30);
  expect(
    others
      .filter(({ method }) => method !== 'GET')
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual([
    '/segment/v1/b',
    '/segment/v1/batch',
    '/segment/v1/{call}',
    '/v1/events',
    '/v1/events/batch',
    '/v1/identify',
    '/v1/projects/{project_id}/template-previews',
    '/v1/projects/{project_id}/templates/{id}/preview',
    '/v1/segment-previews',
    '/v1/webhooks/{slug}/{project_id}',
    '/webhooks/smtp/{project_id}',
  ]);
});

describe.each(named(changing))('%s', (_name, one) => {
  test('one entry says which key did what, on what, by which request; a refused one none', async () => {
    await makeShownProject(database, api, one);
    const before = (await read()).length;
    const { headers } = await callAsShown(one, api);
    const entries = (await read()).slice(before);
    expect(entries).toHaveLength(1);
    const [entry] = entries;
    expect(entry).toMatchObject({
      actor_kind: 'key',
      actor_id: await keyId(),
      action: `${one.method} ${one.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      request_id: headers.get('x-request-id'),
    });
    for (const id of Object.values(entry?.targets ?? {})) expect(id).toMatch(/^[\da-f-]{36}$/);
    if (one.path.includes('{id}') && toShown(one, api.project).path.includes(SHOWN_ID))
      expect(entry?.targets).toMatchObject({ id: SHOWN_ID });

    const { project_id } = api.project;
    const { path, call } = toShown(one, api.project);
    const refused = { ...call, headers: { ...call.headers, authorization: 'Bearer none' } };
    expect((await api.call(one.method, path, refused)).status).toBe(401);
    if (errorsOf(document, one.operation).some(({ names }) => names.includes('invalid_request'))) {
      const { status } = await api.call(one.method, `${path}?no_such=1`, call);
      expect(status).toBeGreaterThanOrEqual(400);
    }
    expect(api.project.project_id).toBe(project_id);
    expect(await read()).toHaveLength(before + 1);
  });
});

describe.each(named(others))('%s', (_name, one) => {
  test('leaves no entry', async () => {
    await findShownProject(one);
    const before = await read();
    await callAsShown(one, api);
    expect(await read()).toEqual(before);
  });
});

const naming = endpoints.filter(
  ({ path, operation }) =>
    /\{(?:id|email|project_id)\}/.test(path) && JSON.stringify(operation.security) !== '[]',
);

describe.each(named(naming))('%s', (_name, one) => {
  test('answers the key of another project as if there were nothing, and changes nothing there', async () => {
    await findShownProject(one);
    const stranger = await createProject(database.deps, 'stranger');
    const { path, call } = toShown(one, { ...stranger, project_id: api.project.project_id });
    const before = await readRows(database, api.project.project_id);
    const foreign = await api.call(one.method, path, call);
    expect(await readRows(database, api.project.project_id)).toEqual(before);

    const nowhere = path.replace(SHOWN_ID, newId()).replace(api.project.project_id, newId());
    const unknown = await api.call(one.method, nowhere, call);
    const plain = ({ status, body }: typeof foreign) => [
      status,
      JSON.stringify({ ...body, request_id: '' }).replaceAll(/[\da-f-]{36}/g, 'id'),
    ];
    expect(plain(foreign)).toEqual(plain(unknown));
  });
});
