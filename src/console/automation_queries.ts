import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from './api.ts';
import type { Outputs } from './api.ts';
import { followSimulation } from './follow_simulation.ts';
import type { Followed } from './follow_simulation.ts';

export type ListedAutomation = Outputs['automations']['list']['items'][number];
export type Automation = Outputs['automations']['read'];
export type Issue = Outputs['automations']['check']['issues'][number];
export type Occurrence = Outputs['automations']['check']['occurrences'][number];
export type Simulation = Outputs['automations']['simulate'];
export type Run = Outputs['automations']['runs']['items'][number];
export type Explanation = Outputs['automations']['explain'];
export type Endpoint = Outputs['automations']['endpoints']['items'][number];

const COUNTS_EVERY_MS = 5_000;
/** Of all of them, which costs more. */
const LIST_EVERY_MS = 15_000;
const CHOICES_MAX = 200;

const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor ?? undefined,
};

export const automations = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['automations', projectId, 'all'],
    queryFn: ({ pageParam, signal }) =>
      api.automations.list.query({ projectId, cursor: pageParam }, { signal }),
    refetchInterval: LIST_EVERY_MS,
    ...paged,
  });

export const automation = (projectId: string, automationId: string) =>
  queryOptions({
    queryKey: ['automations', projectId, automationId],
    queryFn: ({ signal }) => api.automations.read.query({ projectId, automationId }, { signal }),
    refetchInterval: COUNTS_EVERY_MS,
  });

export const automationVersions = (projectId: string, automationId: string) =>
  infiniteQueryOptions({
    queryKey: ['automations', projectId, automationId, 'versions'],
    queryFn: ({ pageParam, signal }) =>
      api.automations.versions.query({ projectId, automationId, cursor: pageParam }, { signal }),
    ...paged,
  });

export const automationVersion = (projectId: string, automationId: string, version: number) =>
  queryOptions({
    queryKey: ['automation_version', projectId, automationId, version],
    queryFn: ({ signal }) =>
      api.automations.version.query({ projectId, automationId, version }, { signal }),
    staleTime: Infinity,
  });

/** The active automations whose unsubscribe links readers cannot open. */
export const withLocalLinks = (projectId: string) =>
  queryOptions({
    queryKey: ['automations', projectId, 'with_local_links'],
    queryFn: ({ signal }) => api.automations.withLocalLinks.query({ projectId }, { signal }),
  });

/** Whatever is wrong with a definition, asked again whenever it changes. */
export const checked = (projectId: string, definition: unknown) =>
  queryOptions({
    queryKey: ['checked', projectId, JSON.stringify(definition)],
    queryFn: ({ signal }) => api.automations.check.mutate({ projectId, definition }, { signal }),
    staleTime: Infinity,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });

/** How far the last simulation of an automation is, while it runs. */
export const simulationProgress = (projectId: string, automationId: string) =>
  queryOptions<Followed | null>({
    queryKey: ['simulation_progress', projectId, automationId],
    queryFn: () => null,
    enabled: false,
  });

export const simulation = (
  projectId: string,
  automationId: string,
  { days, version }: { days: number; version: number },
) =>
  queryOptions({
    queryKey: ['simulation', projectId, automationId, version, days],
    queryFn: ({ signal, client }) => {
      const { queryKey } = simulationProgress(projectId, automationId);
      client.setQueryData(queryKey, null);
      return followSimulation({ projectId, automationId, days, version }, signal, (progress) =>
        client.setQueryData(queryKey, progress),
      );
    },
    retry: false,
    staleTime: 60_000,
  });

export const runs = (projectId: string, automationId: string, profileId?: string) =>
  infiniteQueryOptions({
    queryKey: ['runs', projectId, automationId, profileId ?? ''],
    queryFn: ({ pageParam, signal }) =>
      api.automations.runs.query(
        { projectId, automationId, profileId, cursor: pageParam },
        { signal },
      ),
    refetchInterval: COUNTS_EVERY_MS,
    ...paged,
  });

export const explanation = (
  projectId: string,
  automationId: string,
  { profileId, runId }: { profileId: string; runId?: string | undefined },
) =>
  queryOptions({
    queryKey: ['runs', projectId, automationId, 'explain', profileId, runId ?? ''],
    queryFn: ({ signal }) =>
      api.automations.explain.query({ projectId, automationId, profileId, runId }, { signal }),
    refetchInterval: COUNTS_EVERY_MS,
  });

export const segmentStarts = (projectId: string, automationId: string) =>
  infiniteQueryOptions({
    queryKey: ['segment_starts', projectId, automationId],
    queryFn: ({ pageParam, signal }) =>
      api.automations.segmentStarts.query(
        { projectId, automationId, cursor: pageParam },
        { signal },
      ),
    refetchInterval: COUNTS_EVERY_MS,
    ...paged,
  });

/** Whom webhook steps may tell. */
export const endpoints = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['endpoints', projectId, 'all'],
    queryFn: ({ pageParam, signal }) =>
      api.automations.endpoints.query({ projectId, cursor: pageParam }, { signal }),
    ...paged,
  });

/** What a step may name: what there is of each, the newest. */
export const endpointChoices = (projectId: string) =>
  queryOptions({
    queryKey: ['endpoints', projectId, 'choices'],
    queryFn: ({ signal }) =>
      api.automations.endpoints.query({ projectId, limit: CHOICES_MAX }, { signal }),
  });

export const automationChoices = (projectId: string) =>
  queryOptions({
    queryKey: ['automations', projectId, 'choices'],
    queryFn: ({ signal }) =>
      api.automations.list.query({ projectId, limit: CHOICES_MAX }, { signal }),
  });

export const providerChoices = (projectId: string) =>
  queryOptions({
    queryKey: ['providers', projectId, 'choices'],
    queryFn: ({ signal }) =>
      api.providers.list.query({ projectId, limit: CHOICES_MAX }, { signal }),
  });

export const templateChoices = (projectId: string) =>
  queryOptions({
    queryKey: ['templates', projectId, 'choices'],
    queryFn: ({ signal }) =>
      api.templates.list.query({ projectId, limit: CHOICES_MAX }, { signal }),
  });

export const segmentChoices = (projectId: string) =>
  queryOptions({
    queryKey: ['segments', projectId, 'choices'],
    queryFn: ({ signal }) => api.segments.list.query({ projectId, limit: CHOICES_MAX }, { signal }),
  });

/** The names of events to choose from; others may be typed. */
export const eventNames = (projectId: string) =>
  queryOptions({
    queryKey: ['event_names', projectId],
    queryFn: async ({ signal }) => (await api.events.names.query({ projectId }, { signal })).names,
    staleTime: 60_000,
  });

export const library = (projectId: string) =>
  queryOptions({
    queryKey: ['library', projectId],
    queryFn: ({ signal }) => api.readyMade.list.query({ projectId }, { signal }),
    staleTime: Infinity,
  });
