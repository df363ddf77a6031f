import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { route } from '../base/route.ts';
import { findSend } from '../delivery/delivery.ts';
import { explainSend } from './explain_send.ts';
import { SendExplanation } from './send_explanation.ts';

const SendParams = z.object({ id: z.uuid().meta({ description: "The send's id." }) });

/** What can be asked of sends that only their automations know. */
export const sendExplainRoutes = [
  route({
    method: 'GET',
    path: '/v1/sends/:id/explain',
    access: 'server',
    summary: 'Why somebody was, or was not, sent one mail.',
    description:
      'Every decision in order: the trigger, what the run decided, rendering, each hand-off, what its provider makes ' +
      'it wait for, feedback; and the first that stopped it. Of an erased person, and of a deleted automation, the ' +
      'run’s part is gone.',
    params: SendParams,
    status: 200,
    answer: SendExplanation,
    find: ({ deps, caller, params }) => {
      const named = SendParams.safeParse(params);
      if (!named.success) return Promise.resolve(null);
      return inProject(deps, caller.projectId, (scope) => findSend(scope, named.data.id));
    },
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => explainSend(scope, found.send_id)),
  }),
];
