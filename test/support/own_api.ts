import { beforeEach } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { testApi } from './api.ts';
import type { TestApi } from './api.ts';
import type { TestDatabase } from './database.ts';

/** The API, with a new project for each test. */
export const ownApi = (database: TestDatabase): TestApi => {
  const api = testApi(database);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'its own');
  });
  return api;
};
