import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '../admin/router.ts';
import { api } from './api.ts';
import { paged, projects, queryClient } from './queries.ts';

type Outputs = inferRouterOutputs<AppRouter>;
type Inputs = inferRouterInputs<AppRouter>;
export type Member = Outputs['members']['list']['items'][number];
export type Invitation = Outputs['invitations']['list']['items'][number];
export type OpenedInvitation = Outputs['invitations']['open'];
export type Session = Outputs['account']['sessions']['items'][number];
export type AccessRequest = Outputs['access']['list']['items'][number];
export type AuditEntry = Outputs['audit']['list']['items'][number];
export type Key = Outputs['keys']['list']['items'][number];
export type QuotasOfKeys = Outputs['quotas']['read'];
export type Account = Outputs['people']['list']['items'][number];
export type Role = Member['role'];

export const ROLES: readonly Role[] = ['viewer', 'editor', 'owner'];

/** What one may do in a project; undefined until it is known. */
export const useRole = (projectId: string): Role | undefined => {
  const { data } = useQuery(projects);
  const known = data?.items.find(({ id }) => id === projectId)?.role;
  // Past the end of the list the server says what one may not do.
  return known ?? (data?.next_cursor ? 'owner' : undefined);
};

export const isAtLeast = (role: Role | undefined, needed: Role): boolean =>
  role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(needed);

export const members = (projectId: string) =>
  queryOptions({
    queryKey: ['members', projectId],
    queryFn: ({ signal }) => api.members.list.query({ projectId }, { signal }),
  });

export const invitations = (projectId: string) =>
  queryOptions({
    queryKey: ['invitations', projectId],
    queryFn: ({ signal }) => api.invitations.list.query({ projectId }, { signal }),
  });

export const keys = (projectId: string) =>
  queryOptions({
    queryKey: ['keys', projectId],
    queryFn: ({ signal }) => api.keys.list.query({ projectId }, { signal }),
  });

/** How often today's use is read again while a page shows it. */
const USE_EVERY_MS = 10_000;

/** The quotas of publishable keys, and today's use of these. */
export const quotas = (projectId: string, keyIds: readonly string[]) =>
  queryOptions({
    queryKey: ['quotas', projectId, keyIds],
    queryFn: ({ signal }) => api.quotas.read.query({ projectId, keyIds: [...keyIds] }, { signal }),
    refetchInterval: USE_EVERY_MS,
  });

export const sessions = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => api.account.sessions.query(undefined, { signal }),
});

export type AuditFilter = Pick<Inputs['audit']['list'], 'actorId' | 'action' | 'from' | 'until'>;

export const audit = (projectId: string, filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', projectId, filter],
    queryFn: ({ pageParam, signal }) =>
      api.audit.list.query({ projectId, ...filter, cursor: pageParam }, { signal }),
    ...paged,
  });

export const installationAudit = infiniteQueryOptions({
  queryKey: ['installation-audit'],
  queryFn: ({ pageParam, signal }) =>
    api.audit.ofInstallation.query({ cursor: pageParam }, { signal }),
  ...paged,
});

export type RequestStatus = AccessRequest['status'];

export const accessRequests = (status: RequestStatus) =>
  infiniteQueryOptions({
    queryKey: ['access', 'requests', status],
    queryFn: ({ pageParam, signal }) =>
      api.access.list.query({ status, cursor: pageParam }, { signal }),
    ...paged,
  });

export const people = infiniteQueryOptions({
  queryKey: ['people', 'all'],
  queryFn: ({ pageParam, signal }) => api.people.list.query({ cursor: pageParam }, { signal }),
  ...paged,
});

export const administratorInvitations = queryOptions({
  queryKey: ['people', 'invitations'],
  queryFn: ({ signal }) => api.people.invitations.query(undefined, { signal }),
});

/** Reads anew what a change outside of any project may have changed. */
export const forget = (name: string) => queryClient.invalidateQueries({ queryKey: [name] });
