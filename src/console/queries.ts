import { infiniteQueryOptions, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { api, isFinal, isSignedOut } from './api.ts';
import type { Send } from './api.ts';
import type { Span } from './parts/spans.ts';

const OVERVIEW_EVERY_MS = 15_000;
const LONG_OVERVIEW_EVERY_MS = 60_000;
const SENDING_EVERY_MS = 30_000;
const PROJECTS_MAX = 200;
const LATEST_EVENTS = 20;
const RETRIES_MAX = 2;
const SILENCES_EVERY_MS = 15_000;

export const session = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => api.session.current.query(undefined, { signal }),
  staleTime: Infinity,
});

/** One cache for the page. An answer that nobody is signed in ends the session here too. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (isSignedOut(error)) queryClient.setQueryData(session.queryKey, { person: null });
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < RETRIES_MAX && !isFinal(error),
    },
  },
});

export const projects = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => api.projects.list.query({ limit: PROJECTS_MAX }, { signal }),
});

/** Whether mail leaves the house at all. */
export const sending = queryOptions({
  queryKey: ['sending'],
  queryFn: ({ signal }) => api.installation.sending.query(undefined, { signal }),
  refetchInterval: SENDING_EVERY_MS,
});

/** More is counted for a longer time, and less often. */
export const overview = (projectId: string, span: Span) =>
  queryOptions({
    queryKey: ['overview', projectId, span],
    queryFn: ({ signal }) => api.overview.read.query({ projectId, span }, { signal }),
    refetchInterval: span === 'day' ? OVERVIEW_EVERY_MS : LONG_OVERVIEW_EVERY_MS,
  });

export const latestEvents = (projectId: string) =>
  queryOptions({
    queryKey: ['events', projectId],
    queryFn: ({ signal }) => api.events.list.query({ projectId, limit: LATEST_EVENTS }, { signal }),
  });

export const paged = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor ?? undefined,
};

export type SendFilter = {
  status?: Send['status'] | undefined;
  email?: string | undefined;
  automation?: string | undefined;
};

export const sends = (projectId: string, filter: SendFilter) =>
  infiniteQueryOptions({
    queryKey: ['sends', projectId, filter],
    queryFn: ({ pageParam, signal }) => {
      const { automation: automationId, ...rest } = filter;
      return api.sends.list.query(
        { projectId, automationId, ...rest, cursor: pageParam },
        { signal },
      );
    },
    ...paged,
  });

export const send = (projectId: string, sendId: string) =>
  queryOptions({
    queryKey: ['sends', projectId, 'one', sendId],
    queryFn: ({ signal }) => api.sends.read.query({ projectId, sendId }, { signal }),
  });

/** The address of an email's frame. It works for a few minutes, so a page that is opened again asks for another. */
export const previewOf = (projectId: string, sendId: string) =>
  queryOptions({
    queryKey: ['preview', projectId, sendId],
    queryFn: ({ signal }) => api.previews.open.query({ projectId, sendId }, { signal }),
    staleTime: Infinity,
    gcTime: 0,
  });

export const noticesOf = (projectId: string, sendId: string) =>
  queryOptions({
    queryKey: ['sends', projectId, 'notices', sendId],
    queryFn: ({ signal }) => api.feedback.ofSend.query({ projectId, sendId }, { signal }),
  });

export const foundProfiles = (projectId: string, query: string) =>
  queryOptions({
    queryKey: ['found', projectId, query],
    queryFn: ({ signal }) => api.profiles.find.query({ projectId, query }, { signal }),
    enabled: query !== '',
  });

const NEWEST_PROFILES = 20;

export const newestProfiles = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['newest', projectId],
    queryFn: ({ pageParam, signal }) =>
      api.profiles.newest.query(
        { projectId, limit: NEWEST_PROFILES, cursor: pageParam },
        { signal },
      ),
    ...paged,
  });

export const profile = (projectId: string, profileId: string) =>
  queryOptions({
    queryKey: ['profile', projectId, profileId],
    queryFn: ({ signal }) => api.profiles.read.query({ projectId, profileId }, { signal }),
  });

export const timeline = (projectId: string, profileId: string) =>
  infiniteQueryOptions({
    queryKey: ['timeline', projectId, profileId],
    queryFn: ({ pageParam, signal }) =>
      api.profiles.timeline.query({ projectId, profileId, cursor: pageParam }, { signal }),
    ...paged,
  });

export type AddressFilter = { email?: string | undefined };

export const suppressions = (projectId: string, filter: AddressFilter) =>
  infiniteQueryOptions({
    queryKey: ['addresses', projectId, 'suppressed', filter],
    queryFn: ({ pageParam, signal }) =>
      api.suppressions.list.query({ projectId, ...filter, cursor: pageParam }, { signal }),
    ...paged,
  });

export const unsubscribes = (projectId: string, filter: AddressFilter) =>
  infiniteQueryOptions({
    queryKey: ['addresses', projectId, 'unsubscribed', filter],
    queryFn: ({ pageParam, signal }) =>
      api.suppressions.unsubscribes.query({ projectId, ...filter, cursor: pageParam }, { signal }),
    ...paged,
  });

export const address = (projectId: string, email: string) =>
  queryOptions({
    queryKey: ['addresses', projectId, 'one', email],
    queryFn: ({ signal }) => api.suppressions.read.query({ projectId, email }, { signal }),
  });

export const providers = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['providers', projectId, 'all'],
    queryFn: ({ pageParam, signal }) =>
      api.providers.list.query({ projectId, cursor: pageParam }, { signal }),
    ...paged,
  });

/** The providers that do not answer. */
export const silences = (projectId: string) =>
  queryOptions({
    queryKey: ['silences', projectId],
    queryFn: ({ signal }) => api.sends.silences.query({ projectId }, { signal }),
    refetchInterval: SILENCES_EVERY_MS,
  });

export const provider = (projectId: string, providerId: string) =>
  queryOptions({
    queryKey: ['providers', projectId, providerId],
    queryFn: ({ signal }) => api.providers.read.query({ projectId, providerId }, { signal }),
    refetchInterval: OVERVIEW_EVERY_MS,
  });

/** What the last check of a sender's domain found. */
export const domainHealth = (projectId: string, providerId: string) =>
  queryOptions({
    queryKey: ['domain', projectId, providerId, 'last'],
    queryFn: ({ signal }) =>
      api.providers.domainHealth.query({ projectId, providerId }, { signal }),
  });

/** What has changed about a sender's domain. */
export const domainHistory = (projectId: string, providerId: string) =>
  infiniteQueryOptions({
    queryKey: ['domain', projectId, providerId, 'history'],
    queryFn: ({ pageParam, signal }) =>
      api.providers.domainHistory.query({ projectId, providerId, cursor: pageParam }, { signal }),
    ...paged,
  });

export const webhooks = (projectId: string) =>
  queryOptions({
    queryKey: ['webhooks', projectId],
    queryFn: ({ signal }) => api.webhooks.read.query({ projectId }, { signal }),
  });

export const webhookTokens = (projectId: string) =>
  queryOptions({
    queryKey: ['webhook_tokens', projectId],
    queryFn: ({ signal }) => api.webhookTokens.list.query({ projectId }, { signal }),
  });

/** How much email strangers can cause. */
export const sendingLimits = (projectId: string) =>
  queryOptions({
    queryKey: ['sending_limits', projectId],
    queryFn: ({ signal }) => api.sendingLimits.read.query({ projectId }, { signal }),
  });

/** How long is kept what goes by itself. */
export const retention = (projectId: string) =>
  queryOptions({
    queryKey: ['retention', projectId],
    queryFn: ({ signal }) => api.retention.read.query({ projectId }, { signal }),
    staleTime: Infinity,
  });
