import type { TestDatabase } from './database.ts';

/** Inserts a provider of a project without credentials that open anything; the same again changes nothing. */
export const insertBareProvider = async (
  database: TestDatabase,
  projectId: string,
  providerId: string,
): Promise<void> => {
  await database.owner.query(
    `insert into providers.data_keys (project_id, key_version, master_version, wrapped_key, created_at)
    values ($1, 1, 1, '', now()) on conflict do nothing`,
    [projectId],
  );
  await database.owner.query(
    `insert into providers.providers (project_id, provider_id, provider, display_name, from_email, key_version,
      secret, created_at, updated_at)
    values ($1, $2::uuid, 'relay_api', 'x', $2::uuid || '@x.test', 1, '', now(), now()) on conflict do nothing`,
    [projectId, providerId],
  );
};
