import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { PAGE_ITEMS_MAX } from '../base/page.ts';
import { pagesOf } from '../base/pages.ts';
import type { ExportSection } from '../base/whole_person.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow } from '../identity/identity.ts';
import * as ingest from '../ingest/ingest.ts';
import { listTraits } from './erase_queries.ts';
import { toLink } from './link.ts';
import { Link, TimelineEntry } from './schema.ts';
import { pageTimeline } from './timeline.ts';

const Identifier = z.strictObject({ kind: z.enum(['external', 'anonymous']), value: z.string() });

/** Every trait as each identity was told it, and by what kind of key: the profile shows the winner of each. */
const traitSection: ExportSection = {
  name: 'traits',
  item: z
    .strictObject({
      identifier: Identifier,
      key: z.string(),
      value: z.unknown(),
      set_at: z.iso.datetime(),
      authority: z.enum(['publishable', 'server']),
    })
    .meta({
      examples: [
        {
          identifier: { kind: 'external', value: 'ann' },
          key: 'first_name',
          value: 'Ann',
          set_at: '2026-01-31T12:00:00.000Z',
          authority: 'server',
        },
      ],
    }),
  about: 'Every trait as each identifier was told it; the profile shows the winner of each.',
  pages: async function* ({ identities }, read) {
    for (const { identity_id, kind, value } of identities) {
      const traits = await read((scope) => listTraits(scope, identity_id));
      yield traits.map(({ key, value: told, set_at, authority }) => ({
        identifier: { kind, value },
        key,
        value: told,
        set_at: set_at.toISOString(),
        authority,
      }));
    }
  },
};

/** Every link that one of the person's identities took part in, whatever became of it. */
const linkSection: ExportSection = {
  name: 'links',
  item: Link,
  about: 'Every link that joined the person’s identifiers, was undone, or was refused.',
  pages: async function* ({ profileIds }, read) {
    const seen = new Set<string>();
    for (const profileId of profileIds) {
      const pages = pagesOf<LinkRow>(PAGE_ITEMS_MAX, (last) =>
        read((scope) =>
          identity.listLinks(scope, {
            limit: PAGE_ITEMS_MAX,
            beforeId: last?.link_id ?? null,
            profileId,
            status: null,
          }),
        ),
      );
      for await (const page of pages) {
        const unseen = page.filter(({ link_id }) => !seen.has(link_id));
        for (const { link_id } of unseen) seen.add(link_id);
        yield unseen.map(toLink);
      }
    }
  },
};

/** What the person's identify calls were known by: they are no events. */
const identifySection: ExportSection = {
  name: 'identify_message_ids',
  item: z.strictObject({ message_id: z.string(), occurred_at: z.iso.datetime() }).meta({
    examples: [{ message_id: 'identify-ann-1', occurred_at: '2026-01-31T12:00:00.000Z' }],
  }),
  about: 'What calls of identify were known by, where they said so.',
  pages: async function* ({ identities }, read) {
    for (const { identity_id } of identities) {
      const pages = pagesOf<ingest.Claimed>(PAGE_ITEMS_MAX, (last) =>
        read((scope) =>
          ingest.listClaimedMessages(scope, identity_id, {
            after: last?.message_id ?? null,
            limit: PAGE_ITEMS_MAX,
          }),
        ),
      );
      for await (const page of pages)
        yield page.map((one) => ({ ...one, occurred_at: one.occurred_at.toISOString() }));
    }
  },
};

type Entries = Awaited<ReturnType<typeof pageTimeline>>['items'];

const withMessageIds = async (scope: Scope, entries: Entries) => {
  const times = entries.map(({ occurred_at }) => Date.parse(occurred_at));
  const ids = entries.map(({ id }) => id);
  const known = await ingest.listMessageIds(scope, ids, [
    new Date(Math.min(...times)),
    new Date(Math.max(...times)),
  ]);
  const messageOf = new Map(known.map(({ event_id, message_id }) => [event_id, message_id]));
  return entries.map((entry) => ({ ...entry, message_id: messageOf.get(entry.id) ?? null }));
};

const entryExamples = ((TimelineEntry.meta()?.examples ?? []) as object[]).map((entry) => ({
  ...entry,
  message_id: 'sign-up-ann-1',
}));

/** The whole timeline, newest first. */
export const eventSection = (profileId: string): ExportSection => ({
  name: 'events',
  item: TimelineEntry.extend({ message_id: z.string().nullable() }).meta({
    examples: entryExamples,
  }),
  about: 'The whole timeline, newest first.',
  pages: async function* (_person, read) {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { limit: PAGE_ITEMS_MAX, cursor };
      const page = await read(async (scope) => {
        const { items, next_cursor } = await pageTimeline(scope, profileId, query);
        const entries = items.length === 0 ? [] : await withMessageIds(scope, items);
        return { entries, next_cursor };
      });
      yield page.entries;
      cursor = page.next_cursor;
    }
  },
});

export const ownSections: readonly ExportSection[] = [traitSection, linkSection, identifySection];
