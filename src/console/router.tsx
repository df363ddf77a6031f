import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { pageOf } from './load.ts';
import { SPANS } from './parts/spans.ts';
import type { Span } from './parts/spans.ts';
import { SHOWN_STATUSES } from './parts/statuses.ts';
import { Failed } from './parts/failed.tsx';
import { NoProject } from './pages/no_project.tsx';
import { SignIn } from './pages/sign_in.tsx';
import { openRoutes, ownRoutes, settingRoutes } from './people_routes.tsx';
import { projects, queryClient } from './queries.ts';
import { aboutPerson, project, root, signedIn, text } from './roots.tsx';
import type { AddressFilter, SendFilter } from './queries.ts';
import { lastProject } from './last_project.ts';
import { whoRoutes } from './who_routes.tsx';

/** Where somebody may have wanted to go: pages of ours that need a session. */
const OWN_PATH = /^\/(?:p\/|account$|people$|access-requests$)/;

export const signInRoute = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  /** Where to go on. Only a path of this page is taken. */
  validateSearch: ({ next }): { next?: string | undefined } => ({
    next: typeof next === 'string' && OWN_PATH.test(next) ? next : undefined,
  }),
  component: SignIn,
});

/** Goes to the project that was open last, or to the newest. */
const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async () => {
    const { items } = await queryClient.ensureQueryData(projects);
    const project = items.find(({ id }) => id === lastProject.read()) ?? items[0];
    if (project) throw redirect({ to: '/p/$projectId', params: { projectId: project.id } });
  },
  component: NoProject,
});

const overview = createRoute({
  getParentRoute: () => project,
  path: '/',
  validateSearch: ({ span }): { span?: Span | undefined } => ({
    span: SPANS.find((known) => known === span),
  }),
  component: pageOf(() => import('./pages/overview.tsx'), 'OverviewPage'),
});

export const sendsRoute = createRoute({
  getParentRoute: () => project,
  path: '/sends',
  validateSearch: ({ status, email, automation: of }): SendFilter => ({
    status: SHOWN_STATUSES.find((known) => known === status),
    email: text(email),
    automation: text(of),
  }),
  component: pageOf(() => import('./pages/sends.tsx'), 'SendsPage'),
});

const send = createRoute({
  getParentRoute: () => project,
  path: '/sends/$sendId',
  component: pageOf(() => import('./pages/send.tsx'), 'SendPage'),
});

export const profilesRoute = createRoute({
  getParentRoute: () => project,
  path: '/profiles',
  validateSearch: ({ query }): { query?: string | undefined } => ({ query: text(query) }),
  component: pageOf(() => import('./pages/profiles.tsx'), 'ProfilesPage'),
});

const profile = createRoute({
  getParentRoute: () => project,
  path: '/profiles/$profileId',
  component: pageOf(() => import('./pages/profile.tsx'), 'ProfilePage'),
});

export const suppressionsRoute = createRoute({
  getParentRoute: () => project,
  path: '/suppressions',
  validateSearch: ({ list, email }): AddressFilter & { list?: 'unsubscribed' | undefined } => ({
    list: list === 'unsubscribed' ? list : undefined,
    email: text(email),
  }),
  component: pageOf(() => import('./pages/suppressions.tsx'), 'SuppressionsPage'),
});

const address = createRoute({
  getParentRoute: () => project,
  path: '/suppressions/$email',
  component: pageOf(() => import('./pages/address.tsx'), 'AddressPage'),
});

const providers = createRoute({
  getParentRoute: () => project,
  path: '/settings/providers',
  component: pageOf(() => import('./pages/providers.tsx'), 'ProvidersPage'),
});

const newProvider = createRoute({
  getParentRoute: () => project,
  path: '/settings/providers/new',
  component: pageOf(() => import('./pages/new_provider.tsx'), 'NewProviderPage'),
});

const provider = createRoute({
  getParentRoute: () => project,
  path: '/settings/providers/$providerId',
  component: pageOf(() => import('./pages/provider.tsx'), 'ProviderPage'),
});

const webhooks = createRoute({
  getParentRoute: () => project,
  path: '/settings/webhooks',
  component: pageOf(() => import('./pages/webhooks.tsx'), 'WebhooksPage'),
});

const automations = createRoute({
  getParentRoute: () => project,
  path: '/automations',
  validateSearch: aboutPerson,
  component: pageOf(() => import('./pages/automations.tsx'), 'AutomationsPage'),
});

const newAutomation = createRoute({
  getParentRoute: () => project,
  path: '/automations/new',
  component: pageOf(() => import('./pages/automation_new.tsx'), 'NewAutomationPage'),
});

const automation = createRoute({
  getParentRoute: () => project,
  path: '/automations/$automationId',
  validateSearch: aboutPerson,
  component: pageOf(() => import('./pages/automation.tsx'), 'AutomationPage'),
});

const templates = createRoute({
  getParentRoute: () => project,
  path: '/templates',
  component: pageOf(() => import('./pages/templates.tsx'), 'TemplatesPage'),
});

const newTemplate = createRoute({
  getParentRoute: () => project,
  path: '/templates/new',
  component: pageOf(() => import('./pages/template_new.tsx'), 'NewTemplatePage'),
});

const template = createRoute({
  getParentRoute: () => project,
  path: '/templates/$templateId',
  component: pageOf(() => import('./pages/template.tsx'), 'TemplatePage'),
});

const segments = createRoute({
  getParentRoute: () => project,
  path: '/segments',
  validateSearch: aboutPerson,
  component: pageOf(() => import('./pages/segments.tsx'), 'SegmentsPage'),
});

const newSegment = createRoute({
  getParentRoute: () => project,
  path: '/segments/new',
  component: pageOf(() => import('./pages/segment_new.tsx'), 'NewSegmentPage'),
});

const segment = createRoute({
  getParentRoute: () => project,
  path: '/segments/$segmentId',
  validateSearch: aboutPerson,
  component: pageOf(() => import('./pages/segment.tsx'), 'SegmentPage'),
});

const pages = [
  overview,
  automations,
  newAutomation,
  automation,
  templates,
  newTemplate,
  template,
  segments,
  newSegment,
  segment,
  sendsRoute,
  send,
  profilesRoute,
  profile,
  suppressionsRoute,
  address,
  providers,
  newProvider,
  provider,
  webhooks,
  ...settingRoutes,
  ...whoRoutes,
];

export const router = createRouter({
  routeTree: root.addChildren([
    signInRoute,
    ...openRoutes,
    signedIn.addChildren([home, ...ownRoutes, project.addChildren(pages)]),
  ]),
  basepath: '/console',
  // A page gets what its route has looked at, and nothing else that an address may hold.
  search: { strict: true },
  defaultPreload: 'intent',
  defaultErrorComponent: Failed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
