import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { giveHints } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import * as quotas from '../../src/quotas/quotas.ts';
import * as segments from '../../src/segments/segments.ts';

const Payload = z.strictObject({ project_id: z.uuid() });

/** Processes accepted events. Safe to run twice: it deletes the note of an event in the transaction of its effects. */
export default sharedTask(Payload, async ({ project_id: projectId }, deps) => {
  const hints = await ingest.processFlushes(deps, projectId, {
    process: async (scope, flushIds) => {
      const brought = await profiles.seeEvents(scope, flushIds, await profiles.countErased(scope));
      const { started, hints } = await automations.startRuns(scope, flushIds);
      const counted = await segments.countEvents(scope, flushIds);
      return { started, brought, hints: [...hints, ...counted] };
    },
    finish: async (scope, { started, brought, hints }) => {
      const advanced = await automations.advanceStarted(scope, started);
      await quotas.countBrought(scope, brought);
      return [...hints, ...advanced];
    },
  });
  await giveHints(deps, hints);
});
