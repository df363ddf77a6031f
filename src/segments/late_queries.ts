import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { CountedEvents } from './reasons.ts';

const OwnCounter = CountedEvents.extend({
  own_profile_id: z.uuid(),
  lag_ms: z.int().nullable(),
});
/** A counter of a person, with whose identity it is. Its lag is the shortest of its events, where that is known. */
export type OwnCounter = z.output<typeof OwnCounter>;

const EvaluatedPerson = z.strictObject({
  profile_id: z.uuid(),
  counters: z.array(OwnCounter),
  reasons: z.array(z.json()),
});

/**
 * Lists what was counted of some profiles for some conditions, over all of their identities, and why those people
 * changed by notes that are still to be taken. In one statement: a note and its counters are committed together.
 */
export const listEvaluated = (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  conditionIds: readonly string[],
) =>
  tx.any(sql.type(EvaluatedPerson)`
    select wanted.profile_id, coalesce(counted.counters, '[]') as counters, coalesce(noted.reasons, '[]') as reasons
    from unnest(${sql.array([...profileIds], 'uuid')}) as wanted (profile_id)
    cross join lateral (
      select jsonb_agg(jsonb_build_object(
        'own_profile_id', known.own_profile_id, 'identity_id', counter.identity_id,
        'condition_id', counter.condition_id, 'day', counter.day - 'epoch'::date, 'count', counter.count,
        'first_at', counter.first_at, 'last_at', counter.last_at, 'lag_ms', counter.lag_ms
      )) as counters
      from (
        select identity_id, own_profile_id from identity.identities
        where project_id = ${projectId} and profile_id = wanted.profile_id and erasure_id is null
        offset 0
      ) as known
      cross join lateral (
        select identity_id, condition_id, day, count, first_at, last_at, lag_ms from segments.counters
        where project_id = ${projectId} and identity_id = known.identity_id
        and condition_id = any (${sql.array([...conditionIds], 'uuid')})
        offset 0
      ) as counter
    ) as counted
    cross join lateral (
      select jsonb_agg(reason) as reasons from profiles.changes
      where project_id = ${projectId} and profile_id = wanted.profile_id and reason is not null
    ) as noted
  `);
