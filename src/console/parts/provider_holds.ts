import { useInfiniteQuery } from '@tanstack/react-query';
import type { Provider } from '../api.ts';
import { providers } from '../queries.ts';

const holdOf = ({ status, pace }: Provider): string | null => {
  if (status === 'parked') return 'its provider is parked';
  if (pace.paused !== null) return 'its provider is held';
  return pace.circuit === 'closed' ? null : 'its provider is paused after failures';
};

/** What makes the queued sends of each provider wait, by the id of the provider. */
export const useHolds = (projectId: string): ReadonlyMap<string, string> => {
  const { data } = useInfiniteQuery(providers(projectId));
  const known = data?.pages.flatMap(({ items }) => items) ?? [];
  return new Map(
    known.flatMap((one) => {
      const hold = holdOf(one);
      return hold === null ? [] : [[one.id, hold] as const];
    }),
  );
};
