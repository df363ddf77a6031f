import { z } from 'zod';
import { hint } from '../../src/base/hints.ts';
import { task } from '../../src/base/task.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import * as feedback from '../../src/feedback/feedback.ts';

const Payload = z.strictObject({ project_id: z.uuid(), provider_id: z.uuid() });

/** One turn of a provider. Safe to run twice: each hand-off is a compare-and-set of its row. */
export default task(Payload, async ({ project_id, provider_id }, deps) => {
  const turn = {
    projectId: project_id,
    providerId: provider_id,
    owner: deps.workerId(),
    signal: deps.signal,
    takeBounce: feedback.takeBounce,
  };
  const isMore = await delivery.sendQueued(deps, turn);
  if (isMore) await hint(deps, delivery.sendHint(project_id, provider_id));
});
