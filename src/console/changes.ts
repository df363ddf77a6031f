import { useMutation } from '@tanstack/react-query';
import { isSignedOut } from './api.ts';
import { queryClient, session } from './queries.ts';

/** A change of what belongs to no project. What was read under one of `names` is read anew once it is done. */
export const useOwnChange = <Input, Output>(
  names: readonly string[],
  change: (input: Input) => Promise<Output>,
) =>
  useMutation({
    mutationFn: change,
    onSuccess: () =>
      Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] }))),
    onError: (error) => {
      if (isSignedOut(error)) queryClient.setQueryData(session.queryKey, { person: null });
    },
  });

/** A change on the server. What was read under one of `names` of the project is read anew once it is done. */
export const useChange = <Input, Output>(
  projectId: string,
  names: readonly string[],
  change: (input: Input) => Promise<Output>,
) =>
  useMutation({
    mutationFn: change,
    onSuccess: () =>
      Promise.all(
        names.map((name) => queryClient.invalidateQueries({ queryKey: [name, projectId] })),
      ),
    onError: (error) => {
      if (isSignedOut(error)) queryClient.setQueryData(session.queryKey, { person: null });
    },
  });
