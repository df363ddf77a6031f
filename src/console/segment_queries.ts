import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Definition } from '../segments/segments.ts';
import { api } from './api.ts';
import type { Outputs } from './api.ts';

export type Segment = Outputs['segments']['read'];
export type SegmentDefinition = Definition;
export type Counted = Outputs['segments']['preview'];
export type Explained = Outputs['segments']['explain'];

const COUNTS_EVERY_MS = 10_000;

const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor ?? undefined,
};

export const segments = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['segments', projectId, 'all'],
    queryFn: ({ pageParam, signal }) =>
      api.segments.list.query({ projectId, cursor: pageParam }, { signal }),
    ...paged,
  });

export const segment = (projectId: string, segmentId: string) =>
  queryOptions({
    queryKey: ['segments', projectId, segmentId],
    queryFn: ({ signal }) => api.segments.read.query({ projectId, segmentId }, { signal }),
  });

/** Who would be in it. What is superseded is not waited for. */
export const counted = (projectId: string, definition: SegmentDefinition) =>
  queryOptions({
    queryKey: ['counted', projectId, JSON.stringify(definition)],
    queryFn: ({ signal }) => api.segments.preview.mutate({ projectId, definition }, { signal }),
    retry: false,
    staleTime: 10_000,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });

export const members = (projectId: string, segmentId: string) =>
  infiniteQueryOptions({
    queryKey: ['segments', projectId, segmentId, 'members'],
    queryFn: ({ pageParam, signal }) =>
      api.segments.members.query({ projectId, segmentId, cursor: pageParam }, { signal }),
    refetchInterval: COUNTS_EVERY_MS,
    ...paged,
  });

export const segmentHistory = (projectId: string, segmentId: string) =>
  infiniteQueryOptions({
    queryKey: ['segments', projectId, segmentId, 'history'],
    queryFn: ({ pageParam, signal }) =>
      api.segments.history.query({ projectId, segmentId, cursor: pageParam }, { signal }),
    ...paged,
  });

export const segmentDays = (projectId: string, segmentId: string) =>
  queryOptions({
    queryKey: ['segments', projectId, segmentId, 'days'],
    queryFn: ({ signal }) => api.segments.days.query({ projectId, segmentId }, { signal }),
  });

export const segmentImports = (projectId: string, segmentId: string) =>
  queryOptions({
    queryKey: ['segments', projectId, segmentId, 'imports'],
    queryFn: ({ signal }) => api.segments.imports.query({ projectId, segmentId }, { signal }),
  });

export const explainedIn = (projectId: string, segmentId: string, profileId: string) =>
  queryOptions({
    queryKey: ['segments', projectId, segmentId, 'explain', profileId],
    queryFn: ({ signal }) =>
      api.segments.explain.query({ projectId, segmentId, profileId }, { signal }),
  });
