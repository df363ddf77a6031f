import { z } from 'zod';
import { pagesOf } from '../base/pages.ts';
import type { ExportSection } from '../base/whole_person.ts';
import { listNotices } from './queries.ts';
import type { NoticeOfAddress } from './queries.ts';

const EXPORT_NOTICES_MAX = 200;

const ExportedNotice = z.strictObject({
  source: z.string(),
  kind: z.string(),
  bounce_type: z.string().nullable(),
  send_id: z.uuid().nullable(),
  occurred_at: z.iso.datetime(),
  received_at: z.iso.datetime(),
  reason: z.string().nullable(),
});

const EXAMPLE: z.input<typeof ExportedNotice> = {
  source: 'smtp',
  kind: 'bounced',
  bounce_type: 'hard',
  send_id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
  occurred_at: '2026-01-31T12:00:04.000Z',
  received_at: '2026-01-31T12:00:05.000Z',
  reason: '550 5.1.1 user unknown',
};

const toExported = (notice: NoticeOfAddress): z.input<typeof ExportedNotice> => ({
  source: notice.source,
  kind: notice.kind,
  bounce_type: notice.bounce_type,
  send_id: notice.send_id,
  occurred_at: notice.occurred_at.toISOString(),
  received_at: notice.received_at.toISOString(),
  reason: notice.reason,
});

/** What providers told about a person's addresses. */
export const noticeSection: ExportSection = {
  name: 'feedback',
  item: ExportedNotice.meta({ examples: [EXAMPLE] }),
  about: "What providers told about mail to the person's addresses.",
  pages: async function* ({ addressKeys }, read) {
    for (const addressKey of addressKeys) {
      const pages = pagesOf<NoticeOfAddress>(EXPORT_NOTICES_MAX, (last) =>
        read((scope) =>
          listNotices(scope, addressKey, {
            after: last && [last.source, last.dedupe_key],
            limit: EXPORT_NOTICES_MAX,
          }),
        ),
      );
      for await (const notices of pages) yield notices.map(toExported);
    }
  },
};
