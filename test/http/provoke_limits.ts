// What provokes refusals of requests that cost too much, or go past a daily quota.
import { createProject } from '../../src/projects/projects.ts';
import { asking, pathOf } from './provoke_base.ts';
import type { Provoke, Surroundings, Ways } from './provoke_base.ts';
import { isOfSegment } from './provoke_segment_door.ts';

/** Two parts, where a window grants one unit. */
const TWO_EVENTS = { events: [1, 2].map(() => ({ event: 'made', external_id: 'ann' })) };
const TWO_CALLS = { batch: [1, 2].map(() => ({ type: 'track', event: 'Made', userId: 'ann' })) };

/** One that stores something, whatever endpoint it is sent to. */
const STORED: Record<string, object> = {
  '/v1/events': { event: 'made', external_id: 'ann' },
  '/v1/events/batch': TWO_EVENTS,
  '/v1/identify': { external_id: 'ann' },
  '/segment/v1/batch': TWO_CALLS,
  '/segment/v1/b': TWO_CALLS,
  '/segment/v1/{call}': { event: 'Made', userId: 'ann' },
};

export const waysOfLimits = (around: Surroundings): Ways => {
  const { api, database, elsewhere } = around;
  const tooCostly: Provoke = async (one) => {
    const { server_key: key } = await createProject(database.deps, 'costs too much');
    const body = isOfSegment(one) ? TWO_CALLS : TWO_EVENTS;
    return asking(api, elsewhere.poor, () => api.call(one.method, pathOf(one, api), { key, body }));
  };
  const pastQuota: Provoke = async (one) => {
    const { project_id, publishable_key } = await createProject(database.deps, 'stores too much');
    await database.owner.query(
      `insert into quotas.settings (project_id, stored_bytes_per_day, updated_at) values ($1, 1, now())`,
      [project_id],
    );
    const body = STORED[one.path];
    return api.call(one.method, pathOf(one, api), { key: publishable_key, body });
  };
  return { request_too_costly: tooCostly, quota_exceeded: pastQuota };
};
