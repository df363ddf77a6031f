import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

export const ENDPOINT_STATUSES = ['active', 'disabled'] as const;

const Endpoint = z.strictObject({
  endpoint_id: z.uuid(),
  name: z.string(),
  url: z.string(),
  status: z.enum(ENDPOINT_STATUSES),
  disabled_reason: z.string().nullable(),
  event_types: z.array(z.string()),
  failing_since: z.date().nullable(),
  /** Deliveries that it refused for good in a row, and since when. */
  refused_count: z.int(),
  refused_since: z.date().nullable(),
  paused_until: z.date().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
});
export type EndpointRow = z.output<typeof Endpoint>;

const columns = sql.fragment`endpoint_id, name, url, status, disabled_reason, event_types, failing_since,
  refused_count, refused_since, paused_until, created_at, updated_at`;

export const findEndpoint = ({ tx, projectId }: Scope, endpointId: string) =>
  tx.maybeOne(sql.type(Endpoint)`
    select ${columns} from automations.endpoints
    where project_id = ${projectId} and endpoint_id = ${endpointId}
  `);

export const listEndpoints = (
  { tx, projectId }: Scope,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) => {
  const earlier =
    beforeId === null ? sql.fragment`` : sql.fragment`and endpoint_id < ${beforeId}::uuid`;
  return tx.any(sql.type(Endpoint)`
    select ${columns} from automations.endpoints
    where project_id = ${projectId} ${earlier}
    order by endpoint_id desc
    limit ${limit}
  `);
};

const Id = z.strictObject({ endpoint_id: z.uuid() });

/** Which of some endpoints there are. */
export const areEndpoints = async (
  { tx, projectId }: Scope,
  endpointIds: readonly string[],
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(Id)`
    select endpoint_id from automations.endpoints
    where project_id = ${projectId} and endpoint_id = any (${sql.array([...endpointIds], 'uuid')})
  `);
  return new Set(rows.map(({ endpoint_id }) => endpoint_id));
};

export type NewEndpointRow = {
  endpointId: string;
  name: string;
  url: string;
  eventTypes?: readonly string[] | undefined;
};

/** Makes an endpoint; the same id again changes nothing. */
export const insertEndpoint = (
  { tx, projectId }: Scope,
  { endpointId, name, url, eventTypes = [] }: NewEndpointRow,
) =>
  tx.query(sql.unsafe`
    insert into automations.endpoints
      (project_id, endpoint_id, name, url, status, event_types, created_at, updated_at)
    values (${projectId}, ${endpointId}, ${name}, ${url}, 'active', ${sql.array([...eventTypes], 'text')}, now(), now())
    on conflict do nothing
  `);

export type EndpointChange = {
  name?: string | undefined;
  url?: string | undefined;
  status?: (typeof ENDPOINT_STATUSES)[number] | undefined;
  eventTypes?: readonly string[] | undefined;
};

/**
 * Changes what is given, and nothing else: the worker may have disabled it since it was read. An endpoint that was
 * changed is tried again at once; at another address, or enabled anew, it has not failed yet.
 */
export const updateEndpoint = (
  { tx, projectId }: Scope,
  endpointId: string,
  { name, url, status, eventTypes }: EndpointChange,
) => {
  const next = sql.fragment`coalesce(${status ?? null}, status)`;
  const isAnew = sql.fragment`(coalesce(${url ?? null}, url) <> url or ${next} <> status)`;
  const types = eventTypes ? sql.array([...eventTypes], 'text') : sql.fragment`event_types`;
  return tx.query(sql.unsafe`
    update automations.endpoints
    set name = coalesce(${name ?? null}, name), url = coalesce(${url ?? null}, url), status = ${next},
      disabled_reason = case when ${next} = status then disabled_reason end, event_types = ${types},
      paused_until = null, updated_at = now(),
      failure_count = case when ${isAnew} then 0 else failure_count end,
      failing_since = case when ${isAnew} then null else failing_since end,
      refused_count = case when ${isAnew} then 0 else refused_count end,
      refused_since = case when ${isAnew} then null else refused_since end
    where project_id = ${projectId} and endpoint_id = ${endpointId}
  `);
};

/**
 * Locks the subscribed endpoints of a project until the transaction ends. Of two transactions that add one, the second
 * counts what the first has added, once there is any other.
 */
export const lockSubscribed = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    select from automations.endpoints
    where project_id = ${projectId} and event_types <> '{}'
    order by endpoint_id
    for no key update
  `);

const Count = z.strictObject({ count: z.int() });

/** Counts the endpoints of a project that subscribe to anything. */
export const countSubscribed = async ({ tx, projectId }: Scope): Promise<number> =>
  (
    await tx.one(sql.type(Count)`
      select count(*)::integer as count from automations.endpoints
      where project_id = ${projectId} and event_types <> '{}'
    `)
  ).count;

/** Tells an endpoint nothing more, because it said so itself. */
export const disableEndpoint = ({ tx, projectId }: Scope, endpointId: string, reason: string) =>
  tx.query(sql.unsafe`
    update automations.endpoints set status = 'disabled', disabled_reason = ${reason}, updated_at = now()
    where project_id = ${projectId} and endpoint_id = ${endpointId} and status = 'active'
  `);

export const deleteEndpoint = ({ tx, projectId }: Scope, endpointId: string) =>
  tx.query(sql.unsafe`
    delete from automations.endpoints where project_id = ${projectId} and endpoint_id = ${endpointId}
  `);

const Secret = z.strictObject({
  secret_id: z.uuid(),
  key_version: z.int(),
  sealed: z.instanceof(Buffer),
  created_at: z.date(),
  expires_at: z.date().nullable(),
});
export type SecretRow = z.output<typeof Secret>;

/** The secrets that an endpoint is told with, the newest first. */
export const listSecrets = ({ tx, projectId }: Scope, endpointId: string) =>
  tx.any(sql.type(Secret)`
    select secret_id, key_version, sealed, created_at, expires_at from automations.endpoint_secrets
    where project_id = ${projectId} and endpoint_id = ${endpointId}
    and (expires_at is null or expires_at > now())
    order by created_at desc, secret_id desc
  `);

/** Has the endpoint's secrets held until the transaction ends. */
export const holdEndpoint = async (scope: Scope, endpointId: string): Promise<void> => {
  await scope.tx.query(sql.unsafe`
    select from automations.endpoints
    where project_id = ${scope.projectId} and endpoint_id = ${endpointId}
    for no key update
  `);
};

export const insertSecret = (
  { tx, projectId }: Scope,
  endpointId: string,
  { secretId, keyVersion, sealed }: { secretId: string; keyVersion: number; sealed: Buffer },
) =>
  tx.query(sql.unsafe`
    insert into automations.endpoint_secrets
      (project_id, endpoint_id, secret_id, key_version, sealed, created_at)
    values (${projectId}, ${endpointId}, ${secretId}, ${keyVersion}, ${sql.binary(sealed)}, clock_timestamp())
  `);

/** Lets the secrets of an endpoint run out, those that do not already, and forgets those that have or are too many. */
export const expireSecrets = async (
  { tx, projectId }: Scope,
  endpointId: string,
  { hours, keptMax }: { hours: number; keptMax: number },
): Promise<void> => {
  await tx.query(sql.unsafe`
    update automations.endpoint_secrets set expires_at = now() + make_interval(hours => ${hours})
    where project_id = ${projectId} and endpoint_id = ${endpointId} and expires_at is null
  `);
  await tx.query(sql.unsafe`
    delete from automations.endpoint_secrets as secret
    using (
      select secret_id from automations.endpoint_secrets
      where project_id = ${projectId} and endpoint_id = ${endpointId} and expires_at > now()
      order by created_at desc, secret_id desc
      offset ${keptMax}
    ) as spare
    where secret.project_id = ${projectId} and secret.endpoint_id = ${endpointId}
    and secret.secret_id = spare.secret_id
  `);
  await tx.query(sql.unsafe`
    delete from automations.endpoint_secrets
    where project_id = ${projectId} and endpoint_id = ${endpointId} and expires_at <= now()
  `);
};
