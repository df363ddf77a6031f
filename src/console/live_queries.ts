import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api } from './api.ts';
import type { Outputs } from './api.ts';
import { useLive } from './live.ts';
import { isFiltered, mergeSends } from './merge_sends.ts';
import { latestEvents, queryClient, sends } from './queries.ts';
import type { SendFilter } from './queries.ts';

type EventPage = Outputs['events']['list'];
type SendPage = Outputs['sends']['list'];

/** How often is asked while nothing is told. */
const EVENTS_EVERY_MS = 2_000;
const SENDS_EVERY_MS = 10_000;
/** An answer that was on its way while something was told may have put back what was before it. */
const TOLD_SENDS_EVERY_MS = 60_000;

/** The newest events as they arrive, while somebody wants to see them come. */
export const useLatestEvents = (projectId: string, isLive: boolean) => {
  const events = latestEvents(projectId);
  const isTold = useLive(
    isLive ? `events/${projectId}` : null,
    (handlers) => api.events.latest.subscribe({ projectId }, handlers),
    async (page: EventPage) => {
      await queryClient.cancelQueries({ queryKey: events.queryKey });
      queryClient.setQueryData(events.queryKey, page);
    },
  );
  return useQuery({
    ...events,
    refetchInterval: isLive && !isTold ? EVENTS_EVERY_MS : false,
    refetchOnWindowFocus: isLive,
  });
};
/** The send log as it changes. */
export const useSends = (projectId: string, filter: SendFilter) => {
  const log = sends(projectId, filter);
  const isTold = useLive(
    `sends/${projectId}`,
    (handlers) => api.sends.latest.subscribe({ projectId }, handlers),
    (told: SendPage) => {
      queryClient.setQueryData(log.queryKey, (known) => known && mergeSends(known, told, filter));
    },
  );
  // Of what is filtered, more may come at once than is told.
  const refetchInterval = isTold && !isFiltered(filter) ? TOLD_SENDS_EVERY_MS : SENDS_EVERY_MS;
  return useInfiniteQuery({ ...log, refetchInterval });
};
