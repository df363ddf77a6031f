import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { sharedTask } from '../../src/base/task.ts';

const Payload = z.strictObject({ project_id: z.uuid(), profile_id: z.uuid() });

/** Does the same as `merge_runs` where a page made the link: it has places of its own. Safe to repeat. */
export default sharedTask(Payload, ({ project_id, profile_id }, deps) =>
  automations.compareRuns(deps, { projectId: project_id, profileId: profile_id, lane: 'page' }),
);
