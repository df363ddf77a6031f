import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api } from './api.ts';
import { keepProof } from './proof.ts';
import { queryClient, session } from './queries.ts';

/** Signing out, and leaving the page when the session ends by itself. */
export const useSession = () => {
  const router = useRouter();
  const { data } = useQuery(session);
  const isSignedIn = data?.person != null;

  // The routes ask who is signed in, and send everybody else to the sign-in page.
  useEffect(() => {
    if (!isSignedIn) void router.invalidate();
  }, [isSignedIn, router]);

  const signOut = async (): Promise<void> => {
    await api.session.signOut.mutate();
    keepProof(null);
    queryClient.clear();
    queryClient.setQueryData(session.queryKey, { person: null });
    await router.navigate({ to: '/sign-in' });
  };
  return { signOut };
};
