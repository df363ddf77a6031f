import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { metricsOf } from '../base/metrics.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import type { RawInbound } from '../base/route.ts';
import { UNITS } from '../base/work_units.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Source } from './adapters.ts';
import { record } from './feedback.ts';
import type { Recorded } from './feedback.ts';
import type { Notice, Posted, ReadError, ReadResult } from './notice.ts';

export type Received = Recorded & {
  received: number;
  errors: readonly ReadError[];
};

/** What one post is about, once its project is known. */
export type Post = {
  deps: Deps;
  projectId: string;
  source: Source;
  posted: Posted;
  headers: RawInbound['headers'];
  /** Whether it brought the project's webhook token. */
  isTokened: boolean;
  /** What is known of a post when it is refused. */
  seen: Seen;
  charge: RawInbound['charge'];
};

/** The topic that signed a post, once that is proven; and whether its request is listed for approval. */
export type Seen = { topicArn: string | null; isListed: boolean };

export const AGAIN: Recorded = { accepted: 0, duplicates: 1, ignored: 0 };

export const toReceived = ({ notices, errors }: ReadResult, recorded: Recorded): Received => ({
  received: notices.length + errors.length,
  ...recorded,
  errors: errors.slice(0, ISSUES_MAX),
});

const MS_PER_SECOND = 1_000;

const measure = (
  deps: Deps,
  source: Source,
  notices: readonly Notice[],
  { accepted, duplicates, ignored }: Recorded,
): void => {
  const metrics = metricsOf(deps);
  for (const [result, count] of Object.entries({ accepted, duplicates, ignored }))
    metrics.notices.inc({ source, result }, count);
  for (const { occurredAt } of notices)
    metrics.lag.observe({ source }, Math.max(0, Date.now() - occurredAt.getTime()) / MS_PER_SECOND);
};

/** Stores notices with their effects before the answer: nothing waits in memory behind a 200. */
export const take = async (
  { deps, projectId, source, charge }: Post,
  result: ReadResult,
  admit: (scope: Scope) => Promise<boolean>,
): Promise<Received> => {
  charge(result.notices.map(() => ({ units: UNITS.notice })));
  const recorded = await inProject(deps, projectId, async (scope) =>
    (await admit(scope)) ? record(scope, source, result.notices) : AGAIN,
  );
  if (recorded.accepted > 0) ingest.wake(deps, projectId);
  measure(deps, source, result.notices, recorded);
  // By its place and our words alone: what the provider wrote is about somebody.
  if (result.errors.length > 0)
    deps.log.warn(
      { project_id: projectId, source, errors: result.errors.length },
      'not understood',
    );
  return toReceived(result, recorded);
};
