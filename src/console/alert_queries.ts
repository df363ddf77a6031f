import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Outputs } from './api.ts';
import { api } from './api.ts';
import { paged } from './queries.ts';

export type Alert = Outputs['alerts']['list']['items'][number];
export type AlertSettings = Outputs['alerts']['settings'];
export type Delivery = Outputs['endpoints']['deliveries']['items'][number];

const OPEN_EVERY_MS = 30_000;
/** How many open alerts the banner counts. */
const SHOWN_MAX = 20;

/** What the owner has to act on now. */
export const openAlerts = (projectId: string) =>
  queryOptions({
    queryKey: ['alerts', projectId, 'open'],
    queryFn: ({ signal }) => api.alerts.list.query({ projectId, limit: SHOWN_MAX }, { signal }),
    refetchInterval: OPEN_EVERY_MS,
  });

/** The alerts of the past too. */
export const allAlerts = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['alerts', projectId, 'all'],
    queryFn: ({ pageParam, signal }) =>
      api.alerts.list.query({ projectId, status: 'all', cursor: pageParam }, { signal }),
    refetchInterval: OPEN_EVERY_MS,
    ...paged,
  });

export const alertSettings = (projectId: string) =>
  queryOptions({
    queryKey: ['alerts', projectId, 'settings'],
    queryFn: ({ signal }) => api.alerts.settings.query({ projectId }, { signal }),
  });

const DELIVERIES_EVERY_MS = 5_000;
const DELIVERIES_AT_ONCE = 10;

/** What an endpoint was sent by subscription. */
export const deliveriesOf = (projectId: string, endpointId: string) =>
  infiniteQueryOptions({
    queryKey: ['deliveries', projectId, endpointId],
    queryFn: ({ pageParam, signal }) =>
      api.endpoints.deliveries.query(
        { projectId, endpointId, limit: DELIVERIES_AT_ONCE, cursor: pageParam },
        { signal },
      ),
    refetchInterval: DELIVERIES_EVERY_MS,
    ...paged,
  });

/** How much waits for an endpoint. */
export const waitingOf = (projectId: string, endpointId: string) =>
  queryOptions({
    queryKey: ['deliveries', projectId, endpointId, 'waiting'],
    queryFn: ({ signal }) => api.endpoints.waiting.query({ projectId, endpointId }, { signal }),
    refetchInterval: DELIVERIES_EVERY_MS,
  });
