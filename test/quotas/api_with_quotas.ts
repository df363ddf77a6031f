import { afterAll, beforeAll } from 'vitest';
import type { Deps } from '../../src/base/deps.ts';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import type { Answer } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';

/** Rate limits that no test of quotas may reach. */
const NO_RATE_LIMITS = {
  rateLimitPublishable: 0,
  rateLimitAddress: 0,
  unitLimitPublishable: 0,
  unitLimitAddress: 0,
  unitLimitAnonymous: 0,
};

/** An api process of its own: what it knows of keys it has read, or counted itself. */
export const openProcess = async (
  { deps: given }: TestDatabase,
  settings: Partial<Deps['config']> = {},
) => {
  const resources = new Resources();
  const config = { ...given.config, ...NO_RATE_LIMITS, ...settings };
  const deps = { ...given, config, resources };
  const listening = await openApi(deps, { isDraining: false }, true);
  const post = async (
    path: string,
    key: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${listening.port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const close = async (): Promise<void> => {
    await listening.close();
    await resources.close();
  };
  return { post, close, deps };
};
export type Process = Awaited<ReturnType<typeof openProcess>>;

/** The same, open for all tests of a file. */
export const testProcess = (
  database: TestDatabase,
  settings?: Partial<Deps['config']>,
): Process => {
  let opened: Process;
  beforeAll(async () => {
    opened = await openProcess(database, settings);
  });
  afterAll(() => opened.close());
  return {
    post: (...asked) => opened.post(...asked),
    close: () => opened.close(),
    get deps() {
      return opened.deps;
    },
  };
};

export type Given = { newProfiles?: number | null; storedBytes?: number | null };

/** A project with quotas of its own; null is none. */
export const makeLimited = async (
  { deps, owner }: TestDatabase,
  { newProfiles = null, storedBytes = null }: Given,
): Promise<NewProject> => {
  const project = await createProject(deps, 'limited');
  await owner.query(
    `insert into quotas.settings (project_id, new_profiles_per_day, stored_bytes_per_day, updated_at)
    values ($1, $2, $3, now())`,
    [project.project_id, newProfiles, storedBytes],
  );
  return project;
};

/** What the tables say of all keys and days of a project. */
export const countedOf = async ({ owner }: TestDatabase, projectId: string) => {
  const { rows } = await owner.query<{ profiles: number; bytes: number }>(
    `select coalesce(sum(new_profiles), 0)::int as profiles, coalesce(sum(stored_bytes), 0)::int as bytes
    from quotas.key_days where project_id = $1`,
    [projectId],
  );
  return rows[0];
};
