import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { pageOf, pageQuery, readCursor, toPage } from '../base/page.ts';
import { route } from '../base/route.ts';
import { SUPPRESSION_REASONS } from './queries.ts';
import { listSuppressed } from './suppression.ts';
import type { Listed } from './suppression.ts';

const Suppression = z.strictObject({
  email: z.string().nullable(),
  reason: z.enum(SUPPRESSION_REASONS),
  source: z.string(),
  created_at: z.iso.datetime(),
});

const Position = z.tuple([z.iso.datetime(), z.string()]);

const toSuppression = ({ email, reason, source, suppressed_at }: Listed) => ({
  email,
  reason,
  source,
  created_at: suppressed_at.toISOString(),
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
      inProject(deps, caller.projectId, async (scope) => {
        const position = readCursor(Position, query.cursor);
        const before = position && {
          suppressedAt: new Date(position[0]),
          addressKey: Buffer.from(position[1], 'base64url'),
        };
        const rows = await listSuppressed(scope, { limit: query.limit + 1, before });
        return toPage(rows, query.limit, {
          item: toSuppression,
          position: (row) => [
            row.suppressed_at.toISOString(),
            row.address_key.toString('base64url'),
          ],
        });
      }),
  }),
];
