import { createRoute } from '@tanstack/react-router';
import { pageOf } from './load.ts';
import type { LinkSearch } from './pages/links.tsx';
import { LINK_SOURCES, LINK_STATUSES } from './parts/link_words.ts';
import { project, text } from './roots.tsx';

const links = createRoute({
  getParentRoute: () => project,
  path: '/links',
  validateSearch: ({ identifier, status, source, from, until }): LinkSearch => ({
    identifier: text(identifier),
    status: LINK_STATUSES.find((known) => known === status),
    source: LINK_SOURCES.find((known) => known === source),
    from: text(from),
    until: text(until),
  }),
  component: pageOf(() => import('./pages/links.tsx'), 'LinksPage'),
});

const link = createRoute({
  getParentRoute: () => project,
  path: '/links/$linkId',
  component: pageOf(() => import('./pages/link.tsx'), 'LinkPage'),
});

const sdk = createRoute({
  getParentRoute: () => project,
  path: '/settings/sdk',
  component: pageOf(() => import('./pages/sdk.tsx'), 'SdkPage'),
});

/** Pages about who is who, and how it comes to be known. */
export const whoRoutes = [links, link, sdk] as const;
