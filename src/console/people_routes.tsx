import { createRoute } from '@tanstack/react-router';
import { pageOf } from './load.ts';
import type { AuditSearch } from './pages/audit.tsx';
import type { RequestStatus } from './people_queries.ts';
import { project, root, signedIn, text } from './roots.tsx';

const members = createRoute({
  getParentRoute: () => project,
  path: '/settings/members',
  component: pageOf(() => import('./pages/members.tsx'), 'MembersPage'),
});

const keys = createRoute({
  getParentRoute: () => project,
  path: '/settings/keys',
  component: pageOf(() => import('./pages/keys.tsx'), 'KeysPage'),
});

const audit = createRoute({
  getParentRoute: () => project,
  path: '/settings/audit',
  validateSearch: ({ who, what, from, until }): AuditSearch => ({
    who: text(who),
    what: text(what),
    from: text(from),
    until: text(until),
  }),
  component: pageOf(() => import('./pages/audit.tsx'), 'AuditPage'),
});

const retention = createRoute({
  getParentRoute: () => project,
  path: '/settings/retention',
  component: pageOf(() => import('./pages/retention.tsx'), 'RetentionPage'),
});

const sendingLimits = createRoute({
  getParentRoute: () => project,
  path: '/settings/sending-limits',
  component: pageOf(() => import('./pages/sending_limits.tsx'), 'SendingLimitsPage'),
});

const alerts = createRoute({
  getParentRoute: () => project,
  path: '/alerts',
  component: pageOf(() => import('./pages/alerts.tsx'), 'AlertsPage'),
});

const endpoints = createRoute({
  getParentRoute: () => project,
  path: '/settings/endpoints',
  component: pageOf(() => import('./pages/endpoints.tsx'), 'EndpointsPage'),
});

const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: pageOf(() => import('./pages/account.tsx'), 'AccountPage'),
});

const people = createRoute({
  getParentRoute: () => signedIn,
  path: '/people',
  component: pageOf(() => import('./pages/people.tsx'), 'PeoplePage'),
});

const accessRequests = createRoute({
  getParentRoute: () => signedIn,
  path: '/access-requests',
  validateSearch: ({ status }): { status?: RequestStatus | undefined } => ({
    status: status === 'approved' || status === 'refused' ? status : undefined,
  }),
  component: pageOf(() => import('./pages/access_requests.tsx'), 'AccessRequestsPage'),
});

const requestAccess = createRoute({
  getParentRoute: () => root,
  path: '/request-access',
  component: pageOf(() => import('./pages/request_access.tsx'), 'RequestAccessPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: pageOf(() => import('./pages/invitation.tsx'), 'InvitationPage'),
});

/** Pages about who may do what in a project, and about what it keeps and tells. */
export const settingRoutes = [
  members,
  keys,
  audit,
  retention,
  sendingLimits,
  endpoints,
  alerts,
] as const;
/** Pages of whoever is signed in, and of administrators. */
export const ownRoutes = [account, people, accessRequests] as const;
/** Pages for people who have no account yet. */
export const openRoutes = [requestAccess, invitation] as const;
