import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import {
  endpointChoices,
  providerChoices,
  segmentChoices,
  templateChoices,
} from '../../automation_queries.ts';
import type { Names } from './words.ts';

/** What templates, segments, providers and endpoints of a project are called. */
export const useNames = (projectId: string): Names => {
  const { data: templates } = useQuery(templateChoices(projectId));
  const { data: segments } = useQuery(segmentChoices(projectId));
  const { data: providers } = useQuery(providerChoices(projectId));
  const { data: endpoints } = useQuery(endpointChoices(projectId));
  const known = useMemo(
    () =>
      new Map([
        ...(templates?.items ?? []).map(({ id, name }) => [id, name] as const),
        ...(segments?.items ?? []).map(({ id, name }) => [id, name] as const),
        ...(endpoints?.items ?? []).map(({ id, name }) => [id, name] as const),
        ...(providers?.items ?? []).map(({ id, display_name }) => [id, display_name] as const),
      ]),
    [templates, segments, providers, endpoints],
  );
  return useCallback((id: string) => known.get(id), [known]);
};
