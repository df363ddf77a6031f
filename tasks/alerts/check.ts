import { z } from 'zod';
import { inProject } from '../../src/base/db.ts';
import { task } from '../../src/base/task.ts';
import * as automations from '../../src/automations/automations.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import * as feedback from '../../src/feedback/feedback.ts';
import { everyProject } from '../../src/projects/projects.ts';

/**
 * Looks at what no transaction changes: rates, topics whose time to be approved is over, deliveries that wait for too
 * long. Safe to repeat: what is open, resolved or dropped is so once.
 */
export default task(z.unknown(), async (_payload, deps) => {
  for await (const projectId of everyProject(deps)) {
    if (deps.signal.aborted) break;
    try {
      await inProject(deps, projectId, delivery.checkRates);
      await inProject(deps, projectId, feedback.expireTopics);
      const { dropped } = await automations.pruneDeliveries(deps, projectId);
      if (dropped > 0) deps.log.warn({ project_id: projectId, dropped }, 'webhooks dropped');
    } catch (err) {
      deps.log.warn({ err, project_id: projectId }, 'the alerts of a project were not checked');
    }
  }
});
