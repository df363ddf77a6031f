import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { KeptAnswer, toColumn } from './account_answer.ts';
import type { AccountAnswer } from './account_answer.ts';
import { FAILURE_REASONS } from './outcome.ts';
import { PROVIDER_KINDS, SMTP_SECURE } from './settings.ts';

const DataKey = z.strictObject({
  key_version: z.int(),
  master_version: z.int(),
  wrapped_key: z.instanceof(Buffer),
});

const Provider = z.strictObject({
  provider_id: z.uuid(),
  provider: z.enum(PROVIDER_KINDS),
  display_name: z.string(),
  from_email: z.string(),
  from_name: z.string().nullable(),
  reply_to: z.string().nullable(),
  smtp_host: z.string().nullable(),
  smtp_port: z.int().nullable(),
  smtp_secure: z.enum(SMTP_SECURE).nullable(),
  username: z.string().nullable(),
  region: z.string().nullable(),
  access_key_id: z.string().nullable(),
  key_version: z.int(),
  secret: z.instanceof(Buffer),
  is_outside: z.boolean().nullable(),
  status: z.enum(['active', 'parked']),
  parked_reason: z.enum(FAILURE_REASONS).nullable(),
  parked_answer: KeptAnswer,
  revision: z.int(),
  tested_at: z.date().nullable(),
  test_id: z.uuid().nullable(),
  test_failure: z.string().nullable(),
  test_message_id: z.string().nullable(),
  test_took_ms: z.int().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
  rate_per_second: z.number().nullable(),
  ramp_started_on: z.iso.date().nullable(),
  ramp_stages: z.array(z.int()).nullable(),
});
export type ProviderRow = z.output<typeof Provider>;
export type NewProviderRow = Omit<
  ProviderRow,
  | 'status'
  | 'parked_reason'
  | 'parked_answer'
  | 'revision'
  | 'tested_at'
  | 'test_id'
  | 'test_failure'
  | 'test_message_id'
  | 'test_took_ms'
  | 'created_at'
  | 'updated_at'
  | 'rate_per_second'
  | 'ramp_started_on'
  | 'ramp_stages'
>;

/** The newest data key of the project, or the one of a version. */
export const findDataKey = ({ tx, projectId }: Scope, version: number | null) =>
  tx.maybeOne(sql.type(DataKey)`
    select key_version, master_version, wrapped_key from providers.data_keys
    where project_id = ${projectId} and (${version}::integer is null or key_version = ${version})
    order by key_version desc
    limit 1
  `);

type NewDataKey = { version: number; masterVersion: number; wrappedKey: Buffer };

export const insertDataKey = (
  { tx, projectId }: Scope,
  { version, masterVersion, wrappedKey }: NewDataKey,
) =>
  tx.query(sql.unsafe`
    insert into providers.data_keys (project_id, key_version, master_version, wrapped_key, created_at)
    values (${projectId}, ${version}, ${masterVersion}, ${sql.binary(wrappedKey)}, now())
    on conflict do nothing
  `);

/** The project's data keys that another outer key than today's wraps. Locked: two may want to wrap them anew. */
export const holdDataKeys = ({ tx, projectId }: Scope, masterVersion: number) =>
  tx.any(sql.type(DataKey)`
    select key_version, master_version, wrapped_key from providers.data_keys
    where project_id = ${projectId} and master_version <> ${masterVersion}
    order by key_version
    for update
  `);

export const rewrapDataKey = (
  { tx, projectId }: Scope,
  { version, masterVersion, wrappedKey }: NewDataKey,
) =>
  tx.query(sql.unsafe`
    update providers.data_keys
    set master_version = ${masterVersion}, wrapped_key = ${sql.binary(wrappedKey)}
    where project_id = ${projectId} and key_version = ${version}
  `);

const Inserted = z.strictObject({ provider_id: z.uuid() });

/** Keeps a new record, unless there is one for its from-address: then answers null. */
export const insertProvider = ({ tx, projectId }: Scope, row: NewProviderRow) =>
  tx.maybeOne(sql.type(Inserted)`
    insert into providers.providers (project_id, provider_id, provider, display_name, from_email, from_name, reply_to,
      smtp_host, smtp_port, smtp_secure, username, region, access_key_id, key_version, secret, is_outside, created_at,
      updated_at)
    values (${projectId}, ${row.provider_id}, ${row.provider}, ${row.display_name}, ${row.from_email}, ${row.from_name},
      ${row.reply_to}, ${row.smtp_host}, ${row.smtp_port}, ${row.smtp_secure}, ${row.username}, ${row.region},
      ${row.access_key_id}, ${row.key_version}, ${sql.binary(row.secret)}, ${row.is_outside}, now(), now())
    on conflict do nothing
    returning provider_id
  `);

/** Changes a record, if nobody did since it was read; an active one is unparked. Its place in lists stays. */
export const updateProvider = (
  { tx, projectId }: Scope,
  row: NewProviderRow,
  { revision, isProved }: { revision: number; isProved: boolean },
) =>
  tx.maybeOne(sql.type(Inserted)`
    update providers.providers
    set provider = ${row.provider}, display_name = ${row.display_name}, from_email = ${row.from_email},
      from_name = ${row.from_name}, reply_to = ${row.reply_to}, smtp_host = ${row.smtp_host},
      smtp_port = ${row.smtp_port}, smtp_secure = ${row.smtp_secure}, username = ${row.username},
      region = ${row.region}, access_key_id = ${row.access_key_id}, key_version = ${row.key_version},
      secret = ${sql.binary(row.secret)}, is_outside = ${row.is_outside}, revision = revision + 1, updated_at = now(),
      status = case when ${isProved} then 'active' else status end,
      parked_reason = case when ${isProved} then null else parked_reason end,
      parked_answer = case when ${isProved} then null else parked_answer end
    where project_id = ${projectId} and provider_id = ${row.provider_id} and revision = ${revision}
    returning provider_id
  `);

const columns = sql.fragment`provider_id, provider, display_name, from_email, from_name, reply_to, smtp_host,
  smtp_port, smtp_secure, username, region, access_key_id, key_version, secret, is_outside, status,
  parked_reason, parked_answer, revision, tested_at, test_id, test_failure, test_message_id, test_took_ms,
  created_at, updated_at, rate_per_second, ramp_started_on::text, ramp_stages`;

export const findProvider = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Provider)`
    select ${columns} from providers.providers where project_id = ${projectId} and provider_id = ${providerId}
  `);

export const findByFromEmail = ({ tx, projectId }: Scope, fromEmail: string) =>
  tx.maybeOne(sql.type(Provider)`
    select ${columns} from providers.providers
    where project_id = ${projectId} and lower(from_email) = lower(${fromEmail})
  `);

export const getByFromEmail = ({ tx, projectId }: Scope, fromEmail: string) =>
  tx.one(sql.type(Provider)`
    select ${columns} from providers.providers
    where project_id = ${projectId} and lower(from_email) = lower(${fromEmail})
  `);

/** One page of a project's records, the newest first. */
export const listProviders = (
  { tx, projectId }: Scope,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) =>
  tx.any(sql.type(Provider)`
    select ${columns} from providers.providers
    where project_id = ${projectId} and (${beforeId}::uuid is null or provider_id < ${beforeId}::uuid)
    order by provider_id desc
    limit ${limit}
  `);

export const deleteProvider = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Inserted)`
    delete from providers.providers where project_id = ${projectId} and provider_id = ${providerId}
    returning provider_id
  `);

/** Why a provider is parked: the class of the failure, and what it answered. */
export type Parked = { reason: string; answer: AccountAnswer | null };

/** Parks a record whose settings are still these. Returns null where they are not: nothing is parked. */
export const parkProvider = (
  { tx, projectId }: Scope,
  { provider_id, revision }: Pick<ProviderRow, 'provider_id' | 'revision'>,
  { reason, answer }: Parked,
) =>
  tx.maybeOne(sql.type(Inserted)`
    update providers.providers
    set status = 'parked', parked_reason = ${reason}, parked_answer = ${toColumn(answer)}, updated_at = now()
    where project_id = ${projectId} and provider_id = ${provider_id} and revision = ${revision} and status = 'active'
    returning provider_id
  `);

/** What a test came to; without a failure it was taken. */
export type TestNote = {
  testId: string;
  failure: string | null;
  messageId: string | null;
  tookMs: number;
};

/** Notes that a test of these very settings is about to be sent: what becomes of it is unknown until it is noted. */
export const noteTestBegun = (
  { tx, projectId }: Scope,
  { provider_id, revision }: Pick<ProviderRow, 'provider_id' | 'revision'>,
  testId: string,
) =>
  tx.maybeOne(sql.type(Inserted)`
    update providers.providers
    set tested_at = now(), test_id = ${testId}, test_failure = 'outcome_unknown', test_message_id = null,
      test_took_ms = 0
    where project_id = ${projectId} and provider_id = ${provider_id} and revision = ${revision}
    returning provider_id
  `);

/**
 * Records the result of a test of these very settings; returns null where the record has others. A test that passed
 * unparks, as a new revision: a worker that still has an answer from before must not park the provider again.
 */
export const noteTest = (
  { tx, projectId }: Scope,
  { provider_id, revision }: Pick<ProviderRow, 'provider_id' | 'revision'>,
  { testId, failure, messageId, tookMs }: TestNote,
) =>
  tx.maybeOne(sql.type(Inserted)`
    update providers.providers
    set tested_at = now(), test_id = ${testId}, test_failure = ${failure}, test_message_id = ${messageId},
      test_took_ms = ${tookMs},
      status = case when ${failure}::text is null then 'active' else status end,
      parked_reason = case when ${failure}::text is null then null else parked_reason end,
      parked_answer = case when ${failure}::text is null then null else parked_answer end,
      revision = revision + case when ${failure}::text is null and status = 'parked' then 1 else 0 end
    where project_id = ${projectId} and provider_id = ${provider_id} and revision = ${revision}
    returning provider_id
  `);
