import pg from 'pg';
import { afterAll, onTestFinished } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { keepLogin, removeLogin } from '../../src/runtime/analyst_login.ts';
import type { TestDatabase } from '../support/database.ts';

/** A project by its id; keys are made and not needed. */
export const newProject = async ({ deps }: TestDatabase, name = 'test'): Promise<string> =>
  (await createProject(deps, name)).project_id;

const connect = async (database: TestDatabase, projectId: string, name: string) => {
  const { role, password } = await keepLogin(database.owner, { projectId, name });
  const url = new URL(database.url);
  url.username = role;
  url.password = password;
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => {});
  await client.connect();
  return {
    client,
    end: async () => {
      await client.end();
      await removeLogin(database.owner, { projectId, name });
    },
  };
};

/** A connection of an analyst of a project, for one test; roles outlive databases, so the login goes with it. */
export const connectAnalyst = async (
  database: TestDatabase,
  projectId: string,
  name = '',
): Promise<pg.Client> => {
  const { client, end } = await connect(database, projectId, name);
  onTestFinished(end);
  return client;
};

/** The same for all tests of a file: call it where `beforeAll` runs. */
export const keepAnalyst = async (
  database: TestDatabase,
  projectId: string,
): Promise<pg.Client> => {
  const { client, end } = await connect(database, projectId, '');
  ends.push(end);
  return client;
};

const ends: (() => Promise<void>)[] = [];
/** To be called at the top of a file that uses `keepAnalyst`, after `testDatabase()`: hooks run last in, first out. */
export const endAnalysts = (): void => {
  afterAll(async () => {
    for (const end of ends.splice(0)) await end();
  });
};
