import { accept } from '../../src/ingest/ingest.ts';
import { create, ordered, refreshOn } from '../segments/recount.ts';
import type { TestDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { connectAnalyst, newProject } from './connect_analyst.ts';

const fill = async (database: TestDatabase, projectId: string): Promise<string> => {
  const { segment_id } = await create(database, projectId, ordered());
  await refreshOn(database, projectId);
  const events = [{ event: 'order_completed', external_id: 'ann' }];
  await accept(database.deps, { projectId, kind: 'server' }, { events });
  await workOn(database, projectId);
  await refreshOn(database, projectId);
  return segment_id;
};

/** A segment with one member, who came when it was there; another project has one too. */
export const oneSegment = async (database: TestDatabase) => {
  const projectId = await newProject(database);
  const segmentId = await fill(database, projectId);
  await fill(database, await newProject(database));
  const { rows } = await database.owner.query<{ profile_id: string }>(
    'select profile_id from profiles.profiles where project_id = $1',
    [projectId],
  );
  const analyst = await connectAnalyst(database, projectId);
  return { analyst, segmentId, profileId: rows[0]?.profile_id };
};
