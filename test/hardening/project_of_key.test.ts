// Whose project a request is about is said by its key. Whoever names another one is refused, or not heard.
import { beforeAll, expect, test } from 'vitest';
import type { JsonRoute, Route } from '../../src/base/route.ts';
import { routes } from '../../src/http/routes.ts';
import { createProject } from '../../src/projects/projects.ts';
import { applyQuotas } from '../../src/quotas/quotas.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { keyOf, nameOf, pathOf } from '../http/samples.ts';
import { listTenantTables } from '../support/catalogue.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
let theirs: NewProject;
beforeAll(async () => {
  theirs = await createProject(database.deps, 'theirs');
});

const isJson = (route: Route): route is JsonRoute => route.access !== 'webhook';
const writing = routes
  .filter(isJson)
  .filter(({ method }) => method === 'POST' || method === 'PATCH');

/** For an unknown member, or because the example names nothing here. */
const REFUSED = [400, 404];

const NAMES = ['project_id', 'projectId', 'project', 'tenant_id'];

/** Everything that another project holds, as text. */
const read = async (projectId: string): Promise<string> => {
  const texts: string[] = [];
  for (const table of await listTenantTables(database.owner)) {
    const { rows } = await database.owner.query<{ row: string }>(
      `select t::text as row from ${table} as t where project_id = $1 order by 1`,
      [projectId],
    );
    texts.push(table, ...rows.map(({ row }) => row));
  }
  return texts.join('\n');
};

/** An example of the route's body, as its documents show it. */
const exampleOf = ({ body }: JsonRoute): object => {
  const [example] = (body?.meta()?.['examples'] ?? [{}]) as object[];
  return example ?? {};
};

type Given = { body?: object; headers?: Record<string, string>; query?: string };

/** One request of a route, by a project's own key, with the example of its body. */
const ask = async (route: JsonRoute, project: NewProject, given: Given = {}): Promise<number> => {
  const { query = '', ...rest } = given;
  const from = { ...api, project };
  const path = `${pathOf(route, from)}${query}`;
  const asked = { key: keyOf(route, from), body: exampleOf(route), ...rest };
  return (await api.call(route.method, path, asked)).status;
};

test('a body, a query and a header that name another project change nothing there', async () => {
  // Whomever the examples speak of is there: the other project has said it all itself.
  const taken: string[] = [];
  for (const route of writing) if ((await ask(route, theirs)) < 300) taken.push(nameOf(route));
  expect(taken).toEqual(expect.arrayContaining(['POST /v1/events', 'POST /v1/identify']));
  await api.processEvents();
  // What their keys stored is counted a little later.
  await applyQuotas(database.deps, theirs.project_id);
  const before = await read(theirs.project_id);

  const ours = api.project;
  const named = Object.fromEntries(NAMES.map((name) => [name, theirs.project_id]));
  const headers = { 'x-project-id': theirs.project_id, 'x-trunkline-project': theirs.project_id };
  let refused = 0;
  for (const route of writing) {
    const body = { ...exampleOf(route), ...named };
    const byBody = await ask(route, ours, { body });
    // What other libraries send may hold anything; everywhere else an unknown member is named.
    if (byBody === 400) refused += 1;
    if (route.body && !route.takesWriteKey)
      expect([nameOf(route), REFUSED]).toEqual([nameOf(route), expect.arrayContaining([byBody])]);
    const byQuery = await ask(route, ours, { query: `?project_id=${theirs.project_id}` });
    expect([nameOf(route), REFUSED]).toEqual([nameOf(route), expect.arrayContaining([byQuery])]);
    // Headers of no meaning are passed over: it is as if they were not there.
    const [without, byHeader] = [await ask(route, ours), await ask(route, ours, { headers })];
    expect([nameOf(route), byHeader]).toEqual([nameOf(route), without]);
  }
  await api.processEvents();
  expect(refused).toBeGreaterThan(10);
  expect(await read(theirs.project_id)).toBe(before);
});
