import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { Moment } from '../base/moment.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import { listSends } from './log_queries.ts';
import { pageSends, Send, SHOWN_STATUSES, toSend } from './send_log.ts';

const SendParams = z.object({ id: z.uuid().meta({ description: "The send's id." }) });
const SendQuery = z.strictObject({
  ...pageQuery,
  profile_id: z.uuid().optional().meta({ description: 'Only sends to this profile.' }),
  automation_id: z.uuid().optional().meta({ description: 'Only sends of this automation.' }),
  email: z.string().min(1).optional().meta({ description: 'Only sends to this address.' }),
  status: z.enum(SHOWN_STATUSES).optional().meta({ description: 'Only sends that stand so now.' }),
  after: Moment.optional().meta({ description: 'Only what was queued later than this moment.' }),
});

export const deliveryRoutes = [
  route({
    method: 'GET',
    path: '/v1/sends',
    access: 'server',
    summary: 'The send log, newest first.',
    query: SendQuery,
    status: 200,
    answer: pageOf(Send),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageSends(scope, query)),
  }),
  route({
    method: 'GET',
    path: '/v1/sends/:id',
    access: 'server',
    summary: 'Read one send.',
    params: SendParams,
    status: 200,
    answer: Send,
    find: async ({ deps, caller, params }) => {
      const named = SendParams.safeParse(params);
      if (!named.success) return null;
      const [row] = await inProject(deps, caller.projectId, (scope) =>
        listSends(scope, { limit: 1, sendId: named.data.id }),
      );
      return row ?? null;
    },
    handle: ({ found }) => Promise.resolve(toSend(found)),
  }),
];
