import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { InfiniteData } from '@tanstack/react-query';
import { api } from './api.ts';
import type { Outputs } from './api.ts';
import { useLive } from './live.ts';
import { queryClient } from './queries.ts';
import { segment, segments } from './segment_queries.ts';
import type { Segment } from './segment_queries.ts';

/** How often is asked while segments fill and nothing is told, and how often else. */
const WHILE_FILLING_MS = 1_500;
const COUNTS_EVERY_MS = 10_000;

type Made = Pick<Segment, 'id' | 'version' | 'status' | 'progress'>;
type Listed = InfiniteData<Outputs['segments']['list']>;

const isFilling = ({ status }: Segment): boolean => status !== 'ready';
const listed = (known: Listed | undefined): Segment[] =>
  known?.pages.flatMap(({ items }) => items) ?? [];

/** How often segments are asked for, by how they stand and whether somebody tells. */
const paceOf = (isTold: boolean, shown: readonly Segment[]): number =>
  !isTold && shown.some(isFilling) ? WHILE_FILLING_MS : COUNTS_EVERY_MS;

/** Puts how far segments have come where they are shown; of those that are done, everything is read anew. */
const put = (projectId: string, made: readonly Made[]): void => {
  const now = new Map(made.map((one) => [one.id, one]));
  const isDone = (known: Segment): boolean => isFilling(known) && !now.has(known.id);
  const renew = <Known extends Segment>(known: Known): Known => ({
    ...known,
    ...now.get(known.id),
  });
  const list = segments(projectId).queryKey;
  const shown = [
    ...listed(queryClient.getQueryData(list)),
    ...queryClient
      .getQueriesData<Segment>({ queryKey: ['segments', projectId] })
      .flatMap(([, known]) => (known && 'progress' in known ? [known] : [])),
  ];
  if (shown.some(isDone)) void queryClient.invalidateQueries({ queryKey: ['segments', projectId] });
  queryClient.setQueryData(
    list,
    (known) =>
      known && {
        ...known,
        pages: known.pages.map((page) => ({ ...page, items: page.items.map(renew) })),
      },
  );
  for (const { id } of made)
    queryClient.setQueryData(segment(projectId, id).queryKey, (known) => known && renew(known));
};

const useProgress = (projectId: string): boolean =>
  useLive(
    `segments/${projectId}`,
    (handlers) => api.segments.progress.subscribe({ projectId }, handlers),
    ({ items }: { items: Made[] }) => put(projectId, items),
  );

/** The project's segments, told how far those have come that fill. */
export const useSegments = (projectId: string) => {
  const isTold = useProgress(projectId);
  return useInfiniteQuery({
    ...segments(projectId),
    refetchInterval: ({ state }) => paceOf(isTold, listed(state.data)),
  });
};

/** One segment, told how far it has come while it fills. */
export const useSegment = (projectId: string, segmentId: string) => {
  const isTold = useProgress(projectId);
  return useQuery({
    ...segment(projectId, segmentId),
    refetchInterval: ({ state }) => paceOf(isTold, state.data ? [state.data] : []),
  });
};
