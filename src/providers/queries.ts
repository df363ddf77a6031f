import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { PROVIDER_KINDS, SMTP_SECURE } from './settings.ts';

const DataKey = z.strictObject({ key_version: z.int(), wrapped_key: z.instanceof(Buffer) });

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
  status: z.enum(['active', 'parked']),
  updated_at: z.date(),
});
export type ProviderRow = z.output<typeof Provider>;
export type NewProviderRow = Omit<ProviderRow, 'status' | 'updated_at'>;

/** The newest data key of the project, or the one of a version. */
export const findDataKey = ({ tx, projectId }: Scope, version: number | null) =>
  tx.maybeOne(sql.type(DataKey)`
    select key_version, wrapped_key from providers.data_keys
    where project_id = ${projectId} and (${version}::integer is null or key_version = ${version})
    order by key_version desc
    limit 1
  `);

export const insertDataKey = ({ tx, projectId }: Scope, version: number, wrappedKey: Buffer) =>
  tx.query(sql.unsafe`
    insert into providers.data_keys (project_id, key_version, master_version, wrapped_key, created_at)
    values (${projectId}, ${version}, 1, ${sql.binary(wrappedKey)}, now())
    on conflict do nothing
  `);

const Inserted = z.strictObject({ provider_id: z.uuid() });

/** Keeps a new record, unless there is one for its from-address: then answers null. */
export const insertProvider = ({ tx, projectId }: Scope, row: NewProviderRow) =>
  tx.maybeOne(sql.type(Inserted)`
    insert into providers.providers (project_id, provider_id, provider, display_name, from_email, from_name, reply_to,
      smtp_host, smtp_port, smtp_secure, username, region, access_key_id, key_version, secret, created_at, updated_at)
    values (${projectId}, ${row.provider_id}, ${row.provider}, ${row.display_name}, ${row.from_email}, ${row.from_name},
      ${row.reply_to}, ${row.smtp_host}, ${row.smtp_port}, ${row.smtp_secure}, ${row.username}, ${row.region},
      ${row.access_key_id}, ${row.key_version}, ${sql.binary(row.secret)}, now(), now())
    on conflict (project_id, lower(from_email)) do nothing
    returning provider_id
  `);

export const updateProvider = ({ tx, projectId }: Scope, row: NewProviderRow) =>
  tx.query(sql.unsafe`
    update providers.providers
    set provider = ${row.provider}, display_name = ${row.display_name}, from_name = ${row.from_name},
      reply_to = ${row.reply_to}, status = 'active', parked_reason = null, smtp_host = ${row.smtp_host},
      smtp_port = ${row.smtp_port}, smtp_secure = ${row.smtp_secure}, username = ${row.username},
      region = ${row.region}, access_key_id = ${row.access_key_id}, key_version = ${row.key_version},
      secret = ${sql.binary(row.secret)}, updated_at = now()
    where project_id = ${projectId} and provider_id = ${row.provider_id}
  `);

const columns = sql.fragment`provider_id, provider, display_name, from_email, from_name, reply_to, smtp_host,
  smtp_port, smtp_secure, username, region, access_key_id, key_version, secret, status, updated_at`;

export const findProvider = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Provider)`
    select ${columns} from providers.providers where project_id = ${projectId} and provider_id = ${providerId}
  `);

export const getByFromEmail = ({ tx, projectId }: Scope, fromEmail: string) =>
  tx.one(sql.type(Provider)`
    select ${columns} from providers.providers
    where project_id = ${projectId} and lower(from_email) = lower(${fromEmail})
  `);

export const parkProvider = ({ tx, projectId }: Scope, providerId: string, reason: string) =>
  tx.query(sql.unsafe`
    update providers.providers set status = 'parked', parked_reason = ${reason}, updated_at = now()
    where project_id = ${projectId} and provider_id = ${providerId} and status = 'active'
  `);
