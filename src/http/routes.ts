import type { Route } from '../base/route.ts';
import { deliveryRoutes } from '../delivery/routes.ts';
import { feedbackRoutes } from '../feedback/routes.ts';
import { ingestRoutes } from '../ingest/routes.ts';
import { profileRoutes } from '../profiles/routes.ts';
import { findCaller } from '../projects/projects.ts';
import { suppressionRoutes } from '../suppression/routes.ts';

/** Every endpoint of the public API. What is not in this list does not exist. */
export const routes: readonly Route[] = [
  ...ingestRoutes,
  ...profileRoutes,
  ...deliveryRoutes,
  ...suppressionRoutes,
  ...feedbackRoutes(findCaller),
];
