import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from './api.ts';
import type { Outputs } from './api.ts';

export type ListedTemplate = Outputs['templates']['list']['items'][number];
export type Template = Outputs['templates']['read'];
export type Preview = Outputs['templates']['preview'];
/** A template as it is given to be tried or kept. */
export type Draft = Parameters<typeof api.templates.preview.mutate>[0]['draft']['template'];

const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor ?? undefined,
};

export const templates = (projectId: string, isArchived: boolean) =>
  infiniteQueryOptions({
    queryKey: ['templates', projectId, 'all', isArchived],
    queryFn: ({ pageParam, signal }) =>
      api.templates.list.query({ projectId, archived: isArchived, cursor: pageParam }, { signal }),
    ...paged,
  });

export const template = (projectId: string, templateId: string) =>
  queryOptions({
    queryKey: ['templates', projectId, templateId],
    queryFn: ({ signal }) => api.templates.read.query({ projectId, templateId }, { signal }),
  });

export const templateVersions = (projectId: string, templateId: string) =>
  infiniteQueryOptions({
    queryKey: ['templates', projectId, templateId, 'versions'],
    queryFn: ({ pageParam, signal }) =>
      api.templates.versions.query({ projectId, templateId, cursor: pageParam }, { signal }),
    ...paged,
  });

export const templateVersion = (projectId: string, templateId: string, version: number) =>
  queryOptions({
    queryKey: ['template_version', projectId, templateId, version],
    queryFn: ({ signal }) =>
      api.templates.version.query({ projectId, templateId, version }, { signal }),
    staleTime: Infinity,
  });

/** A draft as somebody would get it. What is superseded is not waited for. */
export const previewed = (projectId: string, draft: Draft, profileId: string | null) =>
  queryOptions({
    queryKey: ['previewed', projectId, JSON.stringify(draft), profileId],
    queryFn: ({ signal }) =>
      api.templates.preview.mutate(
        {
          projectId,
          draft: { template: draft, ...(profileId === null ? {} : { profile_id: profileId }) },
        },
        { signal },
      ),
    retry: false,
    staleTime: Infinity,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });
