import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { task } from '../../src/base/task.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import * as feedback from '../../src/feedback/feedback.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import * as segments from '../../src/segments/segments.ts';

const Payload = z.strictObject({ project_id: z.uuid(), erasure_id: z.uuid() });

/** Erases a person, wherever something of them is. Safe to run twice: what is erased is not there any more. */
export default task(Payload, ({ project_id, erasure_id }, deps) =>
  profiles.erase(deps, {
    projectId: project_id,
    erasureId: erasure_id,
    erasers: [segments.eraser, automations.eraser, delivery.eraser, feedback.eraser],
    signal: deps.signal,
  }),
);
