import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { metricsOf } from '../base/metrics.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import type { RawInbound } from '../base/route.ts';
import { UNITS } from '../base/work_units.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Posted, ReadError, ReadNotice, ReadResult } from './dialects/dialect.ts';
import type { Source } from './dialects/dialects.ts';
import { record } from './record.ts';
import type { Recorded } from './record.ts';

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

/** Returns the answer to a post: what it held, and what became of it. */
export const toReceived = (
  { notices, errors, asideCount = 0 }: ReadResult,
  recorded: Recorded,
): Received => ({
  received: notices.length + errors.length + asideCount,
  ...recorded,
  ignored: recorded.ignored + asideCount,
  errors: errors.slice(0, ISSUES_MAX),
});

const MS_PER_SECOND = 1_000;

const measure = (
  deps: Deps,
  source: Source,
  notices: readonly ReadNotice[],
  { accepted, duplicates, ignored }: Recorded,
): void => {
  const metrics = metricsOf(deps);
  for (const [result, count] of Object.entries({ accepted, duplicates, ignored }))
    metrics.notices.inc({ source, result }, count);
  for (const { occurredAt } of notices)
    metrics.lag.observe({ source }, Math.max(0, Date.now() - occurredAt.getTime()) / MS_PER_SECOND);
};

/** How many feedback events one transaction stores: each locks an address until it commits. */
export const STORED_AT_ONCE_MAX = 500;

const inParts = (notices: readonly ReadNotice[]): (readonly ReadNotice[])[] => {
  const parts: (readonly ReadNotice[])[] = [];
  for (let from = 0; from === 0 || from < notices.length; from += STORED_AT_ONCE_MAX)
    parts.push(notices.slice(from, from + STORED_AT_ONCE_MAX));
  return parts;
};

const add = (a: Recorded, b: Recorded): Recorded => ({
  accepted: a.accepted + b.accepted,
  duplicates: a.duplicates + b.duplicates,
  ignored: a.ignored + b.ignored,
});

type Admit = (scope: Scope) => Promise<boolean>;

/**
 * Stores events with their effects, in parts that each commit. `admit` runs with the last part: after a failure in
 * between the post counts as new when it comes again, and the parts that are stored count as duplicates.
 */
const recordParts = async (
  { deps, projectId, source }: Post,
  notices: readonly ReadNotice[],
  admit: Admit,
): Promise<{ recorded: Recorded; isNew: boolean }> => {
  const parts = inParts(notices);
  let recorded: Recorded = { accepted: 0, duplicates: 0, ignored: 0 };
  let isNew = true;
  for (const [nth, part] of parts.entries()) {
    const isLast = nth === parts.length - 1;
    const one = await inProject(deps, projectId, async (scope) => {
      if (isLast) isNew = await admit(scope);
      return isNew ? record(scope, source, part) : AGAIN;
    });
    recorded = add(recorded, one);
  }
  return { recorded, isNew };
};

/** Stores events with their effects before the answer: nothing waits in memory behind a 200. */
export const take = async (post: Post, result: ReadResult, admit: Admit): Promise<Received> => {
  const { deps, projectId, source, charge } = post;
  charge(result.notices.map(() => ({ units: UNITS.notice })));
  const { recorded, isNew } = await recordParts(post, result.notices, admit);
  if (recorded.accepted > 0) ingest.wake(deps, projectId);
  measure(deps, source, result.notices, recorded);
  // By its place and our words alone: what the provider wrote is about a person.
  if (result.errors.length > 0)
    deps.log.warn(
      { project_id: projectId, source, errors: result.errors.length },
      'not understood',
    );
  return toReceived(isNew ? result : { ...result, asideCount: 0 }, recorded);
};
