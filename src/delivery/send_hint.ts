import type { Hint } from '../base/hints.ts';

/** Wakes a worker for the queued sends of a provider. */
export const sendHint = (projectId: string, providerId: string): Hint => ({
  task: 'delivery/send_queued',
  payload: { project_id: projectId, provider_id: providerId },
});
