import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { task } from '../../src/base/task.ts';
import { openCredential as open, sealCredential as seal } from '../../src/providers/providers.ts';

const Payload = z.strictObject({ project_id: z.uuid(), endpoint_id: z.uuid() });

/** Has the deliveries of an endpoint made, beside the job. Safe to repeat: each is claimed under its row's lock. */
export default task(Payload, ({ project_id: projectId, endpoint_id: endpointId }, deps) => {
  automations.deliverWebhooks(deps, { seal, open }, { projectId, endpointId });
  return Promise.resolve();
});
