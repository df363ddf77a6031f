import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import { pageSuppressions } from './listing.ts';
import { SUPPRESSION_REASONS } from './queries.ts';

const Suppression = z.strictObject({
  email: z.string().nullable(),
  reason: z.enum(SUPPRESSION_REASONS),
  source: z.string(),
  created_at: z.iso.datetime(),
});

export const suppressionRoutes = [
  route({
    method: 'GET',
    path: '/v1/suppressions',
    access: 'server',
    summary: 'List suppressed addresses, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(Suppression),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageSuppressions(scope, query)),
  }),
];
