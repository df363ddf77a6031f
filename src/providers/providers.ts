import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { nameServersOf } from '../base/resolve_host.ts';
import { Refusal } from '../base/refusal.ts';
import { openCredential, sealCredential } from './credentials.ts';
import { Links, LINKS_PER_PROVIDER_MAX } from './links.ts';
import { hints } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import {
  findProvider,
  getByFromEmail,
  insertProvider,
  parkProvider,
  updateProvider,
} from './queries.ts';
import type { NewProviderRow, ProviderRow } from './queries.ts';
import { secretOf, SECRET_FIELDS } from './settings.ts';
import type { ProviderKind, Settings } from './settings.ts';
import type { Link, Network, WireMessage } from './transport.ts';
import { preflight } from './transports.ts';

export { LINKS_PER_PROVIDER_MAX };
export { SMTP_SEND_TIMEOUT_MS } from './smtp.ts';
export type { Link, SendOutcome, WireMessage };

/** A provider record as a customer gives it. */
export type NewProvider = Settings & Sender & { display_name: string };

const networkOf = (deps: Pick<Deps, 'config' | 'resources'>): Network => ({
  allowNetworks: deps.config.egressAllowNetworks,
  nameServers: nameServersOf(deps),
  relayApiUrl: deps.config.relayApiUrl,
  cloudApiUrl: deps.config.cloudApiUrl,
});

const placeOf = (recordId: string, kind: ProviderKind) => ({
  recordId,
  field: SECRET_FIELDS[kind],
});

/** Refuses settings that do not work, with the class of the failure and what to do about it. */
const prove = async (deps: Deps, provider: NewProvider): Promise<void> => {
  const outcome = await preflight(provider, networkOf(deps), provider.from_email);
  if (outcome.kind === 'passed') return;
  const members = { reason: outcome.reason, hint: hints[outcome.reason] };
  throw new Refusal('provider_preflight_failed', { members });
};

/** What is kept of the settings besides the secret: each kind has columns of its own. */
const columnsOf = (settings: Settings) => ({
  smtp_host: 'smtp_host' in settings ? settings.smtp_host : null,
  smtp_port: 'smtp_port' in settings ? settings.smtp_port : null,
  smtp_secure: 'smtp_secure' in settings ? settings.smtp_secure : null,
  username: 'username' in settings ? settings.username : null,
  region: 'region' in settings ? settings.region : null,
  access_key_id: 'access_key_id' in settings ? settings.access_key_id : null,
});

const toNewRow = async (
  scope: Scope,
  providerId: string,
  provider: NewProvider,
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
  };
};

/** Proves that the settings work, then keeps them: a new record, or new settings for the same from-address. */
export const saveProvider = async (
  deps: Deps,
  projectId: string,
  provider: NewProvider,
): Promise<string> => {
  await prove(deps, provider);
  return inProject(deps, projectId, async (scope) => {
    const inserted = await insertProvider(scope, await toNewRow(scope, newId(), provider));
    if (inserted) return inserted.provider_id;
    const { provider_id } = await getByFromEmail(scope, provider.from_email);
    await updateProvider(scope, await toNewRow(scope, provider_id, provider));
    return provider_id;
  });
};

/** Who a message comes from. */
export type Sender = Pick<ProviderRow, 'from_email' | 'from_name' | 'reply_to'>;

/** A provider ready to be used: its sender, and its settings with the secret in clear, in memory only. */
export type Ready = { providerId: string; sender: Sender; linkKey: string; settings: Settings };

/** The table's constraint holds the members of each kind together. */
const held = <T>(value: T | null): T => {
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
        username: held(row.username),
        password: secret,
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

/** The provider ready to be used, or null when it is gone or parked. */
export const findReady = async (scope: Scope, providerId: string): Promise<Ready | null> => {
  const row = await findProvider(scope, providerId);
  if (!row || row.status !== 'active') return null;
  const sealed = { keyVersion: row.key_version, sealed: row.secret };
  const secret = await openCredential(scope, placeOf(providerId, row.provider), sealed);
  return {
    providerId,
    sender: { from_email: row.from_email, from_name: row.from_name, reply_to: row.reply_to },
    linkKey: `${providerId}/${row.updated_at.getTime()}`,
    settings: toSettings(row, secret),
  };
};

const makeLinks = (deps: Pick<Deps, 'config' | 'resources'>) => new Links(networkOf(deps));

/**
 * Lends an open, authenticated connection to one hand-off. When none can be had, `work` does not
 * run and the answer is the outcome: nothing was given to the provider.
 */
export const withLink = async <T>(
  deps: Deps,
  { linkKey, settings }: Ready,
  work: (link: Link) => Promise<T>,
): Promise<T | SendOutcome> => {
  const links = deps.resources.of(makeLinks, deps);
  const answer = await links.take(linkKey, settings);
  if (answer.kind === 'failed') return answer.outcome;
  try {
    return await work(answer.link);
  } finally {
    links.give(linkKey, answer.link);
  }
};

/** Failures that a person has to mend: going on would only lock the account. */
export const HOPELESS_REASONS: readonly string[] = ['authentication_failed', 'certificate_invalid'];

/** Stops using a provider until its record is saved again. */
export const park = async (scope: Scope, providerId: string, reason: string): Promise<void> => {
  await parkProvider(scope, providerId, reason);
};
