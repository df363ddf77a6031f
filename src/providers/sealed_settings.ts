import type { Scope } from '../base/db.ts';
import type { BounceMailboxInput } from './bounce_mailbox/bounce_mailbox.ts';
import { openCredential, sealCredential } from './credentials.ts';
import type { Plan } from './pace.ts';
import type { NewProviderRow, ProviderRow } from './queries.ts';
import { secretOf, SECRET_FIELDS } from './settings.ts';
import type { ProviderKind, Settings } from './settings.ts';

/** Who a message comes from. */
export type Sender = Pick<ProviderRow, 'from_email' | 'from_name' | 'reply_to'>;

/** A provider record as a customer gives it. */
export type NewProvider = Settings &
  Sender & { display_name: string } & Partial<Plan> & {
    bounce_mailbox?: BounceMailboxInput | null | undefined;
  };

const placeOf = (recordId: string, kind: ProviderKind) => ({
  recordId,
  field: SECRET_FIELDS[kind],
});

/** What is kept of the settings besides the secret: each kind has columns of its own. */
const columnsOf = (settings: Settings) => ({
  smtp_host: 'smtp_host' in settings ? settings.smtp_host : null,
  smtp_port: 'smtp_port' in settings ? settings.smtp_port : null,
  smtp_secure: 'smtp_secure' in settings ? settings.smtp_secure : null,
  username: 'username' in settings ? settings.username : null,
  region: 'region' in settings ? settings.region : null,
  access_key_id: 'access_key_id' in settings ? settings.access_key_id : null,
});

/** The row of a record, its secret sealed. */
export const toNewRow = async (
  scope: Scope,
  providerId: string,
  provider: NewProvider,
  isOutside: boolean | null,
): Promise<NewProviderRow> => {
  const place = placeOf(providerId, provider.provider);
  const { keyVersion, sealed } = await sealCredential(scope, place, secretOf(provider));
  return {
    provider_id: providerId,
    provider: provider.provider,
    display_name: provider.display_name,
    from_email: provider.from_email,
    from_name: provider.from_name,
    reply_to: provider.reply_to,
    ...columnsOf(provider),
    key_version: keyVersion,
    secret: sealed,
    is_outside: isOutside,
  };
};

/** The table's constraint holds the members of each kind together. */
export const held = <T>(value: T | null): T => {
  if (value === null) throw new Error('a provider record is incomplete');
  return value;
};

const toSettings = (row: ProviderRow, secret: string): Settings => {
  switch (row.provider) {
    case 'smtp':
      return {
        provider: 'smtp',
        smtp_host: held(row.smtp_host),
        smtp_port: held(row.smtp_port),
        smtp_secure: held(row.smtp_secure),
        username: row.username,
        password: row.username === null ? null : secret,
      };
    case 'relay_api':
      return { provider: 'relay_api', api_key: secret };
    case 'cloud_api':
      return {
        provider: 'cloud_api',
        region: held(row.region),
        access_key_id: held(row.access_key_id),
        secret_access_key: secret,
      };
  }
};

/** A record's settings, the secret in clear: in memory only. */
export const openSettings = async (scope: Scope, row: ProviderRow): Promise<Settings> => {
  const sealed = { keyVersion: row.key_version, sealed: row.secret };
  return toSettings(
    row,
    await openCredential(scope, placeOf(row.provider_id, row.provider), sealed),
  );
};
