import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import { pageSuppressions } from './listing.ts';
import { SUPPRESSION_REASONS } from './queries.ts';

const Suppression = z
  .strictObject({
    email: z
      .string()
      .nullable()
      .meta({ description: 'The address; null once the person is erased.' }),
    reason: z.enum(SUPPRESSION_REASONS),
    source: z.string().meta({ description: 'Who told us: a webhook, a person.' }),
    created_at: z.iso.datetime(),
  })
  .meta({
    id: 'Suppression',
    description: 'An address that gets no mail of this project any more.',
    examples: [
      {
        email: 'bob@example.com',
        reason: 'hard_bounce',
        source: 'webhook/smtp',
        created_at: '2026-01-31T12:00:05.000Z',
      },
    ],
  });

export const suppressionRoutes = [
  route({
    method: 'GET',
    path: '/v1/suppressions',
    access: 'server',
    summary: 'List suppressed addresses, newest first.',
    description:
      'Asked with `email`, whether that address is: one item, or none. An address is found also after its person ' +
      'was erased.',
    query: z.strictObject({
      ...pageQuery,
      email: z
        .string()
        .min(1, 'must not be empty')
        .optional()
        .meta({ description: 'Only this address, in whatever case.' }),
    }),
    status: 200,
    answer: pageOf(Suppression),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageSuppressions(scope, query)),
  }),
];
