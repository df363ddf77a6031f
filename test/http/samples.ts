import type { Route } from '../../src/base/route.ts';
import type { TestApi } from '../support/api.ts';

const SOME_ID = '01890000-0000-7000-8000-000000000000';

/** A provider that has the endpoint: only some have signing keys and set-up pages. */
export const slugFor = (path: string): string =>
  /\/(?:signing-key|setup)$/.test(path) ? 'mailgun' : 'smtp';

/** An address of the route for a test: a project's own, and ids that name nothing. */
export const pathOf = ({ path }: Route, { project }: TestApi): string =>
  path
    .replace(':project_id', project.project_id)
    .replace(':slug', slugFor(path))
    .replace(':email', 'bob@example.com')
    .replace(':id', SOME_ID)
    .replace(':version', '1')
    .replace(':call', 'track');

/** A key that may call the route. */
export const keyOf = ({ access }: Route, { project }: TestApi): string =>
  ({
    publishable: project.publishable_key,
    server: project.server_key,
    webhook: project.hook_token,
  })[access];

export const takesBody = (route: Route): boolean =>
  route.access === 'webhook' || route.body !== undefined;

/** How many bytes the route takes, as it declares. */
export const bytesMaxOf = (route: Route): number => route.bodyBytesMax ?? 64 * 1024;

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
