import type { Deps } from '../../src/base/deps.ts';
import processEvents from '../../tasks/ingest/process_events.ts';
import { NEVER } from './database.ts';
import type { TestDatabase } from './database.ts';

/** What a job is given besides the rooms' own deps, by a worker that nobody stops. */
export const asWorker = ({ deps, owner }: TestDatabase, given: Partial<Deps> = {}) => ({
  ...deps,
  ...given,
  workerId: () => 'test',
  jobs: owner,
  signal: NEVER,
});

/** Does with a project's accepted events what a worker does in one job. */
export const workOn = async (
  database: TestDatabase,
  projectId: string,
  given: Partial<Deps> = {},
): Promise<void> => {
  await processEvents(asWorker(database, given))({ project_id: projectId }, undefined as never);
};
