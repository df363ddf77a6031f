import { z } from 'zod';
import { PAGE_ITEMS_MAX } from '../base/page.ts';
import { pagesOf } from '../base/pages.ts';
import type { ExportSection } from '../base/whole_person.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow } from '../identity/identity.ts';
import { listBrowserTraits, listTraits } from './erase_queries.ts';
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

/** Every trait as browsers asserted it of each identity, also where servers said otherwise. */
const browserTraitSection: ExportSection = {
  name: 'browser_traits',
  item: z
    .strictObject({
      identifier: Identifier,
      key: z.string(),
      value: z.unknown(),
      set_at: z.iso.datetime(),
    })
    .meta({
      examples: [
        {
          identifier: { kind: 'external', value: 'ann' },
          key: 'first_name',
          value: 'Ann',
          set_at: '2026-01-31T12:00:00.000Z',
        },
      ],
    }),
  about: 'Every trait as a browser asserted it last, also where a server said otherwise.',
  pages: async function* ({ identities }, read) {
    for (const { identity_id, kind, value } of identities) {
      const traits = await read((scope) => listBrowserTraits(scope, identity_id));
      yield traits.map(({ key, value: told, set_at }) => ({
        identifier: { kind, value },
        key,
        value: told,
        set_at: set_at.toISOString(),
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

/** The whole timeline, newest first. */
export const eventSection = (profileId: string): ExportSection => ({
  name: 'events',
  item: TimelineEntry,
  about: 'The whole timeline, newest first.',
  pages: async function* (_person, read) {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { limit: PAGE_ITEMS_MAX, cursor };
      const page = await read((scope) => pageTimeline(scope, profileId, query));
      yield page.items;
      cursor = page.next_cursor;
    }
  },
});

export const ownSections: readonly ExportSection[] = [
  traitSection,
  browserTraitSection,
  linkSection,
];
