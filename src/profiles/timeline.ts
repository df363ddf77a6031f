import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { toEntry } from '../ingest/ingest.ts';
import { listTimeline } from './profiles.ts';
import type { Page } from './queries.ts';

const Position = z.tuple([z.iso.datetime(), z.uuid()]);

/** What of a timeline is asked for: one event name, a stretch of time (RFC 3339, exclusive), or all. */
export type TimelineQuery = PageQuery & Omit<Page, 'limit' | 'position'>;

/** One page of a profile's timeline as the API shows it, newest first. */
export const pageTimeline = async (scope: Scope, profileId: string, query: TimelineQuery) => {
  const position = readCursor(Position, query.cursor);
  const entries = await listTimeline(scope, profileId, {
    ...query,
    limit: query.limit + 1,
    position: position && { occurredAt: new Date(position[0]), eventId: position[1] },
  });
  return toPage(entries, query.limit, {
    item: toEntry,
    position: (entry) => [entry.occurred_at.toISOString(), entry.event_id],
  });
};
