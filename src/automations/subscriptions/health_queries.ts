import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { nowInMs } from '../../base/now_in_ms.ts';
import { ENDPOINT_FAILURES_MAX, PROBE_SECONDS } from './delivery_limits.ts';

const Health = z.strictObject({ failure_count: z.int() });

/**
 * Returns how often an active endpoint has failed in a row; null while it is paused. Of one that fails, only one
 * caller at a time gets an answer: it probes the endpoint.
 */
export const admitDelivery = async (
  { tx, projectId }: Scope,
  endpointId: string,
): Promise<number | null> => {
  const isOpen = sql.fragment`project_id = ${projectId} and endpoint_id = ${endpointId}
    and (paused_until is null or paused_until <= statement_timestamp())`;
  const health = await tx.maybeOne(sql.type(Health)`
    select failure_count from automations.endpoints where ${isOpen}
  `);
  if (health === null || health.failure_count < ENDPOINT_FAILURES_MAX)
    return health?.failure_count ?? null;
  const probing = await tx.maybeOne(sql.type(Health)`
    update automations.endpoints
    set paused_until = statement_timestamp() + make_interval(secs => ${PROBE_SECONDS})
    where ${isOpen}
    returning failure_count
  `);
  return probing?.failure_count ?? null;
};

/** Records that an endpoint works. */
export const clearFailures = ({ tx, projectId }: Scope, endpointId: string) =>
  tx.query(sql.unsafe`
    update automations.endpoints set failure_count = 0, failing_since = null, paused_until = null
    where project_id = ${projectId} and endpoint_id = ${endpointId} and failure_count > 0
  `);

/** Counts a failure of an endpoint. Returns how many there are in a row; null where the endpoint is gone. */
export const addFailure = async (
  { tx, projectId }: Scope,
  endpointId: string,
  at: Date,
): Promise<number | null> => {
  const health = await tx.maybeOne(sql.type(Health)`
    update automations.endpoints
    set failure_count = failure_count + 1, failing_since = coalesce(failing_since, ${at.toISOString()})
    where project_id = ${projectId} and endpoint_id = ${endpointId}
    returning failure_count
  `);
  return health?.failure_count ?? null;
};

/** Leaves an endpoint alone for some seconds. */
export const pauseEndpoint = ({ tx, projectId }: Scope, endpointId: string, seconds: number) =>
  tx.query(sql.unsafe`
    update automations.endpoints set paused_until = ${nowInMs} + make_interval(secs => ${seconds})
    where project_id = ${projectId} and endpoint_id = ${endpointId}
  `);

/** Records that an endpoint takes deliveries: none was refused since. */
export const clearRefusals = ({ tx, projectId }: Scope, endpointId: string) =>
  tx.query(sql.unsafe`
    update automations.endpoints set refused_count = 0, refused_since = null
    where project_id = ${projectId} and endpoint_id = ${endpointId} and refused_count > 0
  `);

/** Counts a delivery that an endpoint refused for good. */
export const addRefusal = ({ tx, projectId }: Scope, endpointId: string, at: Date) =>
  tx.query(sql.unsafe`
    update automations.endpoints
    set refused_count = refused_count + 1, refused_since = coalesce(refused_since, ${at.toISOString()})
    where project_id = ${projectId} and endpoint_id = ${endpointId}
  `);
