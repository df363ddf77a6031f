// A cursor is a position, not a permission: a key that sends one sees what it may see, and nothing else.
import { beforeAll, describe, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const LISTS = [
  '/v1/segments',
  '/v1/suppressions',
  '/v1/unsubscribes',
  '/v1/identity-links',
  '/v1/profiles/external_id:ann/events',
];
const ask = (project: NewProject, path: string, body?: object) =>
  api.call(body ? 'POST' : 'GET', path, {
    key: project.server_key,
    ...(body ? { body } : {}),
  });

/** Three of everything that is listed. */
const fill = async (name: string): Promise<NewProject> => {
  const project = await createProject(database.deps, name);
  const where = { kind: 'trait', trait: 'plan', test: { is: 'exists' } };
  await ask(project, '/v1/identify', { external_id: 'ann' });
  for (const at of [1, 2, 3]) {
    const email = `${name}-${at}@example.com`;
    await ask(project, '/v1/segments', { name: `${name} ${at}`, definition: { where } });
    await ask(project, '/v1/suppressions', { email });
    await ask(project, '/v1/unsubscribes', { email });
    await ask(project, '/v1/identify/alias', { anonymous_id: `${name}-${at}`, external_id: 'ann' });
    const event = { event: 'order_paid', external_id: 'ann', properties: { of: name } };
    await ask(project, '/v1/events', event);
  }
  return project;
};

let [mine, theirs]: NewProject[] = [];
beforeAll(async () => {
  [mine, theirs] = [await fill('mine'), await fill('theirs')];
});
const firstOf = async (project: NewProject | undefined, path: string) => {
  const { body } = await ask(project as NewProject, `${path}?limit=1`);
  return body as { items: object[]; next_cursor: string };
};

describe.each(LISTS)('%s', (path) => {
  test('a cursor of another project shows nothing of that project', async () => {
    const { items, next_cursor } = await firstOf(theirs, path);
    expect(items).toHaveLength(1);
    const all = JSON.stringify((await ask(theirs as NewProject, path)).body);
    const page = (await ask(mine as NewProject, `${path}?cursor=${next_cursor}`)).body;
    const own = JSON.stringify((await ask(mine as NewProject, path)).body);
    for (const item of page.items as object[]) {
      expect(own).toContain(JSON.stringify(item));
      expect(all).not.toContain(JSON.stringify(item));
    }
  });

  test('a cursor of another list shows nothing but this list, or is refused', async () => {
    const own = JSON.stringify((await ask(mine as NewProject, path)).body);
    for (const other of LISTS) {
      const { next_cursor } = await firstOf(mine, other);
      const { status, body } = await ask(mine as NewProject, `${path}?cursor=${next_cursor}`);
      if (status === 400) expect(body).toMatchObject({ error: 'invalid_request' });
      else for (const item of body.items as object[]) expect(own).toContain(JSON.stringify(item));
    }
  });
});
