import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '../admin/router.ts';
import { api } from './api.ts';
import { paged } from './queries.ts';

type Outputs = inferRouterOutputs<AppRouter>;
type Inputs = inferRouterInputs<AppRouter>;
export type IdentityLink = Outputs['links']['list']['items'][number];
export type UndoPreview = Outputs['links']['preview'];
export type Side = NonNullable<UndoPreview['stays']>;
export type TraitOrigin = Outputs['profiles']['origins']['items'][number];
export type Told = TraitOrigin['told'];
export type LinkFilter = Pick<
  Inputs['links']['list'],
  'identifier' | 'status' | 'source' | 'from' | 'until' | 'profileId'
>;

export const links = (projectId: string, filter: LinkFilter) =>
  infiniteQueryOptions({
    queryKey: ['links', projectId, 'all', filter],
    queryFn: ({ pageParam, signal }) =>
      api.links.list.query({ projectId, ...filter, cursor: pageParam }, { signal }),
    ...paged,
  });

export const link = (projectId: string, linkId: string) =>
  queryOptions({
    queryKey: ['links', projectId, 'one', linkId],
    queryFn: ({ signal }) => api.links.read.query({ projectId, linkId }, { signal }),
  });

/** Asked anew each time somebody looks: it says what would be done now. */
export const undoPreview = (projectId: string, linkId: string) =>
  queryOptions({
    queryKey: ['links', projectId, 'preview', linkId],
    queryFn: ({ signal }) => api.links.preview.query({ projectId, linkId }, { signal }),
    staleTime: 0,
  });

export const origins = (projectId: string, profileId: string) =>
  queryOptions({
    queryKey: ['origins', projectId, profileId],
    queryFn: ({ signal }) => api.profiles.origins.query({ projectId, profileId }, { signal }),
  });
