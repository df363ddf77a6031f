import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { sharedTask } from '../../src/base/task.ts';

const Payload = z.strictObject({ project_id: z.uuid(), profile_id: z.uuid() });

/** Compares the runs of a person after a link or an undo. Safe to repeat. */
export default sharedTask(Payload, ({ project_id, profile_id }, deps) =>
  automations.compareRuns(deps, { projectId: project_id, profileId: profile_id, lane: 'server' }),
);
