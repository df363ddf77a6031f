// Every route is asked with another project's key, about everything that the first project has. What a route without
// isolation would answer is shown, too: the look finds it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { inProject } from '../../src/base/db.ts';
import type { Deps } from '../../src/base/deps.ts';
import { route } from '../../src/base/route.ts';
import { identify } from '../../src/http/identify.ts';
import { mountRoutes } from '../../src/http/mount.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { listEndpoints } from '../../src/http/openapi_read.ts';
import { routes } from '../../src/http/routes.ts';
import { createProject } from '../../src/projects/projects.ts';
import { listSends } from '../../src/delivery/log_queries.ts';
import { makeShownProject, SHOWN_ID, shownRelay, toShown } from '../http/as_shown.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { readRows } from '../support/rows.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
const endpoints = listEndpoints(makeDocument()).filter(
  ({ operation }) => operation.security?.length,
);

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

/** What only a project's own rows name: its ids, but for the one by which it is asked. */
const listOwn = async (projectId: string): Promise<Set<string>> => {
  const own = new Set(
    (await readRows(database, projectId)).flatMap((row) => row.match(UUID) ?? []),
  );
  own.delete(SHOWN_ID);
  return own;
};

/** What of that is in an answer and was not in the question. */
const findLeaks = (own: ReadonlySet<string>, asked: string, said: string): string[] =>
  [...new Set(said.match(UUID) ?? [])].filter((id) => own.has(id) && !asked.includes(id));

describe.each(endpoints.map((one) => [`${one.method} ${one.path}`, one] as const))(
  '%s',
  (_name, one) => {
    test('answers another project’s key with nothing that the project has', async () => {
      await makeShownProject(database, api, one);
      const theirs = api.project;
      const own = await listOwn(theirs.project_id);
      expect(own.size).toBeGreaterThan(10);
      const stranger = await createProject(database.deps, 'stranger');
      const { call } = toShown(one, stranger);
      // At the paths of the one project and of the other, with the same key.
      for (const project of [theirs, stranger]) {
        const { path } = toShown(one, project);
        const { body } = await api.call(one.method, path, call);
        const asked = `${path} ${JSON.stringify(call)}`;
        expect(findLeaks(own, asked, JSON.stringify(body))).toEqual([]);
      }
    });
  },
);

test('every route with a key is looked at', () => {
  const looked = endpoints.map(
    ({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  );
  const served = routes
    .filter(({ access }) => access !== 'webhook')
    .map(({ method, path }) => `${method} ${path}`);
  expect(served.filter((name) => !looked.includes(name))).toEqual([]);
});

/** Some routes on a port, as the api serves them. */
const serve = async (...those: Parameters<typeof mountRoutes>[2]) => {
  const router = new Router();
  mountRoutes(router, database.deps, those);
  const serveOne = new Koa().use(identify).use(router.routes()).callback();
  const server = createServer((asked, answer) => void serveOne(asked, answer));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
};

const Answered = z.strictObject({ ids: z.array(z.string()) }).meta({ id: 'Leak' });
const declared = { method: 'GET', access: 'server', summary: 'Leak.', status: 200 } as const;

const idsOf = (deps: Deps, projectId: string) =>
  inProject(deps, projectId, async (scope) => ({
    ids: (await listSends(scope, { limit: 1 })).map(({ automation_id }) => automation_id ?? ''),
  }));

test('a route whose project is not that of its key would be found', async () => {
  await makeShownProject(database, api);
  const { project_id } = api.project;
  const own = await listOwn(project_id);
  const stranger = await createProject(database.deps, 'stranger');
  const served = await serve(
    route({
      ...declared,
      path: '/v1/leaks',
      query: z.strictObject({ of: z.string() }),
      answer: Answered,
      handle: ({ deps, query }) => idsOf(deps, query.of),
    }),
  );
  const path = `/v1/leaks?of=${project_id}`;
  const headers = { authorization: `Bearer ${stranger.server_key}` };
  const said = await (await fetch(`${served.url}${path}`, { headers })).text();
  served.close();
  expect(findLeaks(own, path, said)).not.toEqual([]);
});
