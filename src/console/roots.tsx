import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { Missing } from './parts/missing.tsx';
import { Shell } from './parts/shell.tsx';
import { queryClient, session } from './queries.ts';

export const root = createRootRoute({ notFoundComponent: Missing });

/** A member of an address's query, where it is a text. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Everything that needs a session. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ location }) => {
    const { person } = await queryClient.ensureQueryData(session);
    if (!person) throw redirect({ to: '/sign-in', search: { next: location.href } });
  },
});

/** Everything of one project. */
export const project = createRoute({
  getParentRoute: () => signedIn,
  path: '/p/$projectId',
  component: Shell,
});
