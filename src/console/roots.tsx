import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { Missing } from './parts/missing.tsx';
import { Shell } from './parts/shell.tsx';
import { queryClient, session } from './queries.ts';

export const root = createRootRoute({ notFoundComponent: Missing });

/** A member of an address's query, where it is a text. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Of pages that tell of one person if they are asked about one: whom, by the id of their profile. */
export type AboutPerson = { person?: string | undefined };
export const aboutPerson = ({ person }: Record<string, unknown>): AboutPerson => ({
  person: typeof person === 'string' && UUID.test(person) ? person : undefined,
});

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
