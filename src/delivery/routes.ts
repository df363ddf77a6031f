import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { Moment } from '../base/moment.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import { listSends } from './log_queries.ts';
import { pageSends, Send, SHOWN_STATUSES, toSend } from './send_log.ts';

const SendQuery = z.strictObject({
  ...pageQuery,
  profile_id: z.uuid().optional(),
  automation_id: z.uuid().optional(),
  email: z.string().min(1).optional(),
  status: z.enum(SHOWN_STATUSES).optional(),
  after: Moment.optional(),
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
    status: 200,
    answer: Send,
    find: async ({ deps, caller, params }) => {
      const sendId = z.uuid().safeParse(params['id']);
      if (!sendId.success) return null;
      const [row] = await inProject(deps, caller.projectId, (scope) =>
        listSends(scope, { limit: 1, sendId: sendId.data }),
      );
      return row ?? null;
    },
    handle: ({ found }) => Promise.resolve(toSend(found)),
  }),
];
