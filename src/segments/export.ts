import { z } from 'zod';
import { pagesOf } from '../base/pages.ts';
import type { ExportSection } from '../base/whole_person.ts';
import { listMembershipsOf } from './erase_queries.ts';
import { CAUSES } from './member_queries.ts';
import { listHistoryOf } from './read_queries.ts';
import type { Told } from './read_queries.ts';

const EXPORT_HISTORY_MAX = 500;

const Timestamp = z.iso.datetime();
const SEGMENT_ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const NOW = '2026-01-31T12:00:05.000Z';

const Membership = z.strictObject({
  segment_id: z.uuid(),
  segment: z.string(),
  entered_at: Timestamp,
});

/** The segments that a person is in. */
export const memberSection: ExportSection = {
  name: 'segments',
  item: Membership.meta({
    examples: [{ segment_id: SEGMENT_ID, segment: 'New on Pro', entered_at: NOW }],
  }),
  about: 'The segments that they are in, and since when.',
  pages: async function* ({ profileIds }, read) {
    for (const profileId of profileIds) {
      const rows = await read((scope) => listMembershipsOf(scope, profileId));
      yield rows.map(({ segment_id, name, entered_at }) => ({
        segment_id,
        segment: name,
        entered_at: entered_at.toISOString(),
      }));
    }
  },
};

const Line = z.strictObject({
  segment_id: z.uuid(),
  version: z.int(),
  change: z.enum(['entered', 'left']),
  cause: z.enum(CAUSES),
  changed_at: Timestamp,
});

const toLine = ({ segment_id, version, change, cause, changed_at }: Told) => ({
  segment_id,
  version,
  change,
  cause,
  changed_at: changed_at.toISOString(),
});

/** When a person entered and left segments. */
export const historySection: ExportSection = {
  name: 'segment_history',
  item: Line.meta({
    examples: [
      { segment_id: SEGMENT_ID, version: 1, change: 'entered', cause: 'change', changed_at: NOW },
    ],
  }),
  about: 'When they entered and left segments, and why.',
  pages: async function* ({ profileIds }, read) {
    for (const profileId of profileIds) {
      const pages = pagesOf<Told>(EXPORT_HISTORY_MAX, (last) =>
        read((scope) =>
          listHistoryOf(scope, profileId, { after: last?.entry ?? 0, limit: EXPORT_HISTORY_MAX }),
        ),
      );
      for await (const page of pages) yield page.map(toLine);
    }
  },
};
