import { inProject } from '../../src/base/db.ts';
import { requestErasure } from '../../src/profiles/erasures.ts';
import erasePerson from '../../tasks/profiles/erase_person.ts';
import type { TestDatabase } from './database.ts';
import { asWorker } from './work_on.ts';

/** Does with an erasure what a worker does. */
export const runErasure = async (
  database: TestDatabase,
  projectId: string,
  erasureId: string,
): Promise<void> => {
  await erasePerson(asWorker(database))(
    { project_id: projectId, erasure_id: erasureId },
    undefined as never,
  );
};

/** Asks for the erase of a profile, as the endpoint does; answers the erasure's id. */
export const askToErase = async (
  database: TestDatabase,
  projectId: string,
  profileId: string,
): Promise<string> => {
  const erasure = await inProject(database.deps, projectId, (scope) =>
    requestErasure(scope, profileId, null),
  );
  return erasure.erasure_id;
};

/** The whole erase of a profile. */
export const eraseNow = async (
  database: TestDatabase,
  projectId: string,
  profileId: string,
): Promise<string> => {
  const erasureId = await askToErase(database, projectId, profileId);
  await runErasure(database, projectId, erasureId);
  return erasureId;
};
