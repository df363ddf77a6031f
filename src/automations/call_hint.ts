import type { Hint } from '../base/hints.ts';

/** Wakes a worker for the calls of an endpoint. */
export const callHint = (projectId: string, endpointId: string): Hint => ({
  task: 'automations/call_endpoint',
  payload: { project_id: projectId, endpoint_id: endpointId },
});
